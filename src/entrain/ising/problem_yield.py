"""Values that many chips of one hardware reach on a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from entrain.cluster import Engine, LocalEngine
from entrain.evaluation.chips import check_chips
from entrain.evaluation.intervals import CONFIDENCE, RESAMPLES, Interval, wilson
from entrain.evaluation.yield_file import check_path
from entrain.hardware import Hardware, find
from entrain.ising.annealing import Annealing
from entrain.ising.batch import LARGEST, Batch, run_batch
from entrain.ising.machine import IdealMachine
from entrain.ising.on_chip import ChipMachine, ChipProgram
from entrain.ising.problems import Problem
from entrain.ising.yield_file import ProblemYieldFile, open_problem_yield
from entrain.utils.device import choose_device
from entrain.utils.errors import finite_float, positive_int, seed_number
from entrain.utils.summary import Summary

_AT_A_TIME = 10  # chips of a block


@dataclass(frozen=True, eq=False, repr=False)
class ProblemYield(Summary):
    """The values that chips of one hardware reach on a problem.

    Args:
        problem: The problem.
        runs: Values of the runs of every chip, in the order of their seeds (C, M).
        target: Value that a good chip reaches.
        first_seed: Seed of the first chip.
    """

    problem: Problem
    runs: tuple[tuple[int | float, ...], ...]
    target: int | float
    first_seed: int = 0

    @cached_property
    def _costs(self) -> NDArray[Any]:
        return self.problem.costs(np.array(self.runs))

    @property
    def best(self) -> NDArray[Any]:
        """The best value of every chip (C,)."""
        return self.problem.costs(self._costs.min(1))

    @property
    def single(self) -> NDArray[np.float64]:
        """The mean value of a run on every chip (C,)."""
        means: NDArray[np.float64] = self.problem.costs(self._costs.mean(1))
        return means

    @property
    def success(self) -> NDArray[np.float64]:
        """Share of the runs of every chip that reach the target (C,)."""
        limit = self.problem.costs(np.array([self.target]))[0]
        shares: NDArray[np.float64] = (self._costs <= limit).mean(1)
        return shares

    @property
    def above(self) -> float:
        """Share of the chips whose best run reaches the target."""
        return float((self.success > 0).mean())

    def summary(self) -> dict[str, Any]:
        """Mean, SD and percentiles over chips, of the best of their runs and of a single one.

        "p5" is the value that 95 % of the chips reach. The interval of a mean is by bootstrap over
        chips, that of the share of good chips Wilson's.
        """
        chips = len(self.runs)
        good = round(self.above * chips)
        low, high = wilson(good, chips)
        return {
            "chips": chips,
            "restarts": len(self.runs[0]),
            "target": self.target,
            "best": self._statistics(self.best),
            "single_run": self._statistics(self.single),
            "success_probability": float(self.success.mean()),
            "reach_target": self.above,
            "reach_target_interval": [low / 100, high / 100],
            "confidence": CONFIDENCE,
        }

    def _statistics(self, values: NDArray[Any]) -> dict[str, Any]:
        costs = self.problem.costs(values)
        worse = {"p5": 95, "p50": 50, "p95": 5}  # percentiles of costs
        generator = np.random.Generator(np.random.PCG64(0))
        drawn = generator.integers(len(values), size=(RESAMPLES, len(values)))
        tail = (100 - CONFIDENCE) / 2
        interval: Interval = tuple(
            np.percentile(values[drawn].mean(1), (tail, 100 - tail)).tolist()
        )
        return {
            "mean": float(values.mean()),
            "interval": list(interval),
            "sd": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
            **{
                name: float(self.problem.costs(np.percentile(costs, share)))
                for name, share in worse.items()
            },
            "worst": self.problem.costs(np.array([costs.max()]))[0].item(),
        }

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        return {
            "chips": str(len(self.runs)),
            "runs of each": str(len(self.runs[0])),
            f"mean best {self.problem.measure}": f"{self.best.mean():,.2f}",
            f"mean {self.problem.measure} of a run": f"{self.single.mean():,.2f}",
            f"chips that reach {self.target:,}": f"{100 * self.above:.1f} %",
        }


@dataclass(frozen=True)
class _Task:
    """The problem on every variant of the hardware; None is ideal oscillators."""

    problem: Problem
    programs: dict[Hardware, ChipProgram]
    annealing: Annealing
    restarts: int
    descent: bool
    seed: int

    def settings(self) -> dict[str, Any]:
        """All that determines the values of the runs, but the problem and the hardware."""
        return {
            "annealing": self.annealing.to_json(),
            "restarts": self.restarts,
            "descent": self.descent,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class _Block:
    """Chips of one variant."""

    hardware: Hardware
    seeds: tuple[int, ...]

    def __str__(self) -> str:
        return f"chips {self.seeds[0]} to {self.seeds[-1]}"


def chip_yield(
    problem: Problem,
    hardware: Hardware | str | Path,
    *,
    chips: int = 100,
    restarts: int = 10,
    annealing: Annealing | None = None,
    target: float | None = None,
    first_seed: int = 0,
    seed: int = 0,
    descent: bool = False,
    device: str = "auto",
    engine: Engine | None = None,
    out: Path | str | None = None,
    on_done: Callable[[int], None] | None = None,
) -> ProblemYield:
    """Values of chips with the seeds first_seed, first_seed + 1, ... on a problem.

    Args:
        problem: The problem, of two states.
        hardware: A `Hardware`, the name of a preset or a TOML file.
        chips: Number of chips.
        restarts: Runs of every chip, at most 128.
        annealing: The ramps; by default those of `solve` on a chip.
        target: Value that a good chip reaches; by default the best of all chips.
        first_seed: Seed of the first chip.
        seed: Seed of starts and noise; every chip has its own.
        descent: True for a greedy descent after the reading.
        device: auto, cpu, cuda or cuda:INDEX.
        engine: Spreads chips over a cluster; by default this process computes them.
        out: JSON file for the runs of every chip. An interrupted call, or one for more chips,
            continues from it.
        on_done: Called with the number of chips of each block; first, of those in the file.

    Examples:
        >>> graph = entrain.ising.WeightedGraph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
        >>> problem = entrain.ising.MaxCut(graph)
        >>> chips = entrain.ising.chip_yield(problem, "typical", chips=3, restarts=2)
        >>> chips.summary()["chips"]
        3
    """
    hardware = find(hardware)
    yields = chip_yields(
        problem,
        [hardware],
        chips=chips,
        restarts=restarts,
        annealing=annealing,
        target=target,
        first_seed=first_seed,
        seed=seed,
        descent=descent,
        engine=LocalEngine(choose_device(device)) if engine is None else engine,
        out=out,
        on_done=on_done,
    )
    return yields[hardware]


def chip_yields(
    problem: Problem,
    variants: Iterable[Hardware],
    *,
    chips: int = 100,
    restarts: int = 10,
    annealing: Annealing | None = None,
    target: float | None = None,
    first_seed: int = 0,
    seed: int = 0,
    descent: bool = False,
    engine: Engine | None = None,
    out: Path | str | None = None,
    on_done: Callable[[int], None] | None = None,
) -> dict[Hardware, ProblemYield]:
    """`chip_yield` of several variants of a hardware, with one target for all.

    Hardware without effects is ideal oscillators, whose chips differ in starts and noise alone.
    """
    seeds = check_chips(chips, first_seed)
    unique = list(dict.fromkeys(variants))
    task = _Task(
        problem,
        {hardware: ChipProgram.of(problem, hardware) for hardware in unique},
        Annealing(temperature=0.0) if annealing is None else annealing,
        positive_int("restarts", restarts, most=LARGEST),
        bool(descent),
        seed_number("seed", seed),
    )
    path = None if out is None else Path(out)
    if path is not None:
        check_path(path)
    with open_problem_yield(path, problem, task.settings(), unique[0]) as file:
        _measure_missing(task, unique, seeds, file, engine or LocalEngine(), on_done)
        measured = {hardware: file.of(hardware) for hardware in unique}
    everything = np.array([list(of_chip[seed]) for of_chip in measured.values() for seed in seeds])
    costs = problem.costs(everything)
    goal = problem.costs(np.array([costs.min()]))[0].item()
    if target is not None:
        finite_float("target", target)
        goal = target
    return {
        hardware: ProblemYield(problem, tuple(of_chip[seed] for seed in seeds), goal, first_seed)
        for hardware, of_chip in measured.items()
    }


def _measure_missing(
    task: _Task,
    variants: Sequence[Hardware],
    seeds: Sequence[int],
    file: ProblemYieldFile,
    engine: Engine,
    on_done: Callable[[int], None] | None,
) -> None:
    """Measure the chips of all variants that are not in the file."""
    blocks = []
    for hardware in variants:
        missing = [seed for seed in seeds if seed not in file.of(hardware)]
        if on_done is not None and len(missing) < len(seeds):
            on_done(len(seeds) - len(missing))
        blocks += [
            _Block(hardware, tuple(missing[first : first + _AT_A_TIME]))
            for first in range(0, len(missing), _AT_A_TIME)
        ]
    for block, values in engine.map(_measure, task, blocks):
        file.add(block.hardware, dict(zip(block.seeds, values, strict=True)))
        if on_done is not None:
            on_done(len(block.seeds))


def alone(hardware: Hardware, effect: str) -> Hardware:
    """Chips of the same size with one effect alone.

    Args:
        hardware: Hardware with the effect.
        effect: Its name.
    """
    return replace(hardware.only(effect), oscillators=hardware.oscillators)


def ideal_runs(
    problem: Problem, annealing: Annealing, restarts: int, *, seed: int = 0, device: str = "auto"
) -> tuple[int | float, ...]:
    """Values of runs of ideal oscillators with the same ramps.

    Args:
        problem: The problem.
        annealing: The ramps.
        restarts: Number of runs, at most 128.
        seed: Seed of starts and noise.
        device: auto, cpu, cuda or cuda:INDEX.
    """
    machine = IdealMachine(problem, choose_device(device))
    result = run_batch(problem, machine, annealing, Batch(0, restarts, annealing.steps), seed=seed)
    assert result is not None
    return result[0].values


def _measure(task: _Task, block: _Block, device: torch.device) -> list[tuple[int | float, ...]]:
    """The values of all runs of the chips of a block."""
    values = []
    for seed in block.seeds:
        machine = ChipMachine(task.programs[block.hardware], seed, device)
        batch = Batch(0, task.restarts, task.annealing.steps)
        result = run_batch(
            task.problem, machine, task.annealing, batch, descent=task.descent, seed=task.seed
        )
        assert result is not None
        values.append(result[0].values)
    return values
