"""Tensors and a JSON header in one safetensors file. No pickle; read defensively.

The header is a JSON object in the metadata entry "entrain". Its last entry is a digest, by which
damaged files are detected and refused:

    SHA-256 of the header's text without that entry, then, for each tensor in the order of the
    names, a line of its name, type and shape as JSON and its bytes.

The digest does not protect against forgery.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from entrain.utils.errors import InputError, short_repr
from entrain.utils.files import MOST_BYTES, open_regular, strict_json, write_atomically
from entrain.utils.hashing import sha256, tensor_bytes

FORMAT_VERSION = 2
_MOST_BYTES = {"model": 2**29, "traces": 2**30}  # of a file, by kind
_KEY = "entrain"
_DIGEST = ', "digest": "{}"}}'  # the end of a header
_DIGEST_LENGTH = len(_DIGEST.format("0" * 64))


def pack_tensors(kind: str, tensors: dict[str, Tensor], header: dict[str, Any]) -> bytes:
    """The content of a file: `tensors`, and `header` (JSON values) with kind and format version."""
    text = strict_json({"kind": kind, "version": FORMAT_VERSION, **header})
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(plain, metadata={_KEY: header_with_digest(text, plain)})


def header_with_digest(text: str, tensors: dict[str, Tensor]) -> str:
    """The text of a header, a JSON object, with the digest of itself and of `tensors` at its end.

    The digest is inside the only entry of the metadata: several entries have no fixed order in the
    file, and the same content must give the same bytes.
    """
    parts: list[str | memoryview] = [text]
    for name, tensor in sorted(tensors.items()):
        dtype = str(tensor.dtype).removeprefix("torch.")
        parts += [f"\n{json.dumps([name, dtype, list(tensor.shape)])}\n", tensor_bytes(tensor)]
    return text[:-1] + _DIGEST.format(sha256(*parts))


def unpack_tensors(
    content: bytes, kind: str, origin: str
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header that `pack_tensors` stored; `origin` names them in errors."""
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
    """Write tensors and header atomically."""
    write_atomically(path, pack_tensors(kind, tensors, header))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file; an `InputError` if it is not of `kind`."""
    open_regular(path, f"{kind} file", _MOST_BYTES.get(kind, MOST_BYTES)).close()
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            header = _header(str(path), kind, metadata)
            # Clones: the memory of the file is not aligned, and sums may depend on alignment.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise _unreadable(str(path), kind, error) from error
    _check_digest(str(path), metadata[_KEY], header, tensors)
    return tensors, header


def _check_digest(
    origin: str, text: str, header: dict[str, Any], tensors: dict[str, Tensor]
) -> None:
    """Refuse content that changed after it was written; remove the digest from the header."""
    header.pop("digest", None)
    if header_with_digest(text[:-_DIGEST_LENGTH] + "}", tensors) != text:
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
        actual, version = header["kind"], header["version"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{origin}: a safetensors file without Entrain's header; expected an Entrain {kind}"
        ) from error
    if actual != kind:
        name = actual if actual in ("model", "checkpoint", "gallery") else short_repr(actual)
        raise InputError(f"{origin}: holds a {name}, expected a {kind}")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{origin}: format version {short_repr(version)}; this release of Entrain reads "
            f"version {FORMAT_VERSION}. Upgrade entrain to read newer files"
        )
    assert isinstance(header, dict)
    try:
        fault = _fault_of_numbers(header)
    except RecursionError as error:
        raise InputError(f"{origin}: its header is nested too deeply for a {kind}") from error
    if fault is not None:
        raise InputError(f"{origin}: {fault}")
    return header


def _fault_of_numbers(value: object, place: str = "") -> str | None:
    """A message on the first integer beyond 64 bits or number that is not finite, at a.b[i]."""
    if isinstance(value, dict):
        entries = ((f"{place}.{key}" if place else str(key), v) for key, v in value.items())
    elif isinstance(value, list):
        entries = ((f"{place}[{i}]", v) for i, v in enumerate(value))
    elif isinstance(value, float) and not math.isfinite(value):
        return f"{place} is {value}; expected a finite number"
    elif isinstance(value, int) and abs(value) >= 2**63:
        return f"{place} has more digits than any number that is expected there"
    else:
        return None
    return next((fault for name, v in entries if (fault := _fault_of_numbers(v, name))), None)
