"""Tensors and a JSON header in one safetensors file. No pickle; read defensively."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from entrain.errors import InputError
from entrain.files import strict_json, write_atomically

FORMAT_VERSION = 1
_KEY = "entrain"


def write_tensors(
    path: Path, kind: str, tensors: dict[str, Tensor], header: dict[str, Any]
) -> None:
    """Write atomically: `tensors`, and `header` (JSON values) with its kind and format version."""
    text = strict_json({"kind": kind, "version": FORMAT_VERSION, **header})
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(plain, metadata={_KEY: text}))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file of `kind`, or an `InputError` that says what it is."""
    if not path.is_file():
        raise InputError(f"{path}: no such {kind} file")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            header = _header(path, kind, metadata)
            # Clones: the file's own memory is not aligned, and sums may depend on alignment.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(
            f"{path}: not a readable {kind} file ({error}); expected an Entrain safetensors file. "
            "It may be truncated: copy or train it again"
        ) from error
    return tensors, header


def _header(path: Path, kind: str, metadata: dict[str, str]) -> dict[str, Any]:
    try:
        header = json.loads(metadata[_KEY])
        found, version = header["kind"], header["version"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: a safetensors file without Entrain's header; expected an Entrain {kind}"
        ) from error
    if found != kind:
        raise InputError(f"{path}: holds a {found!s}, expected a {kind}")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{path}: format version {version!r}; this release of Entrain reads version "
            f"{FORMAT_VERSION}. Upgrade entrain to read newer files"
        )
    assert isinstance(header, dict)
    return header
