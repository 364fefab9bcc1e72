"""TOML files of presets: sections of entries, each with a value, a unit and a source.

title = "..."
[section]
entry = { value = 10, unit = "%", source = "who measured it" }
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from entrain.utils.errors import InputError, short_repr, unknown_name
from entrain.utils.files import read_bytes

Parsed = TypeVar("Parsed")
_LARGEST = 2**20  # bytes

Units = dict[str, float]  # unit -> factor to the basic unit, which is the first


def preset_names(folder: Path) -> tuple[str, ...]:
    """The names of the TOML files in `folder`."""
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def find_preset(name: str, folder: Path, what: str) -> Path:
    """The file of a preset in `folder`, or the file at the path `name`."""
    if name in preset_names(folder):
        return folder / f"{name}.toml"
    # By os.path: an unknown ~user or a name that is too long does not exist, and does not raise.
    path = os.path.expanduser(name)
    if path.endswith(".toml") or os.path.exists(path):
        return Path(path)
    raise InputError(f"{unknown_name(what, name, preset_names(folder))}; or give a TOML file")


def read_toml(path: Path, what: str, parse: Callable[[dict[str, Any]], Parsed]) -> Parsed:
    """`parse` of the content of a file; an `InputError` names the file."""
    text = read_bytes(path, f"{what} file", _LARGEST)
    try:
        content = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a TOML file ({error})") from error
    try:
        return parse(content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def toml_entries(
    content: dict[str, Any], known: Mapping[str, Collection[str]], what: str, *others: str
) -> Iterator[tuple[str, str, object]]:
    """Section, key and value of every entry; names that are not in `known` are refused.

    `what` a section is and the names of `others` appear in errors.
    """
    for section, entries in content.items():
        if section not in known:
            raise unknown_name(what, section, [*known, *others])
        if not isinstance(entries, dict):
            raise InputError(f"{section} must be a section [{section}], got {short_repr(entries)}")
        for key, entry in entries.items():
            if key not in known[section]:
                raise unknown_name(f"entry of {section}", key, known[section])
            yield section, key, entry


def unit_factor(place: str, unit: object, units: Units) -> float:
    """The factor from `unit` to the basic unit of the entry `place`."""
    if not isinstance(unit, str) or unit not in units:
        raise InputError(
            f"{place} must be in {' or '.join(map(repr, units))}, got {short_repr(unit)}"
        )
    return units[unit]
