"""What published chips reach on two small problems, and what each effect costs.

    python benchmarks/ising_chips.py [--chips 200]

Every chip runs ten times; ideal oscillators, without a ramp of noise as on a chip, a hundred times.
Writes results/ising-chips.json; three minutes of two cores for 50 chips.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from ising import random_graph, torus
from rich.progress import track

from entrain import InputError
from entrain.hardware import find
from entrain.ising import Annealing, MaxCut, WeightedGraph
from entrain.ising.problem_yield import alone, chip_yields, ideal_runs

OUT = Path(__file__).resolve().parent.parent / "results" / "ising-chips.json"
CHIPS = ("lo-2023", "onn-2025", "moy-2022", "ahmed-2021", "typical")


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


PROBLEMS = {
    "lattice 5 x 8, random signs": grid(5, 8),
    "random, 40 nodes, 80 edges": random_graph(40, 80, False, 5),
}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chips", type=int, default=50)
    options = parser.parse_args()
    rows = [
        measure(problem, chip, options.chips)
        for problem, chip in track([(p, c) for p in PROBLEMS for c in CHIPS], transient=True)
    ]
    result = {"chips": options.chips, "restarts": 10, "rows": rows}
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))  # noqa: T201


def measure(name: str, chip: str, chips: int) -> dict[str, Any]:
    """The yield of one chip on one problem, with every effect alone; or why it does not fit."""
    problem, hardware = PROBLEMS[name], find(chip)
    annealing = Annealing(temperature=0.0)
    row: dict[str, Any] = {"problem": name, "chip": chip}
    ideal = ideal_runs(problem, annealing, 100)
    effects = [effect for effect, _ in hardware.effects]
    variants = [alone(hardware, effect) for effect in effects]
    try:
        yields = chip_yields(
            problem, [hardware, *variants], chips=chips, annealing=annealing, target=_best(problem)
        )
    except InputError as error:
        return row | {"refused": str(error)}
    return row | {
        "target": _best(problem),
        "ideal": float(np.mean(ideal)),
        **yields[hardware].summary(),
        "alone": {
            effect: float(yields[variant].single.mean())
            for effect, variant in zip(effects, variants, strict=True)
        },
    }


def _best(problem: MaxCut) -> int | float:
    """The best of many ideal runs with noise and a greedy descent."""
    from entrain import solve

    return solve(problem, restarts=500, descent=True).value


if __name__ == "__main__":
    main()
