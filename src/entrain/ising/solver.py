"""`entrain.solve`: batches of runs until there are enough, or time or patience ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from entrain.cluster import Engine
from entrain.hardware import Chip, Hardware
from entrain.ising.annealing import Annealing
from entrain.ising.batch import LARGEST, Batch, BatchResult, Best, run_batch, size_of_batch
from entrain.ising.machine import IdealMachine, Machine, prepare
from entrain.ising.on_chip import ChipMachine, ChipProgram, chip_of
from entrain.ising.problems import Problem
from entrain.ising.reading import Reading
from entrain.ising.result_folder import ResultFolder, open_results
from entrain.ising.solution import Solution
from entrain.utils.device import choose_device
from entrain.utils.errors import (
    InputError,
    finite_float,
    one_of,
    positive_float,
    positive_int,
    seed_number,
)

_RUNS = 100  # by default
_ON_A_CPU = 16  # side by side in a limited time
_FIRST = 8  # the first of batches that grow has the steps of a run over this
_GROWTH = 4  # of the steps from batch to batch
_SHARE = 0.9  # of the remaining time, for the last of them


@dataclass(frozen=True)
class Status:
    """State of a search, the argument of `on_update`.

    Args:
        fraction: Share of the runs, or of the time, that is done.
        best: Best value so far.
        batch: Number of the batch.
        steps: Steps of a run of this batch.
    """

    fraction: float
    best: int | float
    batch: int
    steps: int


@dataclass(frozen=True)
class Task:
    """A problem and all settings that determine the values of a batch."""

    problem: Problem
    annealing: Annealing
    reading: Reading
    descent: bool
    seed: int
    chip: Chip | None
    keep_states: bool = False

    def machine(self, device: torch.device) -> Machine:
        """The oscillators of the problem."""
        machine: Machine
        if self.chip is None:
            machine = IdealMachine(self.problem, device)
        else:
            program = ChipProgram.of(self.problem, self.chip.hardware)
            machine = ChipMachine(program, self.chip.seed, device)
        prepare(machine, self.annealing)  # not within the time of a run
        return machine

    def run(
        self, machine: Machine, batch: Batch, on_reading: Any = None
    ) -> tuple[BatchResult, Best] | None:
        """`run_batch` of this task."""
        return run_batch(
            self.problem,
            machine,
            replace(self.annealing, steps=batch.steps),
            batch,
            reading=self.reading,
            descent=self.descent,
            seed=self.seed,
            keep_states=self.keep_states,
            on_reading=on_reading,
        )

    def settings(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return {
            "annealing": self.annealing.to_json(),
            "reading": self.reading,
            "descent": self.descent,
            "seed": self.seed,
            "chip": self.chip_json(),
        }

    def chip_json(self) -> dict[str, Any] | None:
        """The hardware and the seed of the chip, or None."""
        if self.chip is None:
            return None
        return {"hardware": self.chip.hardware.to_json(), "seed": self.chip.seed}


def compute_batch(task: Task, batch: Batch, device: torch.device) -> tuple[BatchResult, Best]:
    """The result of a batch, computed on a device; a task of a cluster."""
    result = task.run(task.machine(device), batch)
    assert result is not None
    return result


def solve(
    problem: Problem,
    *,
    restarts: int | None = None,
    steps: int | None = None,
    annealing: Annealing | None = None,
    reading: Reading = "threshold",
    descent: bool = False,
    time_limit: float | None = None,
    until: float | None = None,
    seed: int = 0,
    chip: Chip | Hardware | str | Path | None = None,
    chip_seed: int = 0,
    device: str = "auto",
    engine: Engine | None = None,
    out: Path | str | None = None,
    keep_states: bool = False,
    on_update: Callable[[Status], None] | None = None,
) -> Solution:
    """The best assignment that an oscillator Ising machine finds, and the values of its runs.

    Runs are independent, up to 128 side by side, and are read on their way: Ctrl-C ends with the
    best so far. With a time limit and no `steps`, batches of runs have ever more steps: slow ramps
    are better than many. The last batch fills the time.

    Args:
        problem: An `Ising`, `Qubo`, `MaxCut` or `Colouring`.
        restarts: Runs, 100 by default; with a time limit runs of a batch, 16 by default and 128 on
            a GPU.
        steps: Euler steps of a run; those of `annealing` by default.
        annealing: The ramps; by default `Annealing()`, on a chip without a ramp of noise.
        reading: "threshold" reads every oscillator by itself; "line" takes the best of 16 rotations
            of all phases, which a chip cannot.
        descent: True for a greedy descent after the last reading, which is not done by oscillators.
        time_limit: Seconds after which no run begins or continues.
        until: A value that ends the search, after the batch that reaches it.
        seed: Seed of start phases and noise.
        chip: Imperfect oscillators: a chip, or its hardware, the name of a preset or a TOML file.
        chip_seed: Seed of the chip of a hardware.
        device: auto, cpu, cuda or cuda:INDEX.
        engine: Spreads batches over a cluster; by default this process computes them.
        out: Folder for the result. An interrupted call, or one for more runs, continues from it.
        keep_states: True for the states of all runs, `Solution.all_states`; not in the folder.
        on_update: Called at every reading with a `Status`.

    Examples:
        >>> ring = entrain.ising.MaxCut(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0))
        >>> solution = entrain.solve(ring, restarts=8, steps=400)
        >>> solution.value
        6
    """
    task = _task(problem, steps, annealing, reading, descent, seed, chip, chip_seed)
    task = replace(task, keep_states=keep_states)
    on = choose_device(device) if engine is None else getattr(engine, "device", None)
    plan = _plan(restarts, time_limit, until, grows=steps is None, device=on)
    with open_results(None if out is None else Path(out), problem, task.settings()) as folder:
        search = _Search(task, plan, folder, on_update)
        if on is not None:
            search.run_here(on)
        else:
            assert engine is not None
            search.run_on(engine)
        return search.solution()


def _plan(
    restarts: int | None,
    time_limit: float | None,
    until: float | None,
    *,
    grows: bool,
    device: torch.device | None,
) -> _Plan:
    if restarts is None:
        is_gpu = device is not None and device.type == "cuda"
        restarts = _RUNS if time_limit is None else LARGEST if is_gpu else _ON_A_CPU
    return _Plan(
        positive_int("restarts", restarts),
        None if time_limit is None else positive_float("time_limit", time_limit),
        None if until is None else finite_float("until", until),
        grows=grows and time_limit is not None,
    )


def _task(
    problem: Problem,
    steps: int | None,
    annealing: Annealing | None,
    reading: Reading,
    descent: bool,
    seed: int,
    chip: Chip | Hardware | str | Path | None,
    chip_seed: int,
) -> Task:
    if not isinstance(problem, Problem):
        raise InputError(
            "problem must be an Ising, Qubo, MaxCut or Colouring of entrain.ising, got "
            f"{type(problem).__name__}; entrain.ising.read_problem reads a file"
        )
    one_of("reading", reading, Reading)
    sampled = None if chip is None else chip_of(chip, chip_seed)
    if annealing is None:
        annealing = Annealing() if sampled is None else Annealing(temperature=0.0)
    if steps is not None:
        annealing = replace(annealing, steps=positive_int("steps", steps))
    if sampled is not None and reading != "threshold":
        raise InputError("a chip reads every oscillator by itself: reading must be threshold")
    return Task(problem, annealing, reading, bool(descent), seed_number("seed", seed), sampled)


@dataclass(frozen=True)
class _Plan:
    """When to stop: after enough runs, a time, or at a value."""

    restarts: int
    time_limit: float | None
    until: float | None
    grows: bool


class _Search:
    """One call of `solve`."""

    def __init__(
        self,
        task: Task,
        plan: _Plan,
        folder: ResultFolder,
        on_update: Callable[[Status], None] | None,
    ) -> None:
        self._task, self._plan, self._folder, self._on_update = task, plan, folder, on_update
        self._began = time.perf_counter() - sum(stored.seconds for stored in folder.batches)
        self._reason = "finished"

    def run_here(self, device: torch.device) -> None:
        """Compute batches until the plan ends."""
        try:
            if self._is_solved():
                return
            machine = self._task.machine(device)
            for batch in self._batches():
                result = self._task.run(machine, batch, self._reader(batch))
                if result is None:
                    break
                self._folder.add(*result)
                if self._is_solved():
                    break
        except KeyboardInterrupt:
            if self._folder.best is None:
                raise
            self._reason = "interrupted"

    def run_on(self, engine: Engine) -> None:
        """Compute the batches of a fixed number of runs on a cluster."""
        if self._plan.time_limit is not None or self._plan.until is not None:
            raise InputError("a cluster computes a fixed number of runs: give no time_limit, until")
        batches = list(self._batches())
        done = 0
        try:
            for batch, result in engine.map(compute_batch, self._task, batches):
                self._folder.add(*result)
                done += batch.runs
                self._report(batch, done / self._plan.restarts)
        except KeyboardInterrupt:
            if self._folder.best is None:
                raise
            self._reason = "interrupted"

    def solution(self) -> Solution:
        """The best so far, stored."""
        best = self._folder.best
        if best is None:
            raise InputError("there is no run: restarts must be at least 1")
        solution = Solution(
            self._task.problem,
            best.states,
            best.value,
            self._task.annealing,
            tuple(self._folder.batches),
            self._reason,
            self._task.chip_json(),
        )
        self._folder.save(solution.to_json())
        return solution

    def _batches(self) -> Iterator[Batch]:
        """The batches that are left."""
        plan, done = self._plan, self._folder.batches
        largest = size_of_batch(self._task.problem.variables)
        steps = self._task.annealing.steps
        if plan.time_limit is None:
            index = len(done)
            left = plan.restarts - sum(stored.batch.runs for stored in done)
            while left > 0:
                yield Batch(index, min(left, largest), steps)
                index, left = index + 1, left - largest
            return
        if plan.grows:
            steps = max(1, steps // _FIRST)
        while True:
            index = len(done)
            if self._folder.best is not None and self._elapsed() >= plan.time_limit:
                self._reason = "time"
                return
            growing = self._fitting(steps * _GROWTH ** min(index, 20)) if plan.grows else steps
            if growing < min(steps, self._task.annealing.steps):
                self._reason = "time"
                return
            yield Batch(index, min(plan.restarts, largest), growing)

    def _fitting(self, steps: int) -> int:
        """`steps`, or as many as fill the remaining time if no batch would fit after it."""
        done = self._folder.batches
        assert self._plan.time_limit is not None
        if not done:
            return steps
        remaining = _SHARE * (self._plan.time_limit - self._elapsed())
        fitting = int(remaining / done[-1].seconds * done[-1].batch.steps)
        return steps if fitting >= (1 + _GROWTH) * steps else fitting

    def _reader(self, batch: Batch) -> Callable[[float, Best], bool]:
        before = sum(stored.batch.runs for stored in self._folder.batches)

        def on_reading(share: float, best: Best) -> bool:
            self._folder.consider(best)
            limit = self._plan.time_limit
            if limit is None:
                self._report(batch, (before + share * batch.runs) / self._plan.restarts)
            else:
                self._report(batch, self._elapsed() / limit)
            if limit is not None and self._elapsed() >= limit:
                self._reason = "time"
                return share < 1
            return False

        return on_reading

    def _report(self, batch: Batch, fraction: float) -> None:
        if self._on_update is not None and self._folder.best is not None:
            status = Status(min(1.0, fraction), self._folder.best.value, batch.index, batch.steps)
            self._on_update(status)

    def _is_solved(self) -> bool:
        until, best = self._plan.until, self._folder.best
        if until is None or best is None:
            return False
        problem = self._task.problem
        solved = best.value >= until if problem.goal == "maximum" else best.value <= until
        if solved:
            self._reason = "reached"
        return bool(solved)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._began
