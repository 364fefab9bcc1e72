"""Memory of one training step, measured in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import torch

from entrain_paper.bench.backends import BACKENDS
from entrain_paper.bench.problem import Problem


def step_memory(name: str, problem: Problem) -> float | None:
    """Extra memory (MB) of a training step of a backend; None if it cannot be measured."""
    command = [sys.executable, "-m", __name__, name, json.dumps(asdict(problem))]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(process.stdout.split()[-1]) if process.returncode == 0 else None


def _measure(name: str, problem: Problem) -> float:
    backend = next(backend for backend in BACKENDS if backend.name == name)
    backend.prepare(replace(problem, batch=8, steps=2))[0]()  # loads and compiles once
    train, _ = backend.prepare(problem)
    if problem.device != "cpu":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        train()
        return (torch.cuda.max_memory_allocated() - before) / 1e6
    resident = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    train()
    return (_resident("VmHWM") - resident) / 1e3


def _resident(field: str) -> float:
    """A field of /proc/self/status, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(field)))


if __name__ == "__main__":
    sys.stdout.write(f"{_measure(sys.argv[1], Problem(**json.loads(sys.argv[2])))}\n")
