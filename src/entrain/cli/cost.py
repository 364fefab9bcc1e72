"""`entrain cost`: time, energy and area of one inference, or of a solution, on a chip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from entrain.cli.console import out, print_json, print_line, print_presets, print_table, table
from entrain.cli.options import Figure, Json, Overwrite, argument, option, refuse_options
from entrain.utils.errors import InputError, unknown_name

if TYPE_CHECKING:
    from entrain.cost import Cost, System, Technology
    from entrain.cost.chip import Inputs


def command(
    model: Annotated[
        str | None,
        argument(
            "MODEL",
            "Model file, run folder, shipped model, or problem file.",
            "show the technology",
        ),
    ] = None,
    technology: Annotated[
        str | None, option("Preset (--list) or TOML file.", "a table of all presets")
    ] = None,
    inputs: Annotated[
        str, option("Hardware of the input weights: digital (SRAM, MACs) or crossbar.")
    ] = "digital",
    seed: Annotated[
        int, option("Seed of the chip whose couplers are counted, or that solves a problem.")
    ] = 0,
    chip: Annotated[
        str | None,
        option("Problem: preset or TOML file of the chip that solves it.", "ideal oscillators"),
    ] = None,
    restarts: Annotated[int | None, option("Problem: runs to measure.", "100")] = None,
    steps: Annotated[int | None, option("Problem: Euler steps of a run.", "2000")] = None,
    target: Annotated[
        float | None, option("Problem: value to be reached.", "the best of the runs")
    ] = None,
    cycles: Annotated[
        float | None,
        option("Problem: cycles of an oscillator in a unit of time.", "5 to 20"),
    ] = None,
    list_presets: Annotated[bool, option("List the technology presets.", name="--list")] = False,
    figure: Figure = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Estimate the time, energy and area of one inference of MODEL, or of a solution, on a chip.

    Compares it with an 8-bit MLP of as many parameters and a fixed-point core in an FPGA. Results
    are ranges, low to high. Without --technology, compare the chips of all presets; without MODEL,
    show the numbers of a technology with their sources.

    A problem file is solved first, as by entrain solve: the cost is that of one run, and of as many
    as reach the target with 99 % probability.

    Not modelled: the source of the image; programming, calibration and standby; wires, control,
    clocks and supplies; the area of couplers that are set to zero; the accuracy gained by more
    cycles and bits. Digital parts are those of 45 nm. See docs/cost.md.
    """
    from entrain.cli.figures import drawing
    from entrain.cli.loading import load_model
    from entrain.cli.problem_cost import cost_problem
    from entrain.cost import cost_of, find_technology, technologies
    from entrain.ising.readers import is_problem_file
    from entrain.plots.cost import draw_cost
    from entrain.plots.style import check_format
    from entrain.utils.new_files import check_new, new_files

    check_format(figure)
    check_new(figure, overwrite=overwrite)
    if list_presets:
        presets = map(find_technology, technologies())
        print_presets("Technologies", "technologies", presets, json)
        return
    if model is None and technology is None:
        raise InputError("name a MODEL, or a --technology (entrain cost --list lists them)")
    for name, missing in (("MODEL", model), ("--technology", technology)):
        if figure is not None and missing is None:
            raise InputError(f"--figure draws the cost of a model in a technology; add {name}")
    chosen = None if technology is None else find_technology(technology)
    if model is None:
        assert chosen is not None
        _print_technology(chosen, json)
        return
    if Path(model).is_file() and is_problem_file(Path(model)):
        if figure is not None or inputs != "digital":
            raise InputError("--figure and --inputs are options of a model")
        cost_problem(Path(model), chosen, chip, seed, restarts, steps, target, cycles, json)
        return
    refuse_options(
        "a problem file",
        **{"--chip": chip, "--restarts": restarts, "--steps": steps},
        **{"--target": target, "--cycles": cycles},
    )
    if inputs not in ("digital", "crossbar"):
        raise unknown_name("--inputs", inputs, ("digital", "crossbar"))
    path, loaded = load_model(model)
    if chosen is None:
        costs = [
            cost_of(loaded, name, inputs=cast("Inputs", inputs), seed=seed)
            for name in technologies()
        ]
        _print_all(path, costs, json)
        return
    cost = cost_of(loaded, chosen, inputs=cast("Inputs", inputs), seed=seed)
    result: dict[str, Any] = {"model": str(path), **cost.to_json()}
    if figure is not None:
        with new_files(figure, overwrite=overwrite) as parts, drawing(figure, result):
            draw_cost(parts[figure], list(cost.to_json()["systems"].values()), path.stem)
    if json:
        print_json(result)
    else:
        _print(cost)


def _print_all(path: Path, costs: list[Cost], json: bool) -> None:
    """Print the chip of each technology."""
    from entrain.cost import MEASURES, NOT_MODELLED, text

    if json:
        values = {cost.technology.name: cost.to_json() for cost in costs}
        print_json({"model": str(path), "technologies": values})
        return
    rows = []
    for cost in costs:
        ranges = [(getattr(cost.chip, name), unit) for name, unit in MEASURES.items()]
        cells = ("-" if range is None else text(range, unit) for range, unit in ranges)
        rows.append((cost.technology.name, *cells))
    print_table(f"one inference of {path.stem}: typical (low to high)", ("", *MEASURES), rows)
    print_line("parts, sources and a comparison: --technology NAME")
    print_line(f"not modelled: {'; '.join(NOT_MODELLED)}")


def _print_technology(technology: Technology, json: bool) -> None:
    from entrain.cost.technology import ENTRIES

    if json:
        quantities = {
            name: quantity.range.to_json()
            | {"unit": "SI", "given_in": quantity.unit, "source": quantity.source}
            for name, quantity in technology.quantities.items()
        }
        print_json({"name": technology.name, "title": technology.title, "quantities": quantities})
        return
    rows = table(technology.title, "number", "low to high (typical)", "source", text=(0, 2))
    rows.columns[0].no_wrap = True
    for name, quantity in technology.quantities.items():
        section, entry = name.split(".")
        factor = ENTRIES[section][entry][quantity.unit]
        numbers = (quantity.range.low, quantity.range.high, quantity.range.typical)
        low, high, typical = (f"{number / factor:.4g}" for number in numbers)
        values = typical if low == high else f"{low} to {high} ({typical})"
        rows.add_row(name, f"{values} {quantity.unit}", quantity.source)
    out.print(rows)


def _print(cost: Cost) -> None:
    from entrain.cost import MEASURES, NOT_MODELLED, text

    print_parts(cost.chip)
    titles = (system.title for system in cost.systems)
    rows = []
    for name, unit in MEASURES.items():
        values = [getattr(system, name) for system in cost.systems]
        rows.append((name, *("-" if value is None else text(value, unit) for value in values)))
    print_table("one inference: typical (low to high)", ("", *titles), rows)
    work = cost.workload
    print_line(
        f"{work.oscillators} oscillators, {work.couplers:,} couplers of {work.coupling_bits:.2g} "
        f"bits, {work.weights:,} input weights of {work.weight_bits:.2g} bits "
        f"({100 * work.weights / work.parameters:.0f} % of the parameters)"
    )
    print_line(f"not modelled: {'; '.join(NOT_MODELLED)}")


def print_parts(system: System) -> None:
    """Print each part: energy with its bounds, typical time and area."""
    from entrain.cost.ranges import si, text

    rows = table(system.title, "part", "count", "energy", "share", "time", "area")
    rows.columns[0].no_wrap = True
    total = system.energy.typical
    for part in system.parts:
        rows.add_row(
            part.name,
            f"{part.count:,}",
            text(part.energy, "J"),
            f"{100 * part.energy.typical / total if total else 0.0:.1f} %",
            si(part.time.typical, "s") if part.time.high else "",
            "-" if part.area is None else si(part.area.typical, "m2"),
        )
    out.print(rows)
