"""`entrain cost`: what one inference would cost as a chip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from entrain.cli.console import out, print_json, table
from entrain.cli.options import Json

if TYPE_CHECKING:
    from entrain.cost import Cost, System, Technology
    from entrain.cost.inputs import Inputs


def command(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="A model file, a run folder or a shipped model.",
            show_default="show the technology",
        ),
    ] = None,
    technology: Annotated[
        str | None,
        typer.Option(help="A preset (--list) or a TOML file.", show_default="none"),
    ] = None,
    inputs: Annotated[
        str, typer.Option(help="Where the input weights are: digital (SRAM, MACs) or crossbar.")
    ] = "digital",
    seed: Annotated[int, typer.Option(help="Seed of the chip whose couplers are counted.")] = 0,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the technologies that come with the package.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .pdf or .svg.")
    ] = None,
    json: Json = False,
) -> None:
    """Estimate time, energy, power and area of one inference of MODEL as an oscillator chip.

    Beside it: an 8-bit MLP of as many parameters, and our own fixed-point core in an FPGA. Results
    are ranges, low to high. Without MODEL the numbers of a technology are shown with their sources.

    Not modelled: where the image comes from; programming, calibration and standby; wires, control,
    clocks and supplies; the area of couplers that are set to zero; the accuracy that more cycles
    and bits buy. Digital parts are those of 45 nm. See docs/cost.md.
    """
    from entrain.cost import cost_of, find_technology
    from entrain.models.pretrained import find, load
    from entrain.utils.errors import InputError, unknown_name

    if figure is not None:
        from entrain.plots.chip_yield import check_format

        check_format(figure)
    if list_them:
        _list(json)
        return
    if technology is None:
        raise InputError("choose a technology with --technology (entrain cost --list lists them)")
    found = find_technology(technology)
    if model is None:
        if figure is not None:
            raise InputError("--figure draws the cost of a model; name a MODEL")
        _show_technology(found, json)
        return
    if inputs not in ("digital", "crossbar"):
        raise unknown_name("--inputs", inputs, ("digital", "crossbar"))
    path = find(model)
    cost = cost_of(load(path), found, inputs=cast("Inputs", inputs), seed=seed)
    result = {"model": str(path), **cost.to_json()}
    if figure is not None:
        from entrain.plots.cost import draw_cost

        draw_cost(figure, list(result["systems"].values()), path.stem)
        result["figure"] = str(figure)
    if json:
        print_json(result)
    else:
        _show(cost)


def _list(json: bool) -> None:
    from entrain.cost import find_technology, technologies

    files = [find_technology(each) for each in technologies()]
    if json:
        print_json({"technologies": {each.name: each.title for each in files}})
        return
    shown = table("Technologies", "name", "what it is")
    shown.columns[1].justify = "left"
    for each in files:
        shown.add_row(each.name, each.title)
    out.print(shown)


def _show_technology(technology: Technology, json: bool) -> None:
    from entrain.cost.technology import ENTRIES

    if json:
        quantities = {
            place: each.range.to_json()
            | {"unit": "SI", "given_in": each.unit, "source": each.source}
            for place, each in technology.quantities.items()
        }
        print_json({"name": technology.name, "title": technology.title, "quantities": quantities})
        return
    shown = table(technology.title, "number", "low to high (typical)", "source")
    shown.columns[0].no_wrap = True
    shown.columns[2].justify = "left"
    for place, each in technology.quantities.items():
        section, entry = place.split(".")
        factor = ENTRIES[section][entry][each.unit]
        numbers = (each.range.low, each.range.high, each.range.typical)
        low, high, typical = (f"{number / factor:.4g}" for number in numbers)
        values = typical if low == high else f"{low} to {high} ({typical})"
        shown.add_row(place, f"{values} {each.unit}", each.source)
    out.print(shown)


def _show(cost: Cost) -> None:
    from entrain.cost import NOT_MODELLED

    work = cost.workload
    _show_parts(cost.chip)
    _show_systems(cost)
    out.print(
        f"{work.oscillators} oscillators, {work.couplers:,} couplers of {work.coupling_bits:.2g} "
        f"bits, {work.weights:,} input weights of {work.weight_bits:.2g} bits "
        f"({100 * work.weights / work.parameters:.0f} % of the parameters)",
        soft_wrap=True,
    )
    out.print(f"not modelled: {'; '.join(NOT_MODELLED)}", soft_wrap=True)


def _show_parts(system: System) -> None:
    """Energies with their bounds, what is typical of the rest."""
    from entrain.cost.ranges import si, text

    shown = table(system.title, "part", "count", "energy", "share", "time", "area")
    shown.columns[0].no_wrap = True
    whole = system.energy.typical
    for part in system.parts:
        shown.add_row(
            part.name,
            f"{part.count:,}",
            text(part.energy, "J"),
            f"{100 * part.energy.typical / whole if whole else 0.0:.1f} %",
            si(part.time.typical, "s") if part.time.high else "",
            "-" if part.area is None else si(part.area.typical, "m2"),
        )
    out.print(shown)


def _show_systems(cost: Cost) -> None:
    from entrain.cost import MEASURES, text

    titles = [system.title for system in cost.systems]
    shown = table("one inference: typical (low to high)", "", *titles)
    for name, unit in MEASURES.items():
        values = [getattr(system, name) for system in cost.systems]
        shown.add_row(name, *("-" if each is None else text(each, unit) for each in values))
    out.print(shown)
