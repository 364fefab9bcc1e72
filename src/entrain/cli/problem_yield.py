"""`entrain yield` of a problem file: what many chips of one hardware reach."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import err, number, out, print_json, print_line, print_table
from entrain.cli.options import with_option_names
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.hardware import Hardware
    from entrain.ising.problem_yield import ProblemYield
    from entrain.ising.problems import Problem


def measure(
    path: Path,
    hardware: str | None,
    *,
    chips: int,
    restarts: int,
    steps: int | None,
    first_seed: int,
    noise_seed: int,
    target: float | None,
    effects: bool,
    engine: Any,
    out_file: Path | None,
    figure: Path | None,
    overwrite: bool,
    json: bool,
) -> None:
    """Measure a problem on chips, and print the result."""
    from dataclasses import replace

    from entrain.cli.figures import drawing
    from entrain.cli.solve import read_file
    from entrain.evaluation.yield_file import keep_result
    from entrain.hardware import find
    from entrain.ising import Annealing
    from entrain.ising.problem_yield import alone, ideal_runs
    from entrain.plots.ising import draw_problem_yield
    from entrain.utils.new_files import new_files

    if hardware is None:
        raise InputError(
            "--hardware is needed for a problem: a preset (entrain hardware) or a TOML file"
        )
    problem, kind = read_file(path, None, None), find(hardware)
    annealing = Annealing(temperature=0.0)
    annealing = annealing if steps is None else replace(annealing, steps=steps)
    variants = [kind]
    if effects:
        for name, _ in kind.effects:
            variants += [alone(kind, name), kind.without(name)]
    with with_option_names("restarts"):
        yields = _yields(
            problem,
            list(dict.fromkeys(variants)),
            chips=chips,
            restarts=restarts,
            annealing=annealing,
            target=target,
            first_seed=first_seed,
            seed=noise_seed,
            engine=engine,
            out_file=out_file,
        )
    ideal = ideal_runs(problem, annealing, restarts=100, seed=noise_seed)
    result = _result(path, kind, yields, sum(ideal) / len(ideal), first_seed, noise_seed)
    if effects:
        result["effects"] = {
            name: {
                "alone": float(yields[alone(kind, name)].single.mean()),
                "without": float(yields[kind.without(name)].single.mean()),
            }
            for name, _ in kind.effects
        }
    if out_file is not None:
        keep_result(out_file, result)
        result["saved"] = str(out_file)
    if figure is not None:
        with new_files(figure, overwrite=overwrite) as parts, drawing(figure, result):
            draw_problem_yield(parts[figure], result)
    if json:
        print_json(result)
    else:
        _print(result)


def _yields(
    problem: Problem,
    variants: list[Hardware],
    *,
    chips: int,
    out_file: Path | None,
    **options: Any,
) -> dict[Hardware, ProblemYield]:
    """The yield of every variant, with a bar."""
    from entrain.cli.progress import fraction_bar
    from entrain.ising.problem_yield import chip_yields

    with fraction_bar(f"{chips} chips") as on_progress:
        done = 0

        def count(measured: int) -> None:
            nonlocal done
            done += measured
            on_progress(done / (chips * len(variants)))

        try:
            return chip_yields(
                problem, variants, chips=chips, out=out_file, on_done=count, **options
            )
        except KeyboardInterrupt:
            if out_file is not None:
                err.print(f"stopped; the same command continues from {out_file}", soft_wrap=True)
            raise


def _result(
    path: Path,
    hardware: Hardware,
    yields: dict[Hardware, ProblemYield],
    ideal: float,
    first_seed: int,
    noise_seed: int,
) -> dict[str, Any]:
    measured = yields[hardware]
    problem = measured.problem
    return {
        "file": str(path),
        "hardware": hardware.to_json(),
        "problem": type(problem).__name__.lower(),
        "goal": problem.goal,
        "measure": problem.measure,
        "seed": first_seed,
        "noise_seed": noise_seed,
        "ideal": ideal,
        **measured.summary(),
        "best_of_chips": measured.best.tolist(),
        "mean_of_chips": measured.single.tolist(),
        "success_of_chips": measured.success.tolist(),
    }


def _print(result: dict[str, Any]) -> None:
    name = result["hardware"].get("name")
    title = f"{result['chips']:,} chips{f' of {name}' if name else ''}: {result['file']}"
    out.print(f"{title}, {result['restarts']} runs each", style="bold", soft_wrap=True)
    rows = [
        ("ideal oscillators, mean of a run", "", number(result["ideal"])),
        *(
            (words, number(result["best"][key]), number(result["single_run"][key]))
            for key, words in (
                ("mean", "mean over chips"),
                ("sd", "SD from chip to chip"),
                ("p5", "95 % of the chips reach"),
                ("p50", "half of the chips reach"),
                ("worst", "worst chip"),
            )
        ),
    ]
    print_table("", (result["measure"], "best of its runs", "mean of its runs"), rows)
    low, high = result["reach_target_interval"]
    print_line(
        f"{100 * result['reach_target']:.1f} % of the chips ({100 * low:.1f} to {100 * high:.1f}) "
        f"reach {result['target']:,}, {100 * result['success_probability']:.1f} % of the runs"
    )
    if "effects" in result:
        sign = 1 if result["goal"] == "maximum" else -1
        ideal, mean = result["ideal"], result["single_run"]["mean"]
        print_table(
            f"Cost of each effect, in {result['measure']} of a run",
            ("effect", "alone", "in all"),
            [
                (
                    effect,
                    number(sign * (ideal - means["alone"])),
                    number(sign * (means["without"] - mean)),
                )
                for effect, means in sorted(
                    result["effects"].items(), key=lambda row: sign * row[1]["alone"]
                )
            ],
        )
    if "saved" in result:
        print_line(f"saved in {result['saved']}")
