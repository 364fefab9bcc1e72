"""`entrain cost` of a problem file: what a run and a solution cost on a chip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from entrain.cli.console import print_json, print_line, print_table
from entrain.cli.options import require, with_option_names
from entrain.utils.errors import finite_float, positive_float

if TYPE_CHECKING:
    from entrain.cost import SolutionCost, Technology


def cost_problem(
    path: Path,
    technology: Technology | None,
    chip: str | None,
    seed: int,
    restarts: int | None,
    steps: int | None,
    target: float | None,
    cycles: float | None,
    json: bool,
) -> None:
    """Solve a problem, and print its cost in one technology or in all."""
    from entrain.cli.progress import fraction_bar
    from entrain.cli.solve import read_file
    from entrain.cost import cost_of_solution, find_technology, technologies
    from entrain.ising import solve

    require(finite_float, target=target)
    require(positive_float, cycles=cycles)
    problem = read_file(path, None, None)
    with fraction_bar("solving") as update, with_option_names("restarts", "steps"):
        solution = solve(
            problem,
            restarts=restarts,
            steps=steps,
            chip=chip,
            chip_seed=seed,
            on_update=lambda status: update(status.fraction),
        )
    chosen = map(find_technology, technologies()) if technology is None else [technology]
    costs = [
        cost_of_solution(solution, one, target=target, cycles_of_unit=cycles) for one in chosen
    ]
    if json:
        values = {cost.technology.name: cost.to_json() for cost in costs}
        solved = {"file": str(path), "chip": solution.chip, "best": solution.value}
        print_json(solved | (values[technology.name] if technology else {"technologies": values}))
        return
    _print(path, costs, problem.measure, technology is None)


def _print(path: Path, costs: list[SolutionCost], measure: str, several: bool) -> None:
    from entrain.cli.cost import print_parts
    from entrain.cost import text
    from entrain.cost.solution import NOT_MODELLED_OF_RUNS

    runs, size = costs[0].runs, costs[0].size
    target = f"{runs.target:,.10g}"
    if not several:
        print_parts(costs[0].run)
    rows = []
    for cost in costs:
        one, all_runs = (
            (text(part.time, "s"), text(part.energy, "J")) for part in (cost.run, cost)
        )
        rows.append((cost.technology.name, *one, *(all_runs if runs.successes else ("-", "-"))))
    columns = ("", "time of a run", "energy of a run", "time to 99 %", "energy to 99 %")
    title = f"{path.name}: {measure} {target} or better, typical (low to high)"
    print_table(title, columns, rows)
    for cost in costs:
        if cost.area is not None:
            print_line(f"area, {cost.technology.name}: {text(cost.area, 'm2')}")
    share = f"{100 * runs.probability:.1f} % of {runs.runs:,} runs reach {target}"
    low, high = runs.repetitions_interval
    enough = f"{runs.repetitions:.3g} runs ({low:.3g} to {high:.3g}) for 99 %"
    print_line(
        f"{share}: {enough}" if runs.successes else f"no run of {runs.runs:,} reaches {target}"
    )
    print_line(
        f"{size.oscillators} oscillators, {size.couplers:,} couplers of {size.coupling_bits:.2g} "
        f"bits, {size.fields:,} fields; a run takes {runs.time_per_run:,.4g} units of time"
    )
    print_line(f"not modelled: {'; '.join(NOT_MODELLED_OF_RUNS)}")
