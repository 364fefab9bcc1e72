"""Ising machines in ngspice against the phase model: LC oscillators at several numbers of cycles.

    python benchmarks/ising_circuits.py [--restarts 8]

Three graphs of 8 to 12 nodes, runs of 40 units of time from random phases: states, cuts and phases
at the end, of the equations and of LC oscillators with 5, 10 and 20 cycles in a unit of time.
Writes results/ising-circuits.json; a quarter of an hour of two cores. Needs ngspice.
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from ising import random_graph
from ising_chips import weighted
from rich.progress import track

from entrain.export import Spice, design_of_problem
from entrain.export.ngspice import simulate
from entrain.ising import MaxCut
from entrain.utils.threads import cpu_share

OUT = Path(__file__).resolve().parent.parent / "results" / "ising-circuits.json"
TIME, STEPS = 40.0, 40_000
PROBLEMS = {
    "cubic, 8 nodes": MaxCut(networkx.random_regular_graph(3, 8, seed=1)),
    "random, 10 nodes, 20 edges": random_graph(10, 20, False, 1),
    "complete, 12 nodes, weights to 7": weighted(12, 7, 4),
}
CIRCUITS = {
    "equations": Spice(),
    **{
        f"LC, {cycles} cycles in a unit": Spice("lc", cycles=cycles * TIME)
        for cycles in (5, 10, 20)
    },
}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--restarts", type=int, default=8)
    options = parser.parse_args()
    pairs = [(problem, circuit) for problem in PROBLEMS for circuit in CIRCUITS]
    result = {
        "machine": f"{platform.machine()}, {cpu_share()} cores",
        "restarts": options.restarts,
        "time": TIME,
        "rows": [measure(*pair, options.restarts) for pair in track(pairs, transient=True)],
    }
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))  # noqa: T201


def measure(name: str, circuit: str, restarts: int) -> dict[str, Any]:
    """States, cuts and phases of runs in ngspice beside those of Python."""
    problem = PROBLEMS[name]
    design = design_of_problem(problem, restarts=restarts, time=TIME)
    assert design.machine is not None
    simulated = simulate(design, CIRCUITS[circuit], times=1)[-1]
    python = design.trajectory(1, STEPS)[-1]
    states, expected = (design.machine.states(phases) for phases in (simulated, python))
    agree = design.machine.agreement(states, expected)
    cuts, wanted = problem.values(states), problem.values(expected)
    off = np.arcsin(np.abs(np.sin(simulated - python))[agree])
    return {
        "problem": name,
        "circuit": circuit,
        "same_states": int(agree.sum()),
        "same_cut": int((cuts == wanted).sum()),
        "cuts": cuts.tolist(),
        "python_cuts": wanted.tolist(),
        "max_phase_difference": float(off.max()),
    }


if __name__ == "__main__":
    main()
