"""How the time of a training step grows with edges, oscillators, batch and steps, on a CPU.

python benchmarks/oscillator_scale.py [--large] [--mnist FOLDER]

A step is a rollout with all gradients. Writes results/oscillator-scale-cpu.json (CPU seconds, the
best of several runs) and a log-log figure beside it. `--large` adds 100,000 oscillators of degree
8; `--mnist` an epoch of MNIST on a King's graph of 1,968 oscillators. Takes 2 minutes, with both 6.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from rich.progress import track

import entrain
from entrain import kernels
from entrain.physics import Dynamics, PhaseModel, Schedule, SparseCouplings, SparseGraph
from entrain.utils.threads import cpu_share

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "results" / "oscillator-scale-cpu.json"
AXES: dict[str, tuple[int, ...]] = {
    "edges": (1_000, 4_000, 16_000, 64_000),
    "oscillators, all coupled": (64, 128, 256, 512),
    "batch": (32, 128, 512, 2048),
    "steps": (25, 100, 400, 1600),
}


def main() -> None:
    """Measure, write, draw, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--mnist", type=Path)
    options = parser.parse_args()
    results = json.loads(OUT.read_text()) if OUT.exists() else {}
    results["machine"] = f"{platform.machine()}, {cpu_share()} cores"
    results["sizes"] = AXES
    results["cpu_seconds"] = {axis: growth(axis, sizes) for axis, sizes in AXES.items()}
    results["exponents"] = {
        axis: exponent(AXES[axis], times) for axis, times in results["cpu_seconds"].items()
    }
    results["kings_graph"] = kings_graph()
    results["segments"] = segments()
    if options.large:
        results["large"] = large()
    if options.mnist:
        results["mnist"] = mnist_epoch(options.mnist)
    OUT.write_text(json.dumps(results, indent=1) + "\n")
    draw(results, OUT.with_suffix(".png"))
    print(json.dumps(results, indent=1))  # noqa: T201


def normal(*shape: int) -> torch.Tensor:
    """Normal numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def ring(oscillators: int, degree: int, *, shuffled: bool = False) -> SparseGraph:
    """Every oscillator coupled with its `degree` nearest, or those of a random order."""
    first = torch.arange(oscillators).repeat(degree // 2)
    second = (first + 1 + torch.arange(degree // 2).repeat_interleave(oscillators)) % oscillators
    ends = torch.stack([first, second], 1)
    if shuffled:
        ends = torch.randperm(oscillators, generator=torch.Generator().manual_seed(0))[ends]
    ends = ends.sort(1).values
    return SparseGraph.from_pairs(ends[:, 0], ends[:, 1], oscillators)


def sparse(graph: SparseGraph, batch: int) -> PhaseModel:
    """A model on a graph."""
    return PhaseModel(
        normal(1, batch, graph.oscillators), SparseCouplings(normal(1, graph.edges), graph)
    )


def dense(oscillators: int, batch: int) -> PhaseModel:
    """A model with all pairs coupled."""
    couplings = normal(1, oscillators, oscillators).triu(1) / oscillators**0.5
    return PhaseModel(normal(1, batch, oscillators), couplings + couplings.mT)


def step(model: PhaseModel, steps: int) -> Callable[[], None]:
    """A rollout with all gradients."""

    def work() -> None:
        phases, pullback = kernels.rollout_with_pullback(model, Dynamics(1.0, 0.2, steps))
        pullback(phases.sin())

    return work


def best(work: Callable[[], None], repeats: int = 5) -> float:
    """Least CPU seconds of several runs, after one that compiles and allocates."""
    work()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def growth(axis: str, sizes: tuple[int, ...]) -> list[float]:
    """CPU seconds along an axis."""
    times = []
    for size in track(sizes, description=axis, transient=True):
        if axis == "edges":  # degree 8: two directed edges a coupler
            work = step(sparse(ring(size // 4, 8), 32), 50)
        elif axis == "batch":
            work = step(dense(74, size), 50)
        elif axis == "steps":
            work = step(dense(74, 64), size)
        else:
            work = step(dense(size, 32), 50)
        times.append(best(work))
    return times


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """Slope of the last three points in a log-log plot."""
    return float(np.polyfit(np.log(sizes[1:]), np.log(times[1:]), 1)[0])


def kings_graph() -> dict[str, float]:
    """King's graph of 2,000 oscillators, B = 32, 50 steps: by edges, and as a matrix."""
    graph = king(40, 50)
    model = sparse(graph, 32)
    matrix = PhaseModel(model.fields, model.matrix)
    return {"edges": best(step(model, 50)), "matrix": best(step(matrix, 50), 2)}


def king(rows: int, columns: int) -> SparseGraph:
    """A grid whose neighbours are coupled, also along diagonals."""
    index = torch.arange(rows * columns).reshape(rows, columns)
    ends = [
        (index[:, :-1], index[:, 1:]),
        (index[:-1], index[1:]),
        (index[:-1, :-1], index[1:, 1:]),
        (index[:-1, 1:], index[1:, :-1]),
    ]
    first, second = (torch.cat([pair[k].flatten() for pair in ends]) for k in (0, 1))
    return SparseGraph.from_pairs(first, second, rows * columns)


def segments() -> dict[str, float]:
    """74 oscillators, B = 256, 200 steps: constant fields, and 40 segments of them, in turn."""
    constant = dense(74, 256)
    drive = constant.fields.expand(40, 1, 256, 74).contiguous()
    zeros = torch.zeros_like(constant.fields)
    varying = PhaseModel(zeros, constant.matrix, schedule=Schedule(drive=drive, hold=5))
    works = {"constant": step(constant, 200), "40 segments": step(varying, 200)}
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(15):
        for name, work in works.items():
            times[name].append(best(work, 1))
    medians = {name: float(np.median(values)) for name, values in times.items()}
    return medians | {"ratio": medians["40 segments"] / medians["constant"]}


def large() -> dict[str, float]:
    """100,000 oscillators of degree 8 in random order, B = 32, 200 steps with all gradients."""
    work = step(sparse(ring(100_000, 8, shuffled=True), 32), 200)
    began, used = time.perf_counter(), time.process_time()
    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - used,
        "peak_gib": peak,
    }


def mnist_epoch(folder: Path) -> dict[str, Any]:
    """An epoch of MNIST on King's graph of 1,968 oscillators, inputs on every second one."""
    data = entrain.load_dataset("mnist", folder)
    graph = king(41, 48)
    pairs = torch.stack([graph.rows, graph.columns], 1)[graph.rows < graph.columns]
    network = entrain.Oscillators(
        pairs.numpy(),
        oscillators=1968,
        coupling=0.3,
        inputs=784,
        input_nodes=range(0, 1968, 2),
        read=range(181, 1968, 180)[:10],
        trainable=("couplings", "fields", "input_weights"),
        observation_time=2.0,
        steps=50,
    )
    inputs, labels = torch.as_tensor(data.train.features / 255.0).float(), data.train.labels
    labels = torch.as_tensor(labels).long()
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0)).split(256)
    began = time.perf_counter()
    for rows in track(order, description="an epoch of MNIST", transient=True):
        loss = torch.nn.functional.cross_entropy(4.0 * network(inputs[rows]), labels[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    seconds = time.perf_counter() - began
    validation = torch.as_tensor(data.validation.features / 255.0).float()
    with torch.no_grad():
        answers = torch.cat([network(part).argmax(-1) for part in validation.split(1000)])
    correct = answers == torch.as_tensor(data.validation.labels)
    return {
        "oscillators": 1968,
        "couplers": network.couplers,
        "examples": len(inputs),
        "seconds": seconds,
        "validation_top1": 100.0 * float(correct.double().mean()),
    }


def draw(results: dict[str, Any], path: Path) -> None:
    """CPU seconds against size, with the exponents."""
    figure, axes = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
    for axis, times in results["cpu_seconds"].items():
        label = f"{axis}: exponent {results['exponents'][axis]:.2f}"
        axes.loglog(AXES[axis], times, "o-", ms=4, label=label)
    axes.set_xlabel("size")
    axes.set_ylabel("CPU seconds of a training step")
    figure.legend(fontsize=7, loc="outside lower center", ncols=2)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
