"""The argument `network` of `entrain.train`: hidden oscillators, a `NetworkSpec`, or a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import fields
from json import loads
from pathlib import Path
from typing import Any

from entrain.physics import NetworkSpec
from entrain.utils.errors import InputError, positive_int, reason, short_repr, unknown_name
from entrain.utils.files import read_bytes

Network = int | str | Sequence[int] | NetworkSpec | Path
_EXPECTED = (
    "hidden oscillators such as 48 or 32,16,16, a NetworkSpec, or the file of one (.json) or of a "
    "calibrated model"
)


def network_of(value: Any) -> tuple[int, ...] | NetworkSpec | Path | None:
    """Widths of hidden layers, a specification, or the file of a calibrated model.

    Args:
        value: The argument; a text holds widths, "32,16", or names a file.
    """
    if value is None or isinstance(value, NetworkSpec):
        return value
    if isinstance(value, os.PathLike):
        return _file(value)
    if isinstance(value, str):
        try:
            value = [int(part) for part in value.split(",")]
        except ValueError:
            return _file(value)
    widths = tuple(value) if isinstance(value, Iterable) else (value,)
    if not widths:
        raise InputError(f"network must be {_EXPECTED}, got {short_repr(value)}")
    return tuple(positive_int("network", width) for width in widths)


def _file(name: str | os.PathLike[str]) -> NetworkSpec | Path:
    path = Path(name).expanduser()
    if not path.is_file():
        raise InputError(f"network must be {_EXPECTED}; there is no file {os.fspath(name)!r}")
    return read_spec(path) if path.suffix.lower() == ".json" else path


def read_spec(path: Path) -> NetworkSpec:
    """The network of a JSON file with the fields of `NetworkSpec`."""
    known = [field.name for field in fields(NetworkSpec)]
    content = read_bytes(path, "file", 2**20)
    try:
        values = loads(content)
        if not isinstance(values, dict):
            raise InputError(f"expected a JSON object, got {type(values).__name__}")
        for name in values:
            if name not in known:
                raise unknown_name("field of a network", name, known)
        missing = [name for name in ("hidden", "dynamics") if name not in values]
        if missing or not isinstance(values["dynamics"], dict):
            raise InputError(
                'a network has hidden and dynamics, such as {"hidden": 64, "dynamics": '
                '{"mobility": 1, "observation_time": 15, "steps": 60}}'
            )
        return NetworkSpec.from_json(values)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"{path}: not a network ({reason(error)})") from error
