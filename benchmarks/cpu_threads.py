"""Times of the CPU kernels and of `Model.predict` by number of threads, as one JSON file.

    python benchmarks/cpu_threads.py OUT.json

A training step (N = 74, B = 256, K = 200), 10,000 inferences and one, each by the kernel alone and
by `predict` of a shipped model, and PyTorch's float32 product, whose rate is 100 %. With a GPU also
`predict` there. The numbers of threads take turns; under a minute on 16 cores.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import entrain
from entrain import kernels
from entrain.physics import Dynamics, PhaseModel
from entrain.utils.threads import cpu_share
from entrain_paper.bench import Problem
from entrain_paper.bench.compare import interleaved
from entrain_paper.bench.sgemm import operations, product

THREADS = (1, 2, 4, 8, 16)
PASSES = 3  # over the numbers of threads
ROUNDS = 3  # of each number in a pass
IMAGES = 10_000
MODEL = "mnist-74-direct"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    problem = Problem()
    calls = cpu_calls(problem)
    spent: dict[int, dict[str, list[float]]] = {}
    for _ in range(PASSES):
        for count in (n for n in THREADS if n <= cpu_share()):
            torch.set_num_threads(count)
            times = interleaved(calls, problem, ROUNDS, lambda _: None)
            rows = spent.setdefault(count, {name: [] for name in times})
            for name, value in times.items():
                rows[name].append(value)
    result = {
        "problem": "N = 74, B = 256, K = 200, float32; milliseconds",
        "images": IMAGES,
        "threads": {count: summary(problem, rows) for count, rows in spent.items()},
        "lanes": kernels_lanes(),
        "environment": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "processor": processor(),
        },
    }
    if torch.cuda.is_available():
        result["gpu"] = gpu_times(problem) | {"device": torch.cuda.get_device_name()}
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    json.dump(result, sys.stdout, indent=1)


def cpu_calls(problem: Problem) -> dict[str, Callable[[], Any]]:
    """The calls, each compiled by one run."""
    fields, couplings, _ = problem.tensors()
    step_model, dynamics = PhaseModel(fields, couplings), problem.dynamics
    gradient = torch.ones_like(fields)

    def step() -> Any:
        _, pullback = kernels.rollout_with_pullback(step_model, dynamics)
        return pullback(gradient)

    model = entrain.load(MODEL)
    pixels = entrain.load_test_split("mnist").features[:IMAGES]
    with torch.no_grad():
        phases = model.network.phase_model(model.inputs(pixels))
    whole = PhaseModel(phases.fields[None], phases.couplings[None])
    one = PhaseModel(whole.fields[:, :1].clone(), whole.couplings)
    steps: Dynamics = model.network.dynamics
    multiply, _ = product("cpu")
    calls: dict[str, Callable[[], Any]] = {
        "step": step,
        "inferences": lambda: kernels.rollout(whole, steps),
        "predict": lambda: model.predict(pixels),
        "one inference": lambda: kernels.rollout(one, steps),
        "predict one": lambda: model.predict(pixels[:1]),
        "sgemm": multiply,
    }
    for call in calls.values():
        call()
    return calls


def summary(problem: Problem, rows: dict[str, list[float]]) -> dict[str, float]:
    """Medians in milliseconds, shares of sgemm's rate, and what `predict` adds to the kernel."""
    times = {name: statistics.median(values) for name, values in rows.items()}
    _, products = product("cpu")
    of_step, of_batch = operations(problem)
    rate = products / times["sgemm"]
    shares = {
        "step of sgemm": of_step / times["step"] / rate,
        "inferences of sgemm": of_batch * IMAGES / problem.batch / times["inferences"] / rate,
        "predict over kernel": times["predict"] / times["inferences"] - 1.0,
        "sgemm GFLOP/s": 1e-6 * rate,
    }
    return {name: round(value, 4) for name, value in (times | shares).items()}


def gpu_times(problem: Problem) -> dict[str, float]:
    """Milliseconds of `predict` on the GPU, of all images and of one."""
    model = entrain.load(MODEL).to("cuda")
    pixels = entrain.load_test_split("mnist").features[:IMAGES]
    with torch.no_grad():
        phases = model.network.phase_model(model.inputs(pixels))
    whole = PhaseModel(phases.fields[None], phases.couplings[None])
    one = PhaseModel(whole.fields[:, :1].clone(), whole.couplings)
    steps = model.network.dynamics

    def finished(call: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> None:
            call()
            torch.cuda.synchronize()

        run()
        return run

    calls = {
        "inferences": finished(lambda: kernels.rollout(whole, steps)),
        "predict": finished(lambda: model.predict(pixels)),
        "one inference": finished(lambda: kernels.rollout(one, steps)),
        "predict one": finished(lambda: model.predict(pixels[:1])),
    }
    times = interleaved(calls, problem, PASSES * ROUNDS, lambda _: None)
    return {name: round(value, 4) for name, value in times.items()}


def kernels_lanes() -> int:
    """Lanes of the vectors that the CPU kernels multiply."""
    from entrain.kernels.blocks import BLOCK_LANES

    return BLOCK_LANES


def processor() -> str:
    """The name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
