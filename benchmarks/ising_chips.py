"""Cuts that published chips reach on five small graphs, and what each effect costs.

    python benchmarks/ising_chips.py [--chips 1000] [--effect-chips 50]

Every chip runs ten times; ideal oscillators, without a ramp of noise as on a chip, 128 times. The
cost of effects is measured on the first chips: with one effect alone, and without it. Writes
results/ising-chips.json and results/figures/ising-chips.png; ten minutes on two cores. --draw draws
the stored results again.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import time
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from ising import complete, random_graph, torus
from matplotlib import rc_context
from matplotlib.figure import Figure
from rich.progress import track

from entrain import InputError, solve
from entrain.hardware import find
from entrain.ising import Annealing, MaxCut, WeightedGraph
from entrain.ising.problem_yield import alone, chip_yields, ideal_runs
from entrain.plots.style import CLASS_COLOURS, COLUMN, STYLE, save
from entrain.utils.threads import cpu_share

RESULTS = Path(__file__).resolve().parent.parent / "results"
OUT, FIGURE = RESULTS / "ising-chips.json", RESULTS / "figures" / "ising-chips.png"
CHIPS = ("lo-2023", "onn-2025", "moy-2022", "ahmed-2021", "typical")
RAMPS = Annealing(temperature=0.0)


def grid(rows: int, columns: int) -> MaxCut:
    """A square lattice with open ends, of random signs: a planar graph."""
    closed = torus(rows, columns, True, 3).graph
    row, column = np.divmod(np.arange(rows * columns), columns)
    near = np.abs(row[closed.first] - row[closed.second]) + np.abs(
        column[closed.first] - column[closed.second]
    )
    open_ = near == 1
    ends = closed.first[open_], closed.second[open_]
    return MaxCut(WeightedGraph.from_entries(closed.nodes, *ends, closed.weights[open_]))


def strip(nodes: int) -> MaxCut:
    """The first oscillators of `ahmed-2021`, two rows of triangles, and their couplers."""
    hardware = find("ahmed-2021")
    assert hardware.wiring is not None
    assert hardware.oscillators is not None
    return MaxCut(hardware.wiring.graph(hardware.oscillators)[:nodes, :nodes].double().numpy())


def weighted(nodes: int, largest: int, seed: int) -> MaxCut:
    """All pairs, of whole weights up to `largest` and both signs."""
    graph, generator = complete(nodes, seed).graph, np.random.default_rng(seed)
    sizes = generator.integers(1, largest + 1, graph.edges)
    return MaxCut(
        WeightedGraph.from_entries(nodes, graph.first, graph.second, sizes * graph.weights)
    )


PROBLEMS = {
    "lattice 5 x 8, random signs": grid(5, 8),
    "triangles, 2 rows of 24": strip(48),
    "cubic, 48 nodes": MaxCut(networkx.random_regular_graph(3, 48, seed=2)),
    "random, 40 nodes, 80 edges": random_graph(40, 80, False, 5),
    "complete, 12 nodes, weights to 7": weighted(12, 7, 4),
}


def main() -> None:
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chips", type=int, default=1000)
    parser.add_argument("--effect-chips", type=int, default=50)
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    if options.draw:
        draw(json.loads(OUT.read_text())["rows"])
        return
    began, rows = time.monotonic(), []
    for problem in PROBLEMS:
        for chip in track(CHIPS, problem, transient=True):
            rows.append(measure(problem, chip, options.chips, options.effect_chips))
    result = {
        "machine": f"{platform.machine()}, {cpu_share()} cores",
        "seconds": round(time.monotonic() - began),
        "chips": options.chips,
        "effect_chips": options.effect_chips,
        "restarts": 10,
        "rows": rows,
    }
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    draw(rows)
    print(json.dumps(result, indent=1))  # noqa: T201


def measure(name: str, chip: str, chips: int, effect_chips: int) -> dict[str, Any]:
    """The yield of one chip on one problem, and of its effects; or why it does not fit."""
    problem, hardware = PROBLEMS[name], find(chip)
    row: dict[str, Any] = {"problem": name, "chip": chip}
    target = _best(problem)
    try:
        (measured,) = chip_yields(
            problem, [hardware], chips=chips, annealing=RAMPS, target=target
        ).values()
    except InputError as error:
        return row | {"refused": str(error)}
    effects = [effect for effect, _ in hardware.effects]
    variants = {effect: (alone(hardware, effect), hardware.without(effect)) for effect in effects}
    yields = chip_yields(
        problem,
        [hardware, *(variant for both in variants.values() for variant in both)],
        chips=effect_chips,
        annealing=RAMPS,
        target=target,
    )
    means = {variant: float(of.single.mean()) for variant, of in yields.items()}
    return row | {
        "target": target,
        "ideal": float(np.mean(ideal_runs(problem, RAMPS, 128))),
        **measured.summary(),
        "of_effect_chips": means[hardware],
        "effects": {
            effect: {"alone": means[only], "without": means[rest]}
            for effect, (only, rest) in variants.items()
        },
    }


@functools.cache
def _best(problem: MaxCut) -> int | float:
    """The best of many ideal runs with noise and a greedy descent."""
    return solve(problem, restarts=500, descent=True).value


def draw(rows: list[dict[str, Any]]) -> None:
    """Distance of a run from the best cut, chip by chip; and the cost of effects alone."""
    figure = Figure(figsize=(COLUMN, 8.4), layout="constrained")
    with rc_context(STYLE):
        left, right = figure.subplots(2, 1, height_ratios=(1, 1.4))
    for index, problem in enumerate(PROBLEMS):
        of_problem = {row["chip"]: row for row in rows if row["problem"] == problem}
        places = np.arange(len(CHIPS)) + 0.15 * (index - 2)
        fitting = [
            (place, of_problem[chip])
            for place, chip in zip(places, CHIPS, strict=True)
            if "refused" not in of_problem[chip]
        ]
        means = [_percent(row, row["single_run"]["mean"]) for _, row in fitting]
        ends = np.array(
            [[_percent(row, row["single_run"][key]) for key in ("p5", "p95")] for _, row in fitting]
        )
        spread = np.abs(ends - np.array(means)[:, None]).T
        left.errorbar(
            [place for place, _ in fitting],
            means,
            spread,
            fmt="o",
            ms=4,
            color=CLASS_COLOURS[index],
            label=problem,
        )
    left.set_xticks(range(len(CHIPS)), CHIPS)
    left.set_ylabel("a run on a chip, % of the best cut")
    left.axhline(100, color="black", lw=0.8)
    left.legend(fontsize=8, frameon=False, loc="lower left")
    left.set_title("mean of a chip: 5th to 95th percentile of the chips", fontsize=10)
    _tornado(right, rows)
    save(figure, FIGURE)


def _percent(row: dict[str, Any], value: float) -> float:
    return 100 * value / float(row["target"])


def _tornado(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Cost of each effect of each chip alone, in percent of the best cut, by problem."""
    names = [
        (chip, effect)
        for chip in CHIPS
        for effect in next(r["effects"] for r in rows if r["chip"] == chip and "effects" in r)
    ]
    for index, problem in enumerate(PROBLEMS):
        for place, (chip, effect) in enumerate(names):
            (row,) = (r for r in rows if (r["problem"], r["chip"]) == (problem, chip))
            if "refused" not in row:
                cost = _percent(row, row["ideal"] - row["effects"][effect]["alone"])
                axis.plot(cost, -place - 0.12 * (index - 2), "o", ms=4, color=CLASS_COLOURS[index])
    labels = [f"{chip}: {effect.replace('_', ' ')}" for chip, effect in names]
    axis.set_yticks([-place for place in range(len(names))], labels, fontsize=8)
    axis.axvline(0.0, color="black", lw=0.8)
    axis.grid(axis="y", lw=0.3)
    axis.set_xscale("symlog", linthresh=1.0)
    axis.set_xticks([-1, 0, 1, 10, 50], ["-1", "0", "1", "10", "50"])
    axis.set_xlim(-1.5, 90)
    axis.set_xlabel("cost of the effect alone, % of the best cut (linear up to 1)")


if __name__ == "__main__":
    main()
