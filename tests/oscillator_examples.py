"""Graphs and comparisons for the tests of oscillators."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from entrain import Simulation
from networks import random_tensor

N = 6


def symmetric(n: int = N, seed: int = 0) -> Tensor:
    """A random symmetric matrix with two absent couplers, float64."""
    matrix = random_tensor(n, n, seed=seed)
    matrix = (matrix + matrix.T).fill_diagonal_(0.0)
    matrix[0, 1] = matrix[1, 0] = matrix[2, 4] = matrix[4, 2] = 0.0
    return matrix


def ring(n: int, strength: float = 1.0) -> scipy.sparse.coo_array:
    """A ring of n oscillators, each coupled to two neighbours."""
    i = np.arange(n)
    rows, columns = np.concatenate([i, (i + 1) % n]), np.concatenate([(i + 1) % n, i])
    return scipy.sparse.coo_array((np.full(2 * n, strength), (rows, columns)), shape=(n, n))


def kings_graph(height: int, width: int) -> np.ndarray:
    """The edges (i, j) of a lattice in which a king's moves couple."""
    at = np.arange(height * width).reshape(height, width)
    pairs = [
        (at[:, 1:], at[:, :-1]),
        (at[1:], at[:-1]),
        (at[1:, 1:], at[:-1, :-1]),
        (at[1:, :-1], at[:-1, 1:]),
    ]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in pairs])


def same_result(one: Simulation, other: Simulation) -> bool:
    return torch.equal(one.phases, other.phases) and torch.equal(one.times, other.times)
