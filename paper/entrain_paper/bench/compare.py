"""All backends in one interleaved run: medians, ratios, errors, memory, compile time."""

from __future__ import annotations

import math
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from entrain.utils.errors import unknown_name
from entrain_paper.bench.backends import BACKENDS, OURS, Backend
from entrain_paper.bench.memory import step_memory
from entrain_paper.bench.problem import LARGEST_ERROR, Problem
from entrain_paper.bench.sgemm import operations, product

Progress = Callable[[str], None]
TURN_S = 0.02  # least seconds of a turn
SGEMM = "float32 product"
SHARE_S = 15.0  # seconds of timed calls after which a backend skips the other rounds


def compare(
    problem: Problem,
    *,
    inferences: int = 10_000,
    rounds: int = 7,
    backends: Sequence[Backend] = BACKENDS,
    without: Sequence[str] = (),
    memory: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Median times of a step and of an inference (ms), their ratios to ours, their rates as shares
    of PyTorch's float32 products, the gradient error, the seconds of the first call and the memory
    of a step (MB) of each backend, as JSON values.

    Each round runs every backend once, so that all have the same state of the machine. A backend
    that is not installed, fails or gives different results has a status instead of times.
    """
    names = [backend.name for backend in backends]
    for name in without:
        if name not in names:
            raise unknown_name("backend", name, names)
    report = progress or (lambda _: None)
    rows: dict[str, dict[str, Any]] = {}
    steps: dict[str, Callable[[], Any]] = {}
    rollouts: dict[str, Callable[[], Any]] = {}
    for backend in backends:
        report(f"preparing {backend.name}")
        row = rows[backend.name] = {}
        if backend.name in without:
            row["status"] = "left out by --without"
            continue
        missing = backend.missing()
        if missing is not None:
            row["status"] = f"not installed: {missing}"
            continue
        try:
            train, _ = backend.prepare(problem)
            began = time.perf_counter()
            result = train()
            synchronise(problem)
            row["first_call_s"] = time.perf_counter() - began
            row["error"] = problem.error(result)
            train()
            infer = backend.prepare(replace(problem, batch=inferences))[1]
            infer()
        except Exception as error:  # a failure of a backend is a result
            row["status"] = f"failed: {type(error).__name__}: {str(error)[:200]}"
            continue
        if not row["error"] <= LARGEST_ERROR:
            row["status"] = "differs from the reference"
            continue
        row["status"] = "ok"
        steps[backend.name], rollouts[backend.name] = train, infer
    multiply, products = product(problem.device)
    times = interleaved(steps | {SGEMM: multiply}, problem, rounds, report)
    rollouts_and_product = rollouts | {SGEMM: multiply}
    inference_times = interleaved(rollouts_and_product, problem, max(3, rounds // 2), report)
    of_step, _ = operations(problem)
    _, of_inference = operations(replace(problem, batch=inferences))
    for name in steps:
        rows[name]["step_share"] = of_step / products * times[SGEMM] / times[name]
        share = of_inference / products * inference_times[SGEMM] / inference_times[name]
        rows[name]["inference_share"] = share
        rows[name]["step_ms"] = times[name]
        rows[name]["inference_ms"] = inference_times[name]
        if OURS.name in steps:
            rows[name]["step_ratio"] = times[name] / times[OURS.name]
            rows[name]["inference_ratio"] = inference_times[name] / inference_times[OURS.name]
        if memory:
            report(f"memory of {name}")
            rows[name]["memory_mb"] = step_memory(name, problem)
    return {
        "problem": asdict(problem),
        "inferences": inferences,
        "rounds": rounds,
        "backends": rows,
        "sgemm_gflops": 1e-6 * products / times[SGEMM],
        "environment": environment(problem),
    }


def interleaved(
    calls: dict[str, Callable[[], Any]], problem: Problem, rounds: int, report: Progress
) -> dict[str, float]:
    """Median milliseconds of each call over interleaved rounds.

    A short call is repeated until its turn lasts TURN_S. A call that has taken SHARE_S skips the
    other rounds.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds):
        for name, call in calls.items():
            if sum(spent[name]) > SHARE_S:
                continue
            report(f"round {turn + 1} of {rounds}: {name}")
            once = _seconds(call, 1, problem)
            times = math.ceil(TURN_S / once)
            spent[name].append(_seconds(call, times, problem) / times if times > 1 else once)
    return {name: 1e3 * statistics.median(values) for name, values in spent.items()}


def _seconds(call: Callable[[], Any], times: int, problem: Problem) -> float:
    synchronise(problem)
    began = time.perf_counter()
    for _ in range(times):
        call()
    synchronise(problem)
    return time.perf_counter() - began


def synchronise(problem: Problem) -> None:
    """Wait for the device."""
    if problem.device != "cpu":
        torch.cuda.synchronize()


def environment(problem: Problem) -> dict[str, Any]:
    """Device and versions of the measurement."""
    device = "cpu" if problem.device == "cpu" else torch.cuda.get_device_name()
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": device,
        "threads": torch.get_num_threads(),
        "machine": platform.machine(),
    }
