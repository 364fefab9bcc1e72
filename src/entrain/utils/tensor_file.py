"""Tensors and a JSON header in one safetensors file. No pickle; read defensively.

The header is a JSON object in the metadata entry "entrain". Since format version 2 its last entry
is a digest, so that a damaged file is refused and never read as another one:

    SHA-256 of the header's text without that entry, then, for each tensor in the order of the
    names, a line of its name, type and shape as JSON and its bytes.

The digest tells damage, not a forger: whoever can write the file can write its digest.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from entrain.utils.errors import InputError, short_repr
from entrain.utils.files import strict_json, write_atomically

FORMAT_VERSION = 2
_WITHOUT_DIGEST = 1
_KEY = "entrain"
_SEAL = ', "digest": "{}"}}'
_SEAL_LENGTH = len(_SEAL.format("0" * 64))


def pack_tensors(kind: str, tensors: dict[str, Tensor], header: dict[str, Any]) -> bytes:
    """A file's content: `tensors`, and `header` (JSON values) with its kind and format version."""
    text = strict_json({"kind": kind, "version": FORMAT_VERSION, **header})
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(plain, metadata={_KEY: header_with_digest(text, plain)})


def header_with_digest(text: str, tensors: dict[str, Tensor]) -> str:
    """The text of a header, a JSON object, with the digest of itself and of `tensors` at its end.

    The digest stands inside the one entry of the metadata: several have no fixed order in the file,
    and the same content must give the same bytes.
    """
    found = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        kind = str(tensor.dtype).removeprefix("torch.")
        found.update(f"\n{json.dumps([name, kind, list(tensor.shape)])}\n".encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return text[:-1] + _SEAL.format(found.hexdigest())


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
    header = _header(origin, kind, metadata)
    _check_digest(origin, metadata[_KEY], header, tensors)
    return tensors, header


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
    _check_digest(str(path), metadata[_KEY], header, tensors)
    return tensors, header


def _check_digest(
    origin: str, text: str, header: dict[str, Any], tensors: dict[str, Tensor]
) -> None:
    """Refuse content that changed after it was written; take the digest out of the header."""
    found = header.pop("digest", None)
    if found is None and header["version"] == _WITHOUT_DIGEST:
        return
    if header_with_digest(text[:-_SEAL_LENGTH] + "}", tensors) != text:
        raise InputError(
            f"{origin}: does not match its digest: the file was damaged after it was written; "
            "copy or train it again"
        )


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
        known = found if found in ("model", "checkpoint", "gallery") else short_repr(found)
        raise InputError(f"{origin}: holds a {known}, expected a {kind}")
    if version not in (_WITHOUT_DIGEST, FORMAT_VERSION):
        raise InputError(
            f"{origin}: format version {short_repr(version)}; this Entrain reads versions "
            f"{_WITHOUT_DIGEST} and {FORMAT_VERSION}. Upgrade entrain to read newer files"
        )
    assert isinstance(header, dict)
    if place := _find_oversized_int(header):
        raise InputError(f"{origin}: {place} has more digits than any number of a {kind} needs")
    return header


def _find_oversized_int(value: object, place: str = "") -> str | None:
    """Where a whole number beyond 64 bits stands, as a.b.c."""
    if isinstance(value, dict):
        entries = ((f"{place}.{key}" if place else str(key), each) for key, each in value.items())
    elif isinstance(value, list):
        entries = ((f"{place}[{i}]", each) for i, each in enumerate(value))
    else:
        return place if isinstance(value, int) and abs(value) >= 2**63 else None
    return next(
        (found for name, each in entries if (found := _find_oversized_int(each, name))), None
    )
