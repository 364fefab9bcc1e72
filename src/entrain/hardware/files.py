"""Hardware as TOML files: every entry with its unit and its source.

    title = "what it is"
    [chip]
    oscillators = { value = 48, unit = "oscillators", source = "Lo et al. 2023" }
    [coupling_levels]
    bits = { value = 4, unit = "bit", source = "assumed" }
    [mismatch]
    couplings = { value = 10, unit = "%", source = "assumed" }

A section is an effect of `Hardware`, or `components`, the tolerances of a netlist, or `chip`: the
number of oscillators, and facts, texts or tables of value, unit and source, which are shown only. A
plain value is in the basic unit, without a source. A share above 1 needs its unit: 3 might be meant
as 3 %.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from entrain.hardware.components import Components
from entrain.hardware.hardware import EFFECT_TYPES, Hardware, entry_names
from entrain.utils.errors import InputError, short_repr, unknown_name
from entrain.utils.toml_file import (
    Units,
    find_preset,
    preset_names,
    read_toml,
    toml_entries,
    unit_factor,
)

_FOLDER = Path(__file__).parent / "presets"
_ABSURD = 1e300  # an effect refuses such a share itself

_ENTRIES = {effect: entry_names(effect) for effect in EFFECT_TYPES}
_ENTRIES["components"] = [entry.name for entry in fields(Components)]

_SHARE = {"1": 1.0, "%": 0.01}
_NUMBER = {"1": 1.0}
_SHARES = ["kept", "couplers", "oscillators", "couplings", "input_weights", "biases", "fields"]
_SHARES += ["sd", "second", "second_even", "noise", "offset", "jitter", "spread"]
_SHARES += [f"components.{name}" for name in _ENTRIES["components"]]
_UNITS: dict[str, Units] = {  # by "section.entry", or by the entry alone
    **dict.fromkeys(_SHARES, _SHARE),
    "range": _NUMBER,
    "degree": _NUMBER,
    "seed": _NUMBER,
    "bits": {"bit": 1.0},
    "levels": {"range": 1.0},
    "frequency_spread.sd": {"rad per unit of time": 1.0},
    "lag": {"rad": 1.0, "deg": math.pi / 180},
    "delay.time": {"unit of time": 1.0},
    "temperature": {"kT": 1.0},
    "inputs": {"inputs": 1.0},
    "chip.oscillators": {"oscillators": 1.0},
}


@dataclass(frozen=True)
class HardwareFile:
    """Hardware, with the other content of its file.

    Args:
        name: Name of the file, without its ending.
        title: One line.
        hardware: The effects.
        sources: Source of each entry, by "section.entry".
        units: Unit of each entry in `hardware`, by "section.entry".
        facts: Texts of the section `chip`, by name.
        components: Tolerances of a netlist, if the file has them.
    """

    name: str
    title: str
    hardware: Hardware
    sources: dict[str, str]
    units: dict[str, str]
    facts: dict[str, str]
    components: Components | None = None


def presets() -> tuple[str, ...]:
    """The names of the hardware in the package.

    Examples:
        >>> print(*entrain.hardware.presets())
        ahmed-2021 ark lo-2023 moy-2022 onn-2025 typical wang-2019
    """
    return preset_names(_FOLDER)


def preset(name: str) -> Hardware:
    """Hardware of the package.

    Args:
        name: One of `presets()`.

    Examples:
        >>> entrain.hardware.preset("typical").mismatch
        Mismatch(couplings=0.1, input_weights=0.1, biases=0.0, fields=0.0)
    """
    return find(name)


def read(path: Path | str) -> Hardware:
    """The hardware in a TOML file.

    Args:
        path: The file.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "chip.toml"
        >>> _ = path.write_text("[mismatch]\\ncouplings = 0.1\\n")
        >>> entrain.hardware.read(path).mismatch.couplings
        0.1
    """
    return _read(Path(path)).hardware


def describe(name: str) -> HardwareFile:
    """Hardware with sources, units and facts.

    Args:
        name: A preset, or a TOML file.

    Examples:
        >>> entrain.hardware.describe("lo-2023").title
        '48 ring oscillators, all-to-all, 65 nm (Lo et al. 2023)'
    """
    return _read(find_preset(name, _FOLDER, "hardware"))


def find(hardware: Hardware | str | Path) -> Hardware:
    """`hardware` itself, or the hardware of this name or file."""
    if isinstance(hardware, Hardware):
        return hardware
    if not isinstance(hardware, str | Path):
        raise TypeError(f"hardware must be a Hardware, a name or a file, got {hardware!r}")
    return describe(str(hardware)).hardware


def _read(path: Path) -> HardwareFile:
    return read_toml(path, "hardware", lambda content: _parsed(path.stem, content))


def _parsed(name: str, content: dict[str, Any]) -> HardwareFile:
    title = content.pop("title", name)
    chip = content.pop("chip", {})
    values: dict[str, Any] = {section: {} for section in content}
    sources: dict[str, str] = {}
    units: dict[str, str] = {}
    facts: dict[str, str] = {}
    for section, key, entry in toml_entries(content, _ENTRIES, "effect", "chip", "title"):
        place = f"{section}.{key}"
        values[section][key], units[place], sources[place] = _value(place, entry)
    if not isinstance(chip, dict):
        raise InputError(f"chip must be a section [chip], got {chip!r}")
    for key, entry in chip.items():
        place = f"chip.{key}"
        if key == "oscillators":
            values[key], units[place], sources[place] = _value(place, entry)
        else:
            facts[key] = _fact(key, entry)
    try:
        components = Components(**values.pop("components")) if "components" in values else None
    except InputError as error:
        raise InputError(f"components: {error}") from error
    hardware = replace(Hardware.from_json(values), name=name)
    return HardwareFile(name, str(title), hardware, sources, units, facts, components)


def is_share(place: str) -> bool:
    """True if an entry such as "mismatch.couplings" is a share: a file may give it in percent."""
    return _units_of(place) is _SHARE


def _units_of(place: str) -> Units:
    return _UNITS.get(place, _UNITS.get(place.split(".")[1], {}))


def _value(place: str, entry: object) -> tuple[object, str, str]:
    """The value of an entry in its basic unit, that unit, and the source."""
    units = _units_of(place)
    basic = next(iter(units), "")
    values: dict[str, Any] = entry if isinstance(entry, dict) else {"value": entry}
    if not {"value"} <= set(values) <= {"value", "unit", "source"}:
        raise InputError(
            f"{place} must hold value, unit and source, got {', '.join(sorted(map(str, values)))}"
        )
    value, unit, source = values["value"], values.get("unit"), str(values.get("source", ""))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if unit is None:
        if units is _SHARE and is_number and 1.0 < abs(value) < _ABSURD:  # maybe meant in percent
            number, percent = f"{value:g}", f"{100 * value:g}"
            raise InputError(
                f"{place} is a share, so that {number} would be {percent} %; write "
                f'{{ value = {number}, unit = "%" }} for {number} %, or '
                f'{{ value = {percent}, unit = "%" }} for {percent} %'
            )
        return value, basic, source
    if not units:
        raise InputError(f"{place} has no unit, got {unit!r}")
    factor = unit_factor(place, unit, units)
    return (value * factor if is_number and factor != 1 else value), basic, source


def _fact(key: str, entry: object) -> str:
    """A fact of the section `chip` as text; entries of other sections are refused."""
    if difflib.get_close_matches(key, ["oscillators"], cutoff=0.8):
        raise unknown_name("entry of chip", key, ["oscillators"])  # a misspelling
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
            f"{key!r} in [chip] is not an entry of chips; to show it as a fact, write a text "
            f'or {{ value = ..., unit = "...", source = "..." }}, got {short_repr(entry)}'
        )
    text = " ".join(str(entry[name]) for name in ("value", "unit") if name in entry)
    return f"{text} ({entry['source']})" if "source" in entry else text


def _homes(key: str) -> str:
    """The sections to which an entry of this name belongs, as text; empty for an unknown one."""
    if key == "name":
        return "title, above all sections"
    if key in _ENTRIES:
        return f"a section [{key}]"
    return " or ".join(f"[{section}]" for section, keys in _ENTRIES.items() if key in keys)
