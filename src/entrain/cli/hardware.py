"""`entrain hardware`: hardware presets, with the source of every number."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from entrain.cli.console import out, print_json, print_presets, table
from entrain.cli.options import Json, argument

if TYPE_CHECKING:
    from entrain.hardware import HardwareFile


def command(
    name: Annotated[str | None, argument("NAME", "Preset or TOML file.", "list all")] = None,
    json: Json = False,
) -> None:
    """List the hardware presets, or show one with the unit and the source of every number.

    Hardware describes imperfect chips; use it with entrain train, evaluate, yield and export.
    """
    from entrain.hardware import describe, presets

    if name is not None:
        _print(describe(name), json)
        return
    print_presets("Hardware presets", "hardware", map(describe, presets()), json)


def _print(file: HardwareFile, json: bool) -> None:
    if json:
        names = ("name", "title", "hardware", "units", "sources", "facts", "components")
        result = {name: getattr(file, name) for name in names}
        components = None if file.components is None else asdict(file.components)
        print_json(result | {"hardware": file.hardware.to_json(), "components": components})
        return
    rows = table(file.title, "effect", "value", "source", text=(0, 2))
    if file.hardware.oscillators is not None:
        source = file.sources.get("chip.oscillators", "")
        rows.add_row("oscillators", str(file.hardware.oscillators), source)
    for entry, unit in file.units.items():
        with_range = entry.endswith(".rule") and entry.replace(".rule", ".range") in file.units
        if not entry.startswith("chip.") and not with_range:
            rows.add_row(entry, _value(file, entry, unit), file.sources[entry])
    for name, fact in file.facts.items():
        rows.add_row(name, fact, "")
    out.print(rows)


def _value(file: HardwareFile, name: str, unit: str) -> str:
    """An entry in its unit; shares in percent, ranges with their rule."""
    from entrain.hardware.files import is_share

    effect, entry = name.split(".")
    values: Any = file.components if effect == "components" else getattr(file.hardware, effect)
    value = getattr(values, entry)
    if is_share(name) and isinstance(value, int | float):
        return f"{100.0 * value:g} %"
    if entry == "range":
        return f"{value:g} {_RULES[values.rule]}".rstrip()
    return f"{_short(value)} {unit.removeprefix('1')}".rstrip()


_RULES = {
    "rms": "x their rms",
    "max": "x the largest",
    "absolute": "",
    "couplings": "x the couplings' range",
}


def _short(value: Any) -> str:
    if isinstance(value, tuple) and any(isinstance(entry, tuple) for entry in value):
        return f"{len(value)} couplers"
    if isinstance(value, tuple) and len(value) > 5:
        return f"{len(value)} from {value[0]:g} to {value[-1]:g}"
    if isinstance(value, tuple):
        return ", ".join(f"{number:g}" for number in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
