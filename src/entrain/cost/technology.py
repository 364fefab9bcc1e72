"""Costs of parts in a technology, as TOML files: every number with its unit and its source.

    title = "Ring oscillators, 65 nm"
    [run]
    frequency = { low = 40, typical = 50, high = 60, unit = "MHz", source = "data sheet" }
    cycles = { value = 100, unit = "cycles", source = "assumed" }

A number is a `value`, or `low`, `typical` and `high`. Its source is a reference, or has the word
"assumed". Sections that a file omits (memory, macs, crossbar, core) are those of `common.toml`,
which are the same for every oscillator.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entrain.cost.ranges import Range
from entrain.utils.errors import InputError, positive_float, short_repr
from entrain.utils.toml_file import (
    Units,
    find_preset,
    preset_names,
    read_toml,
    toml_entries,
    unit_factor,
)

_FOLDER = Path(__file__).parent / "presets"
_COMMON = Path(__file__).parent / "common.toml"
_KEYS = ("low", "typical", "high")
_LEAST, _MOST = 1e-18, 1e18  # of a number in its unit: products of several stay finite


def _units(unit: str, *prefixes: str, per: str = "") -> Units:
    sizes = {"a": 1e-18, "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
    sizes |= {"k": 1e3, "M": 1e6, "G": 1e9}
    return {f"{prefix}{unit}{per}": sizes[prefix] for prefix in prefixes}


_POWER = _units("W", "n", "u", "m", "p")
_ENERGY = _units("J", "p", "f", "n", "a")
_PER_CYCLE = _units("J", "p", "f", "n", "a", per=" per cycle")
_PER_BIT = _units("J", "p", "f", "a", per=" per bit")
_TIME = _units("s", "n", "p", "u", "m")
_FREQUENCY = _units("Hz", "M", "k", "G", "")
_AREA = {"um2": 1e-12, "mm2": 1e-6}
_BITS = {"bit": 1.0}

ENTRIES: dict[str, dict[str, Units]] = {  # section -> entry -> unit -> factor to SI
    "run": {"frequency": _FREQUENCY, "cycles": {"cycles": 1.0}},
    "oscillators": {"power": _POWER, "energy": _PER_CYCLE, "area": _AREA},
    "couplers": {"power": _POWER, "energy": _PER_CYCLE, "area": _AREA, "bits": _BITS,
                 "growth": {"per bit": 1.0}},
    "dacs": {"energy": _ENERGY, "power": _POWER, "area": _AREA, "time": _TIME, "bits": _BITS,
             "growth": {"per bit": 1.0}},
    "readout": {"energy": _ENERGY, "area": _AREA, "time": _TIME},
    "memory": {"energy": _PER_BIT, "area": {"um2 per bit": 1e-12}},
    "macs": {"energy": _ENERGY, "area": _AREA, "frequency": _FREQUENCY},
    "crossbar": {"cell_power": _POWER, "cell_area": _AREA, "cell_bits": _BITS,
                 "column_power": _POWER, "column_area": _AREA, "time": _TIME},
    "core": {"frequency": _FREQUENCY, "cells": {"cells": 1.0}, "blocks": {"blocks": 1.0},
             "clock_energy": _PER_CYCLE, "cell_energy": _PER_CYCLE, "block_energy": _PER_CYCLE,
             "static_power": _POWER},
}  # fmt: skip
_EITHER = {"power", "energy"}  # one of which oscillators and couplers have
_SHARED = ("memory", "macs", "crossbar", "core")
_BOUNDS = {"bits": (1.0, 32.0), "cell_bits": (1.0, 32.0), "growth": (1.0, 16.0),
           "frequency": (_LEAST, _MOST), "cycles": (_LEAST, _MOST)}  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """A number of a technology in SI units, its unit in the file, and its source."""

    range: Range
    unit: str
    source: str


@dataclass(frozen=True)
class Technology:
    """Costs of parts: quantities by "section.entry".

    Args:
        name: Name of the preset, or of the file.
        title: One line that describes it.
        quantities: Ranges with units and sources.
    """

    name: str
    title: str
    quantities: dict[str, Quantity]

    def __getitem__(self, name: str) -> Range:
        return self.quantities[name].range

    def __contains__(self, name: str) -> bool:
        return name in self.quantities

    def source(self, *names: str) -> str:
        """The sources of these quantities, each source once.

        Args:
            *names: Quantities as "section.entry".
        """
        sources = [self.quantities[name].source for name in names if name in self.quantities]
        return "; ".join(dict.fromkeys(sources))


def technologies() -> tuple[str, ...]:
    """The names of the technologies in this package.

    Examples:
        >>> entrain.cost.technologies()
        ('lc', 'ring-65nm', 'vo2')
    """
    return preset_names(_FOLDER)


def find_technology(technology: Technology | str | Path) -> Technology:
    """The technology of a preset or a file, completed by the sections that all technologies share.

    Args:
        technology: A name of `technologies()`, a TOML file, or a `Technology`, which is returned.

    Examples:
        >>> entrain.cost.find_technology("ring-65nm").name
        'ring-65nm'
    """
    if isinstance(technology, Technology):
        return technology
    if not isinstance(technology, str | Path):
        raise TypeError(f"technology must be a Technology, a name or a file, got {technology!r}")
    path = find_preset(str(technology), _FOLDER, "technology")
    title, quantities = _read(path)
    _, common = _read(_COMMON)
    sections = {name.split(".")[0] for name in quantities}
    for section in ENTRIES:
        if section not in sections and section not in _SHARED:
            raise InputError(f"{path}: the section [{section}] is missing")
    added = {name: common[name] for name in common if name.split(".")[0] not in sections}
    return Technology(path.stem, title, quantities | added)


def _read(path: Path) -> tuple[str, dict[str, Quantity]]:
    def parse(content: dict[str, Any]) -> tuple[str, dict[str, Quantity]]:
        title = content.pop("title", path.stem)
        quantities = {
            f"{section}.{key}": _quantity(section, key, entry)
            for section, key, entry in toml_entries(content, ENTRIES, "section", "title")
        }
        for section, entries in content.items():
            required, present = set(ENTRIES[section]), set(entries)
            if section in ("oscillators", "couplers"):
                if len(present & _EITHER) != 1:
                    number = "both" if present & _EITHER else "neither"
                    raise InputError(
                        f"{section} must have power or energy, one of them; got {number}"
                    )
                required -= _EITHER
            if missing := sorted(required - present):
                raise InputError(f"{section} lacks {', '.join(missing)}")
        return str(title), quantities

    return read_toml(path, "technology", parse)


def _quantity(section: str, key: str, entry: object) -> Quantity:
    name = f"{section}.{key}"
    keys = set(entry) - {"unit", "source"} if isinstance(entry, dict) else set()
    if not isinstance(entry, dict) or keys not in ({"value"}, set(_KEYS)):
        raise InputError(
            f"{name} must hold value, or low, typical and high, with unit and source; got "
            f"{short_repr(entry)}"
        )
    unit, source = entry.get("unit"), entry.get("source")
    factor = unit_factor(name, unit, ENTRIES[section][key])
    if not isinstance(source, str) or not source.strip():
        raise InputError(
            f'{name} must have a source, or the source "assumed"; got {short_repr(source)}'
        )
    least, most = _BOUNDS.get(key, (0.0, _MOST))
    labels = {name: "value"} if "value" in keys else {f"{name}, {bound}": bound for bound in _KEYS}
    numbers = [
        positive_float(label, entry[bound], zero=least == 0.0, least=least, most=most)
        for label, bound in labels.items()
    ]
    low, typical, high = numbers if len(numbers) == 3 else numbers * 3
    if not low <= typical <= high:
        raise InputError(
            f"{name} must rise from low to typical to high, got {low:g}, {typical:g}, {high:g}"
        )
    return Quantity(Range(low * factor, typical * factor, high * factor), str(unit), source)
