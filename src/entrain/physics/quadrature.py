r"""Sums over the K Euler intervals from fewer time points.

A sum over k = 0..K-1 is an integral over a discrete measure. Its Gauss rule has n
points and weights that give the sum of every polynomial in k of degree 2 n - 1 or less exactly.
The terms of the path loss are smooth in time, so that a few points give its sum to rounding.
"""

from __future__ import annotations

import torch
from torch import Tensor

from entrain.utils.errors import positive_int


def time_rule(steps: int, nodes: int | None) -> tuple[Tensor, Tensor]:
    r"""Times t_k / t_f (T,) and weights (T,), float64: sum_{k<K} f(k / K) ~ sum_T weight f(time).

    All K terms with weight one where `nodes` is None or not below `steps`; else the Gauss rule of
    T = `nodes` points. Its orthogonal polynomials (discrete Chebyshev, centred at (K - 1) / 2)
    have the recurrence coefficients beta_k = k^2 (K^2 - k^2) / (4 (4 k^2 - 1)); the points are
    the eigenvalues of the tridiagonal matrix with off-diagonal sqrt(beta_k), the weights K times
    the squared first components of its eigenvectors (Golub and Welsch).
    """
    positive_int("steps", steps)
    if nodes is None or nodes >= steps:
        times = torch.arange(steps, dtype=torch.float64) / steps
        return times, torch.ones_like(times)
    positive_int("nodes", nodes)
    k = torch.arange(1, nodes, dtype=torch.float64).square()
    off_diagonal = (k * (steps**2 - k) / (4.0 * (4.0 * k - 1.0))).sqrt()
    jacobi = torch.diag(off_diagonal, 1) + torch.diag(off_diagonal, -1)
    points, vectors = torch.linalg.eigh(jacobi)
    return (points + (steps - 1) / 2) / steps, steps * vectors[0].square()
