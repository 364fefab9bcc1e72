"""Memory of one training step, measured in a process of its own."""

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
    """Extra memory (MB) of a training step by a contestant; None where it cannot be measured."""
    command = [sys.executable, "-m", __name__, name, json.dumps(asdict(problem))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None


def _measure(name: str, problem: Problem) -> float:
    contestant = next(c for c in BACKENDS if c.name == name)
    contestant.prepare(replace(problem, batch=8, steps=2))[0]()  # loads what is loaded once
    train, _ = contestant.prepare(problem)
    if problem.device != "cpu":
        held = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        train()
        return (torch.cuda.max_memory_allocated() - held) / 1e6
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    train()
    return (_resident("VmHWM") - before) / 1e3


def _resident(which: str) -> float:
    """A line of Linux's account of this process's memory, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(which)))


if __name__ == "__main__":
    sys.stdout.write(f"{_measure(sys.argv[1], Problem(**json.loads(sys.argv[2])))}\n")
