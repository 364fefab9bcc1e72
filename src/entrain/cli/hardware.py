"""`entrain hardware`: kinds of chips, and where their numbers come from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import out, print_json, table
from entrain.cli.options import Json

if TYPE_CHECKING:
    from entrain.hardware import ChipFile


def command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A preset or a TOML file.", show_default="list all"),
    ] = None,
    json: Json = False,
) -> None:
    """List the kinds of chips that come with the package, or show one with the unit and the source
    of every number.

    Use the names with entrain train --hardware and entrain yield --hardware.
    """
    from entrain.hardware import describe, presets

    if name is not None:
        _show(describe(name), json)
        return
    files = [describe(each) for each in presets()]
    if json:
        print_json({"hardware": {each.name: each.title for each in files}})
        return
    shown = table("Kinds of chips", "name", "what it is")
    shown.columns[1].justify = "left"
    for each in files:
        shown.add_row(each.name, each.title)
    out.print(shown)


def _show(chip: ChipFile, json: bool) -> None:
    if json:
        print_json(
            {
                "name": chip.name,
                "title": chip.title,
                "hardware": chip.hardware.to_json(),
                "units": chip.units,
                "sources": chip.sources,
                "facts": chip.facts,
                "components": None if chip.components is None else asdict(chip.components),
            }
        )
        return
    shown = table(chip.title, "effect", "value", "source")
    shown.columns[2].justify = "left"
    if chip.hardware.oscillators is not None:
        source = chip.sources.get("chip.oscillators", "")
        shown.add_row("oscillators", str(chip.hardware.oscillators), source)
    for place, unit in chip.units.items():
        with_range = place.endswith(".rule") and place.replace(".rule", ".range") in chip.units
        if not place.startswith("chip.") and not with_range:
            shown.add_row(place, _value(chip, place, unit), chip.sources[place])
    for name, fact in chip.facts.items():
        shown.add_row(name, fact, "")
    out.print(shown)


def _value(chip: ChipFile, place: str, unit: str) -> str:
    """What an entry is, in its unit; shares in percent, ranges with the rule they go by."""
    from entrain.hardware.files import is_share

    effect, entry = place.split(".")
    values: Any = chip.components if effect == "components" else getattr(chip.hardware, effect)
    value = getattr(values, entry)
    if is_share(place) and isinstance(value, int | float):
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
    if isinstance(value, tuple) and any(isinstance(each, tuple) for each in value):
        return f"{len(value)} couplers"
    if isinstance(value, tuple) and len(value) > 5:
        return f"{len(value)} from {value[0]:g} to {value[-1]:g}"
    if isinstance(value, tuple):
        return ", ".join(f"{each:g}" for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
