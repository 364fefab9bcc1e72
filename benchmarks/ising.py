"""Maximum cuts by oscillators and by other solvers.

    python benchmarks/ising.py compare [--graphs FOLDER] [--seconds 8] [--out FILE]
    python benchmarks/ising.py gpu [--graphs FOLDER] [--out FILE]
    python benchmarks/ising.py tune [--settings 20] [--steps 4000] [--device cuda]

`compare` gives every solver the same wall time on every graph, one after the other in one run, and
writes results/ising.json: 13 graphs of the G-set (FOLDER, .data/gset by default, files G1 or G1.gz;
not shipped) and five generated ones. Needs `pip install simulated-bifurcation dwave-samplers`, and
an idle machine: "load" in the file is that of other programs at the beginning.
`gpu` solves the 13 graphs on a GPU, with fixed numbers of steps and within five seconds, and writes
results/ising-gpu.json; two minutes. `tune` tries settings of the ramps on generated graphs alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.spatial
import torch
from rich.progress import track

from entrain.ising import Annealing, MaxCut, WeightedGraph, read_rudy, solve
from entrain.utils.threads import cpu_share

ROOT = Path(__file__).resolve().parent.parent
BEST = {
    "G1": 11624,
    "G6": 2178,
    "G11": 564,
    "G14": 3064,
    "G18": 992,
    "G22": 13359,
    "G27": 3341,
    "G32": 1410,
    "G35": 7687,
    "G39": 2408,
    "G43": 6660,
    "G48": 6000,
    "G51": 3848,
}
"""Best known cuts of the literature."""
BAR = {
    "G1": 11621,
    "G6": 2175,
    "G11": 558,
    "G14": 3054,
    "G18": 987,
    "G22": 13310,
    "G27": 3296,
    "G32": 1384,
    "G35": 7628,
    "G39": 2356,
    "G43": 6652,
    "G48": 6000,
    "G51": 3833,
}
"""Cuts of the same machine in plain PyTorch, 128 runs of 5,000 steps, before any tuning."""


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measurement", choices=("compare", "gpu", "tune"))
    parser.add_argument("--graphs", type=Path, default=ROOT / ".data" / "gset")
    parser.add_argument("--only", help="names of graphs, with commas")
    parser.add_argument("--solvers", default="", help="beginnings of names, with commas")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--settings", type=int, default=20)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    result = {"compare": compare, "gpu": on_gpu, "tune": tune}[options.measurement](options)
    names = {"compare": "ising.json", "gpu": "ising-gpu.json"}
    out = options.out
    if out is None and options.measurement in names:
        out = ROOT / "results" / names[options.measurement]
    if out is not None:
        out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))  # noqa: T201


# Graphs


def gset(folder: Path, only: str | None = None) -> Iterator[tuple[str, MaxCut]]:
    """The graphs of the G-set in a folder, by name."""
    for name in BEST if only is None else only.split(","):
        path = folder / name
        yield name, MaxCut(read_rudy(path if path.exists() else folder / f"{name}.gz"))


def random_graph(nodes: int, edges: int, signs: bool, seed: int) -> MaxCut:
    """Edges between random nodes, of weight 1 or of random signs."""
    generator = np.random.default_rng(seed)
    pairs = generator.integers(nodes, size=(3 * edges, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], 1), axis=0)
    return _problem(nodes, generator.permutation(pairs)[:edges], signs, generator)


def torus(rows: int, columns: int, signs: bool, seed: int) -> MaxCut:
    """A square lattice with periodic ends."""
    at = np.arange(rows * columns).reshape(rows, columns)
    pairs = [np.stack([at.ravel(), np.roll(at, -1, axis).ravel()], 1) for axis in (0, 1)]
    return _problem(at.size, np.concatenate(pairs), signs, np.random.default_rng(seed))


def planar_union(nodes: int, signs: bool, seed: int) -> MaxCut:
    """The edges of two triangulations of random points, on the same nodes."""
    generator, pairs = np.random.default_rng(seed), []
    for _ in range(2):
        triangles = scipy.spatial.Delaunay(generator.random((nodes, 2))).simplices
        names = generator.permutation(nodes)[triangles]
        pairs += [names[:, list(ends)] for ends in ((0, 1), (1, 2), (0, 2))]
    unique = np.unique(np.sort(np.concatenate(pairs), 1), axis=0)
    return _problem(nodes, unique, signs, generator)


def complete(nodes: int, seed: int) -> MaxCut:
    """All pairs, of random signs."""
    pairs = np.array(list(itertools.combinations(range(nodes), 2)))
    return _problem(nodes, pairs, True, np.random.default_rng(seed))


def regular(nodes: int, seed: int) -> MaxCut:
    """Up to three neighbours each: three random perfect matchings."""
    generator = np.random.default_rng(seed)
    pairs = [generator.permutation(nodes).reshape(-1, 2) for _ in range(3)]
    unique = np.unique(np.sort(np.concatenate(pairs), 1), axis=0)
    return _problem(nodes, unique, False, generator)


def generated(seed: int) -> dict[str, MaxCut]:
    """Five kinds of generated graphs."""
    return {
        "random, 1,500 nodes, degree 20": random_graph(1500, 15000, False, seed),
        "random signs, 1,500 nodes, degree 20": random_graph(1500, 15000, True, seed),
        "torus 30 x 50, random signs": torus(30, 50, True, seed),
        "two planar graphs, 1,000 nodes": planar_union(1000, False, seed),
        "complete, 300 nodes, random signs": complete(300, seed),
    }


def for_tuning(seed: int) -> dict[str, MaxCut]:
    """Graphs to tune on: other sizes and kinds than those that are reported."""
    return {
        "random": random_graph(900, 16000, False, seed),
        "random signs": random_graph(1800, 16000, True, seed),
        "torus signs": torus(36, 40, True, seed),
        "planar": planar_union(900, False, seed),
        "planar signs": planar_union(1800, True, seed),
        "regular": regular(1200, seed),
    }


def _problem(nodes: int, pairs: np.ndarray, signs: bool, generator: np.random.Generator) -> MaxCut:
    weights = generator.choice([-1, 1], len(pairs)) if signs else np.ones(len(pairs), np.int64)
    return MaxCut(WeightedGraph.from_entries(nodes, pairs[:, 0], pairs[:, 1], weights))


# Solvers: the best cut found in so many seconds


def oscillators(problem: MaxCut, seconds: float, seed: int) -> float:
    """Entrain, with the defaults."""
    return solve(problem, time_limit=seconds, seed=seed, device="cpu").value


def oscillators_descent(problem: MaxCut, seconds: float, seed: int) -> float:
    """Entrain, with a greedy descent after every batch."""
    return solve(problem, time_limit=seconds, seed=seed, device="cpu", descent=True).value


def bifurcation(mode: str) -> Callable[[MaxCut, float, int], float]:
    """simulated-bifurcation with its defaults, begun again until the time is over."""

    def run(problem: MaxCut, seconds: float, seed: int) -> float:
        import simulated_bifurcation

        matrix = torch.from_numpy(problem.graph.matrix.toarray()).float()
        torch.manual_seed(seed)
        ends, best = time.perf_counter() + seconds, -np.inf
        while (left := ends - time.perf_counter()) > 0:
            options: dict[str, Any] = {"mode": mode, "verbose": False, "timeout": left}
            spins, _ = simulated_bifurcation.minimize(matrix, domain="spin", **options)
            best = max(best, float(problem.values(np.rint(spins.numpy()))[0]))
        return best

    return run


def annealing_dwave(problem: MaxCut, seconds: float, seed: int) -> float:
    """dwave-samplers' simulated annealing, with twice the sweeps in every call."""
    from dwave.samplers import SimulatedAnnealingSampler

    graph = problem.graph
    couplings = dict(zip(zip(*_ends(graph), strict=True), graph.weights.tolist(), strict=True))
    ends, best, sweeps = time.perf_counter() + seconds, -np.inf, 250
    while time.perf_counter() < ends:
        samples = SimulatedAnnealingSampler().sample_ising(
            {},
            couplings,
            num_reads=20,
            num_sweeps=sweeps,
            seed=seed,
            interrupt_function=lambda: time.perf_counter() > ends,
        )
        best, sweeps, seed = max(best, _best(problem, samples)), 2 * sweeps, seed + 1
    return best


def tabu(problem: MaxCut, seconds: float, seed: int) -> float:
    """dwave-samplers' tabu search."""
    from dwave.samplers import TabuSampler

    graph = problem.graph
    couplings = dict(zip(zip(*_ends(graph), strict=True), graph.weights.tolist(), strict=True))
    limit = int(1000 * seconds)
    samples = TabuSampler().sample_ising({}, couplings, num_reads=1, timeout=limit, seed=seed)
    return _best(problem, samples)


def annealing_numpy(problem: MaxCut, seconds: float, seed: int) -> float:
    """Simulated annealing of 64 runs side by side in NumPy, with ever more sweeps."""
    generator, matrix = np.random.default_rng(seed), problem.graph.matrix
    neighbours = [
        (matrix.indices[slice(*ends)], matrix.data[slice(*ends)].astype(np.float32))
        for ends in itertools.pairwise(matrix.indptr)
    ]
    ends, best, sweeps = time.perf_counter() + seconds, -np.inf, 25
    while time.perf_counter() < ends:
        spins = generator.choice(np.array([-1, 1], np.float32), (problem.variables, 64))
        for temperature in np.linspace(3.0, 0.1, sweeps):
            if time.perf_counter() > ends:
                break
            for i, (others, weights) in enumerate(neighbours):
                change = -2 * spins[i] * (weights @ spins[others])
                accept = generator.random(64) < np.exp(np.minimum(-change / temperature, 0))
                spins[i] = np.where(accept, -spins[i], spins[i])
        best, sweeps = max(best, float(problem.values(spins.T).max())), 2 * sweeps
    return best


SOLVERS: dict[str, Callable[[MaxCut, float, int], float]] = {
    "entrain": oscillators,
    "entrain, with descent": oscillators_descent,
    "simulated-bifurcation, ballistic": bifurcation("ballistic"),
    "simulated-bifurcation, discrete": bifurcation("discrete"),
    "dwave-samplers, annealing": annealing_dwave,
    "dwave-samplers, tabu": tabu,
    "annealing in NumPy": annealing_numpy,
}


def _ends(graph: WeightedGraph) -> tuple[list[int], list[int]]:
    return graph.first.tolist(), graph.second.tolist()


def _best(problem: MaxCut, samples: Any) -> float:
    order = np.argsort(np.array(samples.variables))
    spins = np.ones((len(samples), problem.variables))
    spins[:, np.array(samples.variables)[order]] = samples.record.sample[:, order]
    return float(problem.values(spins).max())


# Measurements


def compare(options: argparse.Namespace) -> dict[str, Any]:
    """Cuts of every solver at equal wall time; the order of solvers rotates from graph to graph."""
    load = round(os.getloadavg()[0], 1)  # of other programs
    problems = dict(gset(options.graphs, options.only))
    if options.only is None:
        problems |= generated(seed=0)
    warm = torus(6, 6, True, 0)
    names = [name for name in SOLVERS if name.startswith(tuple(options.solvers.split(",")))]
    for name in names:  # compiles
        SOLVERS[name](warm, 0.5, 0)
    rows: dict[str, dict[str, float]] = {}
    used: dict[str, dict[str, float]] = {}
    for index, (graph, problem) in enumerate(track(problems.items(), "compare", transient=True)):
        rotated = names[index % len(names) :] + names[: index % len(names)]
        cuts, times = dict[str, float](), dict[str, float]()
        for name in rotated:
            began = time.process_time()
            cuts[name] = SOLVERS[name](problem, options.seconds, index)
            times[name] = round(time.process_time() - began, 2)
        rows[graph] = {name: cuts[name] for name in names}
        used[graph] = {name: times[name] for name in names}
    reference = {graph: BEST.get(graph, max(cuts.values())) for graph, cuts in rows.items()}
    return {
        "machine": f"{platform.machine()}, {cpu_share()} cores",
        "load": load,
        "seconds": options.seconds,
        "reference": reference,
        "cuts": rows,
        "cpu_seconds": used,
        "mean_percent_of_reference": {
            name: 100 * float(np.mean([rows[g][name] / reference[g] for g in rows]))
            for name in names
        },
    }


def on_gpu(options: argparse.Namespace) -> dict[str, Any]:
    """Cuts of 128 runs: with 2,000 to 16,000 steps, read once, and within five seconds."""
    problems = dict(gset(options.graphs, options.only))
    device = options.device
    solve(torus(20, 20, True, 0), restarts=128, steps=50, device=device)  # compiles
    result: dict[str, Any] = {"device": _device_name(device), "bar": BAR, "best_known": BEST}
    for steps in (2000, 4000, 8000, 16000):
        rows = {}
        for name, problem in problems.items():
            annealing = Annealing(steps=steps, readings=1)
            began = time.perf_counter()
            solution = solve(problem, restarts=128, annealing=annealing, device=device)
            seconds = time.perf_counter() - began
            rows[name] = _row(name, solution.value, seconds, solution.batches[0].seconds)
        result[f"{steps} steps"] = _with_mean(rows)
    rows = {}
    for name, problem in problems.items():
        began = time.perf_counter()
        ramps = Annealing(readings=2)  # states are read on the CPU
        solution = solve(problem, time_limit=5.0, annealing=ramps, device=device)
        rows[name] = _row(name, solution.value, time.perf_counter() - began, solution.seconds)
    result["5 seconds"] = _with_mean(rows)
    return result


def _row(name: str, cut: float, seconds: float, simulated: float) -> dict[str, Any]:
    return {
        "cut": cut,
        "percent": 100 * cut / BEST[name],
        "reaches_bar": cut >= BAR[name],
        "seconds": round(seconds, 3),
        "seconds_of_runs": round(simulated, 3),
    }


def _with_mean(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "mean_percent": float(np.mean([row["percent"] for row in rows.values()])),
        "most_seconds": max(row["seconds"] for row in rows.values()),
        "below_bar": [name for name, row in rows.items() if not row["reaches_bar"]],
        "graphs": rows,
    }


def _device_name(device: str) -> str:
    return torch.cuda.get_device_name(0) if device.startswith("cuda") else platform.machine()


def tune(options: argparse.Namespace) -> dict[str, Any]:
    """Mean and best cut of random settings on generated graphs, over the best of all settings."""
    problems, generator = for_tuning(seed=7), np.random.default_rng(0)
    default, rows = Annealing(steps=options.steps, readings=1), list[dict[str, Any]]()
    for index in track(range(options.settings), "settings", transient=True):
        annealing = default
        if index:
            annealing = replace(
                default,
                injection=float(np.exp(generator.uniform(np.log(0.15), np.log(1.0)))),
                injection_power=float(generator.choice([1.0, 1.5, 2.0, 3.0])),
                temperature=float(np.exp(generator.uniform(np.log(0.12), np.log(0.6)))),
                temperature_power=float(generator.choice([0.5, 0.7, 1.0, 1.5])),
                first_coupling=float(generator.choice([1.0, 1.0, 0.5])),
                time_step=float(generator.uniform(0.8, 1.4)),
            )
        cuts = {}
        for name, problem in problems.items():
            solution = solve(problem, restarts=64, annealing=annealing, device=options.device)
            cuts[name] = (float(np.mean(solution.values)), float(solution.value))
        rows.append({"annealing": annealing.to_json(), "cuts": cuts})
    best = {name: max(row["cuts"][name][1] for row in rows) for name in problems}
    for row in rows:
        for key, part in (("mean_percent", 0), ("best_percent", 1)):
            shares = [100 * row["cuts"][name][part] / best[name] for name in problems]
            row[key] = float(np.mean(shares))
    rows.sort(key=lambda row: -row["mean_percent"])
    return {"steps": options.steps, "best": best, "settings": rows}


if __name__ == "__main__":
    main()
