"""Small problems with known optima, for the tests of `entrain.ising`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entrain.ising import Problem, WeightedGraph


def random_graph(nodes: int = 10, share: float = 0.5, seed: int = 0) -> WeightedGraph:
    """A graph with whole weights from -5 to 5."""
    generator = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(nodes), 2)))
    pairs = pairs[generator.random(len(pairs)) < share]
    weights = generator.integers(1, 6, len(pairs)) * generator.choice([-1, 1], len(pairs))
    return WeightedGraph.from_entries(nodes, pairs[:, 0], pairs[:, 1], weights)


def all_states(nodes: int, states: Sequence[int]) -> NDArray[np.int8]:
    """Every assignment (k^N, N)."""
    return np.array(list(itertools.product(states, repeat=nodes)), dtype=np.int8)


def optimum(problem: Problem, states: Sequence[int]) -> Any:
    """The best value of all assignments."""
    values = problem.values(all_states(problem.variables, states))
    return values.max() if problem.goal == "maximum" else values.min()
