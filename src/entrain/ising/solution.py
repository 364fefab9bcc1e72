"""The result of `entrain.solve`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entrain.ising.annealing import Annealing
from entrain.ising.batch import BatchResult
from entrain.ising.problems import Problem
from entrain.ising.statistics import TimeToSolution, repetitions, repetitions_interval
from entrain.utils.errors import InputError
from entrain.utils.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Summary):
    """The best assignment, and the values of all runs.

    Args:
        problem: The problem.
        states: The best states (N,): spins, bits or colours.
        value: Their value.
        annealing: The ramps of the first batch.
        batches: Finished batches of runs.
        reason: Why it ended: "finished", "reached", "time" or "interrupted".
        chip: Description of the chip; None for ideal oscillators.
    """

    problem: Problem
    states: NDArray[np.int8]
    value: int | float
    annealing: Annealing
    batches: tuple[BatchResult, ...]
    reason: str = "finished"
    chip: dict[str, Any] | None = None

    @property
    def assignment(self) -> dict[Hashable, int]:
        """The state of every variable, by name."""
        return dict(zip(self.problem.names, self.states.tolist(), strict=True))

    @property
    def values(self) -> tuple[int | float, ...]:
        """The values of all runs, in order."""
        return tuple(value for result in self.batches for value in result.values)

    @property
    def all_states(self) -> NDArray[np.int8] | None:
        """States that all runs were read with at their end (M, N), if they were kept."""
        states = [result.states for result in self.batches if result.states is not None]
        return np.concatenate(states) if states else None

    @property
    def seconds(self) -> float:
        """Seconds of all finished batches."""
        return sum(result.seconds for result in self.batches)

    def trace(self) -> list[tuple[float, int | float, float]]:
        """Seconds, best value so far and mean value of the runs, at every reading."""
        rows, before, best = list[tuple[float, int | float, float]](), 0.0, None
        for result in self.batches:
            for share, value, mean in result.trace:
                best = value if best is None else self._better(best, value)
                rows.append((before + share * result.seconds, best, mean))
            before += result.seconds
        return rows

    def success_probability(self, target: float | None = None) -> float:
        """Share of the runs that reached a target; 0 without finished runs.

        Args:
            target: Value to be reached; the best value by default.
        """
        values = np.array(self.values)
        return float(self._reached(values, target).mean()) if len(values) else 0.0

    def time_to_solution(self, target: float | None = None) -> TimeToSolution:
        """The time to reach a target with 99 % probability, at the best number of steps tried.

        If the target is the best value that was found, this is optimistic: a better one may exist.

        Args:
            target: Value to be reached; the best value by default.
        """
        if not self.batches:
            raise InputError("no run has finished, so that nothing is known of their times")
        by_steps: dict[int, list[BatchResult]] = {}
        for result in self.batches:
            by_steps.setdefault(result.batch.steps, []).append(result)
        times = [self._time_of(results, target) for results in by_steps.values()]
        return min(times, key=lambda time: (time.seconds, -time.steps))

    def _time_of(self, results: list[BatchResult], target: float | None) -> TimeToSolution:
        values = np.array([value for result in results for value in result.values])
        runs, successes = len(values), int(self._reached(values, target).sum())
        return TimeToSolution(
            target=self.value if target is None else target,
            successes=successes,
            runs=runs,
            steps=results[0].batch.steps,
            repetitions=repetitions(successes / runs),
            repetitions_interval=repetitions_interval(successes, runs),
            seconds_per_run=sum(result.seconds for result in results) / runs,
            time_per_run=results[0].time,
        )

    def _reached(self, values: NDArray[Any], target: float | None) -> NDArray[np.bool_]:
        costs = self.problem.costs(values)
        limit = self.problem.costs(np.array([self.value if target is None else target]))[0]
        reached: NDArray[np.bool_] = costs <= limit
        return reached

    def _better(self, one: int | float, other: int | float) -> int | float:
        return (max if self.problem.goal == "maximum" else min)(one, other)

    def _worst(self, values: NDArray[Any]) -> int | float | None:
        if not len(values):
            return None
        worst: int | float = values[self.problem.costs(values).argmax()].item()
        return worst

    def with_states(self, states: NDArray[np.int8], value: int | float) -> Solution:
        """This solution with other best states.

        Args:
            states: States (N,).
            value: Their value.
        """
        return replace(self, states=states, value=value)

    def to_json(self, target: float | None = None) -> dict[str, Any]:
        """Everything but the assignment, as JSON values.

        Args:
            target: Value of the success probability and of the time to solution.
        """
        values = np.array(self.values)
        time = self.time_to_solution(target).to_json() if self.batches else None
        return {
            "problem": type(self.problem).__name__.lower(),
            "variables": self.problem.variables,
            "edges": self.problem.graph.edges,
            "goal": self.problem.goal,
            "measure": self.problem.measure,
            "best": self.value,
            "reason": self.reason,
            "runs": len(values),
            "mean": float(values.mean()) if len(values) else None,
            "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
            "worst": self._worst(values),
            "target": target,
            "success_probability": self.success_probability(target),
            "time_to_solution": time,
            "seconds": self.seconds,
            "annealing": self.annealing.to_json(),
            "chip": self.chip,
            "values": list(self.values),
            "trace": [list(row) for row in self.trace()],
        }

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        values = np.array(self.values, dtype=float)
        return {
            self.problem.measure: f"{self.value:,}",
            "runs": f"{len(values):,}",
            "mean": f"{values.mean():,.2f}" if len(values) else "-",
            "seconds": f"{self.seconds:.2f}",
            "ended": self.reason,
        }
