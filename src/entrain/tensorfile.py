"""Tensors and a JSON header in one safetensors file. No pickle; read defensively."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from entrain.errors import InputError
from entrain.files import strict_json, write_atomically

FORMAT_VERSION = 1
_KEY = "entrain"


def pack_tensors(kind: str, tensors: dict[str, Tensor], header: dict[str, Any]) -> bytes:
    """A file's content: `tensors`, and `header` (JSON values) with its kind and format version."""
    text = strict_json({"kind": kind, "version": FORMAT_VERSION, **header})
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(plain, metadata={_KEY: text})


def unpack_tensors(
    content: bytes, kind: str, origin: str
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of `pack_tensors`' content; `origin` names it in errors."""
    try:
        tensors = load(content)
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    except (SafetensorError, ValueError, AttributeError) as error:
        raise _unreadable(origin, kind, error) from error
    return tensors, _header(origin, kind, metadata)


def write_tensors(
    path: Path, kind: str, tensors: dict[str, Tensor], header: dict[str, Any]
) -> None:
    """Write `pack_tensors`' content atomically."""
    write_atomically(path, pack_tensors(kind, tensors, header))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file of `kind`, or an `InputError` that says what it is."""
    if not path.is_file():
        raise InputError(f"{path}: no such {kind} file")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            header = _header(str(path), kind, metadata)
            # Clones: the file's own memory is not aligned, and sums may depend on alignment.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise _unreadable(str(path), kind, error) from error
    return tensors, header


def _unreadable(origin: str, kind: str, error: Exception) -> InputError:
    return InputError(
        f"{origin}: not a readable {kind} file ({error}); expected an Entrain safetensors file. "
        "It may be truncated: copy or train it again"
    )


def _header(origin: str, kind: str, metadata: dict[str, str]) -> dict[str, Any]:
    try:
        header = json.loads(metadata[_KEY])
        found, version = header["kind"], header["version"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{origin}: a safetensors file without Entrain's header; expected an Entrain {kind}"
        ) from error
    if found != kind:
        raise InputError(f"{origin}: holds a {found!s}, expected a {kind}")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{origin}: format version {version!r}; this release of Entrain reads version "
            f"{FORMAT_VERSION}. Upgrade entrain to read newer files"
        )
    assert isinstance(header, dict)
    return header
