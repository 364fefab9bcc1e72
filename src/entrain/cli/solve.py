"""`entrain solve`: an Ising problem on oscillators, ideal or of a chip."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import INTERRUPTED, err, number, print_json, print_line, print_table
from entrain.cli.options import (
    Address,
    Device,
    EngineName,
    Figure,
    Json,
    Overwrite,
    argument,
    option,
    require,
    with_option_names,
)
from entrain.utils.errors import InputError, finite_float

if TYPE_CHECKING:
    from entrain.ising import Annealing, Problem, Solution, Status

_ENDS = {
    "finished": "all runs finished",
    "reached": "the value of --until is reached",
    "time": "the time limit ended it",
    "interrupted": "interrupted: the best so far",
}


def command(
    problem: Annotated[Path, argument("PROBLEM", "Rudy (G-set) or QUBO file, plain or gzip.")],
    kind: Annotated[
        str | None, option("maxcut, ising, colouring or qubo.", "qubo or maxcut, by the file")
    ] = None,
    colours: Annotated[int | None, option("Colours of a colouring, 2 to 8.", "3")] = None,
    restarts: Annotated[
        int | None,
        option("Runs; with --time-limit, runs of a batch.", "100; in time 16, on a GPU 128"),
    ] = None,
    steps: Annotated[int | None, option("Euler steps of a run.", "2000; growing in time")] = None,
    time_limit: Annotated[float | None, option("Seconds after which it ends.", "none")] = None,
    until: Annotated[
        float | None, option("Value that ends it, after the batch that reaches it.", "none")
    ] = None,
    target: Annotated[
        float | None, option("Value that counts as success of a run.", "the best value")
    ] = None,
    chip: Annotated[
        str | None, option("Preset (entrain hardware) or TOML file of a chip.", "ideal oscillators")
    ] = None,
    chip_seed: Annotated[int, option("Seed of the chip.")] = 0,
    reading: Annotated[
        str, option("threshold, or line: the best of 16 rotations of the phases.")
    ] = "threshold",
    descent: Annotated[
        bool, option("End with a greedy descent, not done by oscillators.", name="--descent")
    ] = False,
    injection: Annotated[
        float | None, option("Injection at the end, in units of the couplings.", "0.35")
    ] = None,
    temperature: Annotated[
        float | None,
        option("kT at the beginning, in units of the couplings.", "0.25; on a chip 0"),
    ] = None,
    seed: Annotated[int, option("Seed of starts and noise.")] = 0,
    out_folder: Annotated[
        Path | None,
        option("Folder for the result; continued if it exists.", name="--out", metavar="FOLDER"),
    ] = None,
    figure: Figure = None,
    engine: EngineName = "process",
    address: Address = None,
    device: Device = "auto",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Solve PROBLEM with an oscillator Ising machine.

    Prints the best value, the distribution of the runs, the share of runs that reach the target (by
    default the best value), and the time in which one does with 99 % probability. Ctrl-C ends with
    the best so far; with --out the same command continues, and more --restarts add to the folder.
    """
    from entrain.cli.figures import drawing
    from entrain.cli.loading import prepared_engine
    from entrain.cli.progress import text_bar
    from entrain.ising import solve
    from entrain.plots.ising import draw_solution
    from entrain.plots.style import check_format
    from entrain.utils.new_files import check_new, new_files

    require(finite_float, target=target)
    check_format(figure)
    check_new(figure, overwrite=overwrite)
    loaded = read_file(problem, kind, colours)
    _, chosen_engine = prepared_engine(engine, address, device)
    with text_bar() as update, with_option_names("restarts", "steps", "time_limit", "until"):

        def on_update(status: Status) -> None:
            update(f"best {loaded.measure} {status.best:,}", status.fraction)

        solution = solve(
            loaded,
            restarts=restarts,
            steps=steps,
            annealing=annealing_of(injection, temperature, on_chip=chip is not None),
            reading=reading,  # type: ignore[arg-type]
            descent=descent,
            time_limit=time_limit,
            until=until,
            seed=seed,
            chip=chip,
            chip_seed=chip_seed,
            engine=chosen_engine,
            out=out_folder,
            on_update=on_update,
        )
    result = {"file": str(problem), **solution.to_json(target)}
    result["states"] = solution.states.tolist()
    if out_folder is not None:
        result["folder"] = str(out_folder)
    if figure is not None:
        with new_files(figure, overwrite=overwrite) as parts, drawing(figure, result):
            draw_solution(parts[figure], solution, target)
    if json:
        print_json(result)
    else:
        _print(solution, result)
    if solution.reason == "interrupted":
        if out_folder is not None:
            err.print(f"the same command continues from {shlex.quote(str(out_folder))}")
        raise typer.Exit(INTERRUPTED)


def read_file(path: Path, kind: str | None, colours: int | None) -> Problem:
    """The problem of a file, with a bar while it is read."""
    from entrain.cli.progress import fraction_bar
    from entrain.ising import read_problem

    with fraction_bar(f"reading {path}") as on_progress, with_option_names("colours"):
        return read_problem(path, kind, colours=colours, on_progress=on_progress)


def annealing_of(
    injection: float | None, temperature: float | None, *, on_chip: bool
) -> Annealing | None:
    """The ramps with these values, or None if there are none."""
    from entrain.ising import Annealing

    values = {"injection": injection, "temperature": temperature}
    values = {name: value for name, value in values.items() if value is not None}
    if not values:
        return None
    defaults: dict[str, Any] = {"temperature": 0.0} if on_chip else {}
    try:
        return Annealing(**defaults | values)
    except InputError as error:
        raise InputError(f"--{error}") from error


def _print(solution: Solution, result: dict[str, Any]) -> None:
    problem, name = solution.problem, solution.problem.measure
    title = f"{result['file']}: {problem.variables:,} variables, {problem.graph.edges:,} edges"
    runs = [(f"best {name}", _value(result["best"]))]
    if result["runs"]:
        runs += [
            (f"mean {name} of {result['runs']:,} runs", _value(result["mean"])),
            ("SD", number(result["sd"])),
            ("worst", _value(result["worst"])),
            ("seconds", number(result["seconds"])),
        ]
    if solution.batches:
        time = solution.time_to_solution(result["target"])
        low, high = (100 * bound for bound in time.probability_interval)
        share = f"{100 * time.probability:.1f} % ({low:.1f} to {high:.1f})"
        runs += [
            (f"runs of {time.steps:,} steps with {_value(time.target)} or better", share),
            ("seconds to 99 %", _interval(time.seconds, time.seconds_interval)),
            ("runs to 99 %", _interval(time.repetitions, time.repetitions_interval)),
        ]
    print_table(title, ("", "value"), runs)
    print_line(_ENDS[solution.reason])
    for key in ("folder", "figure"):
        if result.get(key):
            print_line(f"{key}  {result[key]}")


def _value(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _interval(value: float, interval: tuple[float, float]) -> str:
    texts = ("∞" if bound == float("inf") else f"{bound:.3g}" for bound in (value, *interval))
    middle, low, high = texts
    return f"{middle} ({low} to {high})"
