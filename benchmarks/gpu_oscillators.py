"""Segments, sparse graphs and large matrices on a GPU, in one run. Writes one JSON object.

    python benchmarks/gpu_oscillators.py times.json

Each time is that of a rollout and its pullback, the median of several calls. Those of N = 74 are
replays of a CUDA graph: a call is as short as its launch.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from entrain import kernels
from entrain.kernels import gpu, gpu_steps
from entrain.physics import Dynamics, PhaseModel, Schedule
from entrain.physics.couplings import SparseCouplings, SparseGraph

DEVICE = torch.device("cuda:0")
CALLS, REPLAYS = 5, 50


def forward_and_backward(
    model: PhaseModel, dynamics: Dynamics, backend: ModuleType = kernels
) -> PhaseModel:
    """The gradient of the sum of the final phases."""
    phases, pullback = backend.rollout_with_pullback(model, dynamics)
    return pullback(torch.ones_like(phases))


def seconds_of(call: Callable[[], object]) -> float:
    """Median seconds of a call, after one that compiles."""
    call()
    times = []
    for _ in range(CALLS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def replayed(call: Callable[[], object]) -> float:
    """Median seconds of a call inside a CUDA graph."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    times = []
    for _ in range(REPLAYS):
        began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        began.record()
        graph.replay()
        ended.record()
        ended.synchronize()
        times.append(began.elapsed_time(ended) / 1000.0)
    return statistics.median(times)


def dense_model(batch: int, oscillators: int) -> PhaseModel:
    """A random model with a matrix."""
    torch.manual_seed(0)
    couplings = torch.randn(1, oscillators, oscillators, device=DEVICE) / math.sqrt(oscillators)
    return PhaseModel(torch.randn(1, batch, oscillators, device=DEVICE), couplings)


def sparse_model(batch: int, oscillators: int, degree: int) -> PhaseModel:
    """A random model on a random graph of this mean degree."""
    torch.manual_seed(0)
    pairs = torch.randint(oscillators, (oscillators * degree, 2)).sort(1).values
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].unique(dim=0)
    pairs = pairs[torch.randperm(len(pairs))[: oscillators * degree // 2]]
    graph = SparseGraph.from_pairs(pairs[:, 0], pairs[:, 1], oscillators).to(DEVICE)
    values = torch.randn(1, graph.edges, device=DEVICE) / math.sqrt(degree)
    fields = torch.randn(1, batch, oscillators, device=DEVICE)
    return PhaseModel(fields, SparseCouplings(values, graph))


def segments() -> dict[str, object]:
    """A rollout of 40 segments against a constant one: N = 74, B = 256, K = 200."""
    steps, count = 200, 40
    model, dynamics = dense_model(256, 74), Dynamics(steps=steps)
    model = replace(model, terms={"injection": torch.ones_like(model.fields[:, :1])})
    drive = torch.randn(count, *model.fields.shape, device=DEVICE)
    ramps = torch.linspace(0.0, 1.0, steps, device=DEVICE)
    schedules = {
        "constant": None,
        "drive": Schedule(drive=drive, hold=steps // count),
        "injection": Schedule({"injection": ramps}),
        "couplings": Schedule({"couplings": ramps}),
        "drive, injection and couplings": Schedule(
            {"injection": ramps, "couplings": ramps}, drive, steps // count
        ),
    }
    times = {
        name: replayed(partial(forward_and_backward, replace(model, schedule=schedule), dynamics))
        for name, schedule in schedules.items()
    }
    ratios = {name: seconds / times["constant"] for name, seconds in times.items()}
    return {"seconds": times, "ratio to constant": ratios}


def sparse() -> dict[str, object]:
    """Seconds and peak memory of 100,000 oscillators, and the growth of the cost with edges."""
    model, dynamics = sparse_model(32, 100_000, 8), Dynamics(steps=200)
    torch.cuda.reset_peak_memory_stats()
    seconds = seconds_of(partial(forward_and_backward, model, dynamics))
    memory = torch.cuda.max_memory_allocated() / 2**30
    points = {}
    for oscillators in (12_500, 25_000, 50_000, 100_000, 200_000):
        model = sparse_model(32, oscillators, 8)
        edges = model.couplings.graph.edges if isinstance(model.couplings, SparseCouplings) else 0
        points[edges] = seconds_of(partial(forward_and_backward, model, Dynamics(steps=50)))
    return {
        "seconds": seconds,
        "peak GiB": memory,
        "seconds of 50 steps by edges": points,
        "exponent in edges": slope(points),
    }


def slope(points: dict[int, float]) -> float:
    """Exponent of a power law, by least squares of the logarithms."""
    x = torch.tensor([math.log(key) for key in points])
    y = torch.tensor([math.log(value) for value in points.values()])
    x = x - x.mean()
    return float((x * (y - y.mean())).sum() / (x * x).sum())


def large() -> dict[int, dict[str, float]]:
    """Matrices beyond a block of threads, against plain PyTorch, and the difference in float32."""
    results = {}
    for oscillators in (2000, 4000):
        model, dynamics = dense_model(64, oscillators), Dynamics(steps=50)
        ours = seconds_of(partial(forward_and_backward, model, dynamics))
        found = forward_and_backward(model, dynamics)
        with kernels.use("reference"):
            plain = seconds_of(partial(forward_and_backward, model, dynamics))
            wanted = forward_and_backward(model, dynamics)
        results[oscillators] = {
            "seconds": ours,
            "PyTorch seconds": plain,
            "ratio": plain / ours,
            "difference of dJ": difference(found.matrix, wanted.matrix),
        }
    return results


def difference(found: Tensor, wanted: Tensor) -> float:
    """Relative, in the largest norm."""
    return float((found - wanted).abs().max() / wanted.abs().max())


def throughput() -> dict[str, dict[str, float]]:
    """TFLOP/s: 4 N^2 operations forward, 8 N^2 backward for each sample and step."""
    rates = {}
    for oscillators, batch in itertools.product((512, 1000), (256, 1056, 4224)):
        model, dynamics = dense_model(batch, oscillators), Dynamics(steps=100)
        work = 12e-12 * oscillators**2 * batch * dynamics.steps
        rates[f"N = {oscillators}, B = {batch}"] = {
            name: work / seconds_of(partial(forward_and_backward, model, dynamics, backend))
            for name, backend in (("one launch", gpu), ("one launch per step", gpu_steps))
        }
    return rates


def small_sparse() -> dict[int, dict[str, float]]:
    """Seconds on sparse graphs of few oscillators, by a matrix and by edges."""
    times = {}
    for oscillators in (74, 128, 256, 512, 1000):
        model, dynamics = sparse_model(32, oscillators, 8), Dynamics(steps=50)
        times[oscillators] = {
            name: seconds_of(partial(forward_and_backward, model, dynamics, backend))
            for name, backend in (("matrix", gpu), ("edges", gpu_steps))
        }
    return times


def main() -> None:
    """Measure everything and write it."""
    if not torch.cuda.is_available():
        sys.exit("this machine has no CUDA device")
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/gpu_oscillators.py OUT.json")
    results = {
        "device": torch.cuda.get_device_name(DEVICE),
        "torch": torch.__version__,
        "40 segments, N = 74, B = 256, K = 200": segments(),
        "sparse, N = 100,000, degree 8, B = 32, K = 200": sparse(),
        "dense, B = 64, K = 50": large(),
        "TFLOP/s, K = 100": throughput(),
        "seconds of sparse graphs, degree 8, B = 32, K = 50": small_sparse(),
    }
    Path(sys.argv[1]).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
