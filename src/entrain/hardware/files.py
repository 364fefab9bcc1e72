"""Chips as TOML files: every number with its unit and its source.

    title = "what it is"
    [chip]
    oscillators = { value = 48, unit = "oscillators", source = "Lo et al. 2023" }
    [coupling_levels]
    bits = { value = 4, unit = "bit", source = "assumed" }
    [mismatch]
    couplings = { value = 10, unit = "%", source = "assumed" }

A section is an effect of `Hardware`, or `chip`, whose other entries are facts that are shown, texts
or tables of value, unit and source, or `components`, the tolerances of the parts that a netlist is
built of. A plain number stands for one in the basic unit without a source; a share above 1 needs
its unit, since 3 might be meant as 3 %.
"""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from entrain.hardware.components import Components, component_entries
from entrain.hardware.hardware import KINDS, Hardware, entries_of
from entrain.utils.errors import InputError, short_repr, unknown_name

_FOLDER = Path(__file__).parent / "presets"
_LARGEST = 2**20  # bytes of a file
_ABSURD = 1e300  # an effect refuses such a share itself

_SHARE = {"1": 1.0, "%": 0.01}
_NUMBER = {"1": 1}
_BIT = {"bit": 1}
_UNITS: dict[str, dict[str, Any]] = {  # of an entry, or of an effect's entry: unit -> factor
    "bits": _BIT,
    "levels": {"range": 1},
    "range": _NUMBER,
    "degree": _NUMBER,
    "seed": _NUMBER,
    "kept": _SHARE,
    "couplers": _SHARE,
    "oscillators": _SHARE,
    "couplings": _SHARE,
    "input_weights": _SHARE,
    "biases": _SHARE,
    "fields": _SHARE,
    "sd": _SHARE,
    "frequency_spread.sd": {"rad per unit of time": 1.0},
    "lag": {"rad": 1.0, "deg": math.pi / 180},
    "second": _SHARE,
    "second_even": _SHARE,
    "delay.time": {"unit of time": 1.0},
    "temperature": {"kT": 1.0},
    "noise": _SHARE,
    "offset": _SHARE,
    "jitter": _SHARE,
    "spread": _SHARE,
    "inputs": {"inputs": 1},
    "chip.oscillators": {"oscillators": 1},
    **{f"components.{name}": _SHARE for name in component_entries()},
}


@dataclass(frozen=True)
class ChipFile:
    """A kind of chip with what its file says of it.

    `sources` and `units` (those of the numbers in `hardware`) belong to entries such as
    "mismatch.couplings"; `facts` are entries of the section `chip` that do not change the network,
    as text. `components` are those of a netlist, where the file has them.
    """

    name: str
    title: str
    hardware: Hardware
    sources: dict[str, str]
    units: dict[str, str]
    facts: dict[str, str]
    components: Components | None = None


def presets() -> tuple[str, ...]:
    """The names of the kinds that come with the package."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def preset(name: str) -> Hardware:
    """A kind of chip that comes with the package."""
    return find(name)


def read(path: Path | str) -> Hardware:
    """The kind of chip that a TOML file describes."""
    return _read(Path(path)).hardware


def describe(name: str) -> ChipFile:
    """A preset or a file, with sources and facts."""
    if name in presets():
        return _read(_FOLDER / f"{name}.toml")
    # By os.path: an unknown ~user or a name that is too long is no file, not a failure.
    path = os.path.expanduser(name)
    if path.endswith(".toml") or os.path.exists(path):
        return _read(Path(path))
    error = unknown_name("hardware", name, presets())
    raise InputError(f"{error}; or give a TOML file")


def find(hardware: Hardware | str | Path) -> Hardware:
    """`hardware` itself, or the one of this name or file."""
    if isinstance(hardware, Hardware):
        return hardware
    if not isinstance(hardware, str | Path):
        raise TypeError(f"hardware must be a Hardware, a name or a file, got {hardware!r}")
    return describe(str(hardware)).hardware


def _read(path: Path) -> ChipFile:
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such hardware file")
    if path.stat().st_size > _LARGEST:
        raise InputError(f"{path}: larger than 1 MiB, which no description of a chip is")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not a TOML file ({error})") from error
    try:
        return _parsed(path.stem, content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _parsed(name: str, content: dict[str, Any]) -> ChipFile:
    title = content.pop("title", name)
    chip = content.pop("chip", {})
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    units: dict[str, str] = {}
    facts: dict[str, str] = {}
    for effect, entries in content.items():
        if effect not in (*KINDS, "components"):
            raise unknown_name("effect", effect, [*KINDS, "chip", "components", "title"])
        if not isinstance(entries, dict):
            raise InputError(f"{effect} must be a section [{effect}], got {entries!r}")
        values[effect] = {}
        for key, entry in entries.items():
            known = component_entries() if effect == "components" else entries_of(effect)
            if key not in known:
                raise unknown_name(f"entry of {effect}", key, known)
            place = f"{effect}.{key}"
            values[effect][key], units[place], sources[place] = _number(place, entry)
    if not isinstance(chip, dict):
        raise InputError(f"chip must be a section [chip], got {chip!r}")
    for key, entry in chip.items():
        if key == "oscillators":
            values[key], units[f"chip.{key}"], sources[f"chip.{key}"] = _number(
                f"chip.{key}", entry
            )
        else:
            facts[key] = _fact(key, entry)
    components = _components(values.pop("components", None))
    hardware = replace(Hardware.from_json(values), name=name)
    return ChipFile(name, str(title), hardware, sources, units, facts, components)


def _components(values: dict[str, Any] | None) -> Components | None:
    try:
        return None if values is None else Components(**values)
    except InputError as error:
        raise InputError(f"components: {error}") from error


def is_share(place: str) -> bool:
    """Whether an entry such as "mismatch.couplings" is a share: a file may give it in percent."""
    return _units_of(place) is _SHARE


def _units_of(place: str) -> dict[str, Any] | None:
    return _UNITS.get(place, _UNITS.get(place.split(".")[1]))


def _number(place: str, entry: object) -> tuple[object, str, str]:
    """The value of an entry in its basic unit, that unit, and the source."""
    known = _units_of(place)
    if not isinstance(entry, dict):
        _refuse_doubtful_share(place, entry)
        return entry, next(iter(known), "") if known else "", ""
    strange = set(entry) - {"value", "unit", "source"}
    if strange or "value" not in entry:
        raise InputError(
            f"{place} must hold value, unit and source, got {', '.join(sorted(map(str, entry)))}"
        )
    value, unit, source = entry["value"], entry.get("unit"), str(entry.get("source", ""))
    if known is None:
        if unit is not None:
            raise InputError(f"{place} has no unit, got {unit!r}")
        return value, "", source
    if unit is None:
        _refuse_doubtful_share(place, value)
        return value, next(iter(known)), source
    if not isinstance(unit, str) or unit not in known:
        raise InputError(f"{place} must be in {' or '.join(map(repr, known))}, got {unit!r}")
    factor = known[unit]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (value * factor if number and factor != 1 else value), next(iter(known)), source


def _refuse_doubtful_share(place: str, value: object) -> None:
    """Of a share without a unit, a number above 1 may be meant in percent."""
    if not is_share(place) or isinstance(value, bool) or not isinstance(value, int | float):
        return
    if 1.0 < abs(value) < _ABSURD:
        said, taken = f"{value:g}", f"{100 * value:g}"
        raise InputError(
            f"{place} is a share, so that {said} would be {taken} %; write "
            f'{{ value = {said}, unit = "%" }} for {said} %, or '
            f'{{ value = {taken}, unit = "%" }} for {taken} %'
        )


def _fact(key: str, entry: object) -> str:
    """A fact of the section `chip` as text; what belongs elsewhere in the file is none."""
    if difflib.get_close_matches(key, ["oscillators"], cutoff=0.8):
        raise unknown_name("entry of chip", key, ["oscillators"])  # no fact, but a slip
    if homes := _homes(key):
        raise InputError(f"{key!r} in [chip] would change nothing; it belongs to {homes}")
    if isinstance(entry, str):
        return entry
    if (
        not isinstance(entry, dict)
        or not {"value"} <= set(entry) <= {"value", "unit", "source"}
        or not isinstance(entry["value"], str | int | float)
        or not all(isinstance(entry.get(name, ""), str) for name in ("unit", "source"))
    ):
        raise InputError(
            f"{key!r} in [chip] is no number that chips know; to show it as a fact, write a text "
            f'or {{ value = ..., unit = "...", source = "..." }}, got {short_repr(entry)}'
        )
    text = " ".join(str(entry[name]) for name in ("value", "unit") if name in entry)
    return f"{text} ({entry['source']})" if "source" in entry else text


def _homes(key: str) -> str:
    """Where in a file an entry of this name belongs, in words; none for a name of no entry."""
    if key == "name":
        return "title, above all sections"
    if key in (*KINDS, "components"):
        return f"a section [{key}] of its own"
    effects = [effect for effect in KINDS if key in entries_of(effect)]
    effects += ["components"] if key in component_entries() else []
    return " or ".join(f"[{effect}]" for effect in effects)
