"""States read from phases: each oscillator by itself, or all by the best of several lines."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from entrain.ising.problems import Problem

Reading = Literal["threshold", "line"]
LINES = 16  # directions of the line within a k-th of the circle


def nearest(phases: NDArray[Any], k: int) -> NDArray[np.int8]:
    """The nearest of k phases 2 pi c / k: c (M, N); for k = 2, 0 where cos(theta) >= 0.

    Args:
        phases: theta (M, N).
        k: Number of phases.
    """
    if k == 2:
        return np.asarray(np.cos(phases) < 0, dtype=np.int8)
    return np.asarray(np.rint(phases * (k / (2 * math.pi))).astype(np.int64) % k, dtype=np.int8)


def best_line(problem: Problem, phases: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[Any]]:
    """Choices (M, N) and values (M,) of the best rotation of all phases, for each run.

    For spins this is a line through the origin that separates the phases.

    Args:
        problem: The problem.
        phases: theta (M, N).
    """
    k = problem.choices
    turns = LINES * (k if problem.fields().any() else 1)  # without fields a k-th of a turn is none
    best: tuple[NDArray[np.int8], NDArray[Any]] | None = None
    for turn in range(turns):
        choices = nearest(phases - 2 * math.pi * turn / (LINES * k), k)
        values = problem.values(problem.states_of(choices))
        if best is None:
            best = choices, values
            continue
        better = problem.costs(values) < problem.costs(best[1])
        best[0][better], best[1][better] = choices[better], values[better]
    assert best is not None
    return best
