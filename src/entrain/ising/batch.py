"""Batches: runs side by side, read several times on their way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from entrain.ising.annealing import Annealing
from entrain.ising.descent import descend
from entrain.ising.machine import Machine, simulate_part, time_step
from entrain.ising.problems import Problem
from entrain.ising.reading import Reading

LARGEST = 128  # runs side by side
_CELLS = 2**24  # oscillators times runs side by side


@dataclass(frozen=True)
class Batch:
    """Runs that are computed together.

    Args:
        index: Number of the batch, on which random numbers depend.
        runs: Number of runs.
        steps: Steps of a run.
    """

    index: int
    runs: int
    steps: int

    def __str__(self) -> str:
        return f"batch {self.index}: {self.runs} runs of {self.steps:,} steps"


@dataclass(frozen=True, eq=False)
class BatchResult:
    """The values of the runs of a batch.

    Args:
        batch: The batch.
        values: The best value that each run was read with (M,).
        trace: Share of the run, best value so far and mean value at every reading.
        seconds: Time of all runs together, without preparation.
        time: Time of a run, in the unit of the phase model.
        states: States that the runs were read with at the end (M, N), if they were kept.
    """

    batch: Batch
    values: tuple[int | float, ...]
    trace: tuple[tuple[float, int | float, float], ...]
    seconds: float
    time: float
    states: NDArray[np.int8] | None = None

    def to_json(self) -> dict[str, Any]:
        """All but the states, as JSON values."""
        return {
            "batch": self.batch.index,
            "steps": self.batch.steps,
            "values": list(self.values),
            "trace": [list(row) for row in self.trace],
            "seconds": self.seconds,
            "time": self.time,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> BatchResult:
        """The result that `to_json` stored.

        Args:
            values: Its values.
        """
        numbers = tuple(values["values"])
        trace = tuple((float(share), best, float(mean)) for share, best, mean in values["trace"])
        batch = Batch(int(values["batch"]), len(numbers), int(values["steps"]))
        return cls(batch, numbers, trace, float(values["seconds"]), float(values["time"]))


@dataclass(frozen=True, eq=False)
class Best:
    """The best state so far.

    Args:
        value: Its value.
        states: Its states (N,).
    """

    value: int | float
    states: NDArray[np.int8]


Update = Callable[[float, Best], bool]
"""Called at a reading with the share of the batch done and its best; True ends the batch."""


def run_batch(
    problem: Problem,
    machine: Machine,
    annealing: Annealing,
    batch: Batch,
    *,
    reading: Reading = "threshold",
    descent: bool = False,
    seed: int = 0,
    keep_states: bool = False,
    on_reading: Update | None = None,
) -> tuple[BatchResult, Best] | None:
    """The result and the best state of a batch; None if `on_reading` ended it.

    Args:
        problem: The problem.
        machine: Oscillators that are programmed with it.
        annealing: The ramps, with the steps of the batch.
        batch: Number of the batch, and of its runs.
        reading: How states are read.
        descent: True for a greedy descent after the last reading.
        seed: Seed of starts and noise.
        keep_states: True for the states of all runs.
        on_reading: Called at every reading.
    """
    _synchronise(machine)
    began = time.perf_counter()
    state: Any = machine.starts(batch.runs, batch.index, seed)
    values: NDArray[Any] | None = None
    best: Best | None = None
    trace = []
    delayed = bool(machine.oscillators.delay)  # of phases before a part, which it does not have
    for part in replace(annealing, readings=1 if delayed else annealing.readings).parts():
        state = simulate_part(machine, annealing, part, state, batch.runs, batch.index, seed)
        choices, read = machine.read(problem, state, reading, batch.index, seed)
        if descent and part.stop == annealing.steps:
            program = machine.program
            choices = descend(choices, program.couplings, program.fields, program.choices)
            read = problem.values(problem.states_of(choices))
        costs = problem.costs(read)
        row = int(costs.argmin())
        if best is None or costs[row] < problem.costs(np.array([best.value]))[0]:
            best = Best(read[row].item(), problem.states_of(choices[row]))
        values = read if values is None else _better(problem, values, read)
        trace.append((part.stop / annealing.steps, best.value, float(read.mean())))
        if on_reading is not None and on_reading(part.stop / annealing.steps, best):
            return None
    assert best is not None
    assert values is not None
    seconds = time.perf_counter() - began
    duration = annealing.steps * time_step(machine, annealing)
    states = problem.states_of(choices) if keep_states else None
    numbers = tuple(values.tolist())
    return BatchResult(batch, numbers, tuple(trace), seconds, duration, states), best


def size_of_batch(nodes: int) -> int:
    """Number of runs side by side, of N oscillators.

    Args:
        nodes: N.
    """
    return max(8, min(LARGEST, _CELLS // nodes))


def _better(problem: Problem, values: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    lower = problem.costs(others) < problem.costs(values)
    return np.where(lower, others, values)


def _synchronise(machine: Machine) -> None:
    device = machine.oscillators.biases.device
    if device.type == "cuda":
        torch.cuda.synchronize(device)
