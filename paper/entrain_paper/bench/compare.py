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

Progress = Callable[[str], None]
TURN_S = 0.02  # seconds that a turn lasts at least
SHARE_S = 15.0  # seconds of timed calls after which a contestant sits out


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
    """JSON values: for each contestant the step and inference medians (ms), the ratio to ours,
    the gradient error, the seconds of the first call, and the memory of a step (MB).

    Each round runs every contestant once, so that all see the same state of the machine. A
    contestant that is not installed, fails or gives other results is named, without a speed.
    """
    names = [contestant.name for contestant in backends]
    for name in without:
        if name not in names:
            raise unknown_name("contestant", name, names)
    say = progress or (lambda _: None)
    rows: dict[str, dict[str, Any]] = {}
    steps: dict[str, Callable[[], Any]] = {}
    rollouts: dict[str, Callable[[], Any]] = {}
    for contestant in backends:
        say(f"preparing {contestant.name}")
        row = rows[contestant.name] = {}
        if contestant.name in without:
            row["status"] = "left out, as asked"
            continue
        missing = contestant.missing()
        if missing is not None:
            row["status"] = f"not installed: {missing}"
            continue
        try:
            train, _ = contestant.prepare(problem)
            began = time.perf_counter()
            found = train()
            synchronise(problem)
            row["first_call_s"] = time.perf_counter() - began
            row["error"] = problem.error(found)
            train()
            infer = contestant.prepare(replace(problem, batch=inferences))[1]
            infer()
        except Exception as error:  # a peer that fails is a result of the comparison
            row["status"] = f"failed: {type(error).__name__}: {str(error)[:200]}"
            continue
        if not row["error"] <= LARGEST_ERROR:
            row["status"] = "differs from the reference"
            continue
        row["status"] = "ok"
        steps[contestant.name], rollouts[contestant.name] = train, infer
    times = interleaved(steps, problem, rounds, say)
    inference_times = interleaved(rollouts, problem, max(3, rounds // 2), say)
    for name in steps:
        rows[name]["step_ms"] = times[name]
        rows[name]["inference_ms"] = inference_times[name]
        if OURS.name in steps:
            rows[name]["step_ratio"] = times[name] / times[OURS.name]
            rows[name]["inference_ratio"] = inference_times[name] / inference_times[OURS.name]
        if memory:
            say(f"memory of {name}")
            rows[name]["memory_mb"] = step_memory(name, problem)
    return {
        "problem": asdict(problem),
        "inferences": inferences,
        "rounds": rounds,
        "backends": rows,
        "environment": environment(problem),
    }


def interleaved(
    calls: dict[str, Callable[[], Any]], problem: Problem, rounds: int, say: Progress
) -> dict[str, float]:
    """The median milliseconds of each call over `rounds` rounds in turn.

    A short call is repeated in its turn until the clock can tell it from its neighbours; one
    that has had its share of time sits out the rounds that are left.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds):
        for name, call in calls.items():
            if sum(spent[name]) > SHARE_S:
                continue
            say(f"round {turn + 1} of {rounds}: {name}")
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
    """What the numbers were measured with."""
    device = "cpu" if problem.device == "cpu" else torch.cuda.get_device_name()
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": device,
        "threads": torch.get_num_threads(),
        "machine": platform.machine(),
    }
