"""Device time of the CUDA kernels, as medians of CUDA-graph replays. Prints one JSON object.

    python benchmarks/device_times.py > times.json

`entrain bench` measures the time of a call, and of other backends; this measures the kernels.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from entrain import kernels
from entrain.physics import PhaseModel
from entrain.rules.two_stage_training import endpoint_loss
from entrain_paper.bench import Problem

REPLAYS = 50


def replayed(call: Callable[[], object]) -> float:
    """Median milliseconds of one call inside a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
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
        times.append(began.elapsed_time(ended))
    return statistics.median(times)


def _with_all_terms(model: PhaseModel) -> PhaseModel:
    """The model with frequencies, injection, lag and start phases."""
    value = 0.1 * torch.ones_like(model.fields[:, :1])
    lag = torch.full_like(model.fields[:, 0, 0], 0.1)
    return replace(model, frequencies=value, injection=value, lag=lag, start=15 * value)


def main() -> None:
    """Measure and print."""
    if not torch.cuda.is_available():
        sys.exit("this machine has no CUDA device")
    times: dict[str, float] = {}
    for runs in (1, 10):
        problem = Problem(device="cuda", runs=runs)
        fields, couplings, targets = problem.tensors()
        model, coefficients = PhaseModel(fields, couplings), fields / fields.std()
        name = f"{runs} x 256 samples"
        times[f"step, {name}"] = replayed(partial(endpoint_loss, model, targets, problem.dynamics))
        for nodes in (None, 32):
            times[f"path loss, {nodes or 200} times, {name}"] = replayed(
                partial(kernels.path_loss, model, coefficients, problem.dynamics, nodes=nodes)
            )
        times[f"step, all terms, {name}"] = replayed(
            partial(endpoint_loss, _with_all_terms(model), targets, problem.dynamics)
        )
        second = torch.full_like(model.fields[:, 0, :2], 0.1)
        times[f"step, second harmonic, {name}"] = replayed(
            partial(endpoint_loss, replace(model, harmonic=second), targets, problem.dynamics)
        )
    problem = Problem(device="cuda", batch=10_000)
    fields, couplings, _ = problem.tensors()
    times["10,000 inferences"] = replayed(
        partial(kernels.rollout, PhaseModel(fields, couplings), problem.dynamics)
    )
    problem = Problem(device="cuda", oscillators=160)
    fields, couplings, _ = problem.tensors()
    path = partial(
        kernels.path_loss,
        PhaseModel(fields, couplings),
        fields / fields.std(),
        problem.dynamics,
        nodes=32,
    )
    times["path loss, 32 times, 160 oscillators"] = replayed(path)
    with kernels.use("reference"):
        times["path loss, 32 times, 160 oscillators, PyTorch operations"] = replayed(path)
    for oscillators in (256, 300, 512, 1000):
        problem = Problem(device="cuda", oscillators=oscillators, steps=50)
        fields, couplings, targets = problem.tensors()
        step = partial(endpoint_loss, PhaseModel(fields, couplings), targets, problem.dynamics)
        times[f"step, {oscillators} oscillators, 50 steps"] = replayed(step)
        with kernels.use("reference"):
            times[f"step, {oscillators} oscillators, 50 steps, PyTorch operations"] = replayed(step)
    problem = Problem(device="cuda", oscillators=1000, steps=10_000)
    fields, couplings, targets = problem.tensors()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    endpoint_loss(PhaseModel(fields, couplings), targets, problem.dynamics)
    torch.cuda.synchronize()
    times["step, 1,000 oscillators, 10,000 steps"] = 1e3 * (time.perf_counter() - began)
    peak = torch.cuda.max_memory_allocated() / 2**20
    result = {"device": torch.cuda.get_device_name(), "ms": times, "cut_peak_mib": peak}
    json.dump(result, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
