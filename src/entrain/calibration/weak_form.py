r"""Least squares on increments of phases: the drift is linear in every unknown.

Integrated from the start to a reading at t_r, the phase model is

    theta_i(t_r) - theta_i(0) = int_0^t_r [ w_i - mu ( b_i sin theta_i
                                            + sum_j J_ij g(theta_i - theta_j) + ... ) ] dt,

where each integral of a sine along the measured path multiplies one unknown. The error of a reading
enters the left side unchanged: noisy phases are not differentiated, and in the integrals errors
average out. Integrals are sums over the Euler grid of the fitted model, so that traces of this
model give its parameters exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import torch

from entrain.calibration.likelihood import Trajectories
from entrain.physics import drift

BATCH = 32  # runs whose integrals stay in the cache


@dataclass(frozen=True)
class Posterior:
    """A normal distribution of the unknowns: mean, and Cholesky factor L of the precision L L^T."""

    mean: np.ndarray
    factor: np.ndarray

    @property
    def spread(self) -> np.ndarray:
        """The standard deviation of each unknown."""
        inverse = scipy.linalg.solve_triangular(self.factor, np.eye(len(self.mean)), lower=True)
        return np.asarray(np.sqrt(np.square(inverse).sum(0)))


def solve(
    data: Trajectories, path: np.ndarray, noise: float, on_progress: Callable[[float], None]
) -> Posterior:
    """The posterior of the unknowns from a measured `path` (K + 1, M, N) on the Euler grid."""
    unknowns = data.unknowns
    precision, moment = np.diag(unknowns.spread**-2.0), np.zeros(len(unknowns))
    batches = range(0, path.shape[1], BATCH)
    for count, first in enumerate(batches):
        runs = slice(first, first + BATCH)
        batch = _Batch(data, path, runs)
        for i in range(unknowns.oscillators):
            indices, columns, left = batch.equations(i)
            read = ~np.isnan(left)
            rows = columns[read]
            precision[np.ix_(indices, indices)] += rows.T @ rows / noise**2
            moment[indices] += rows.T @ left[read] / noise**2
        on_progress((count + 1) / len(batches))
    factor = np.linalg.cholesky(precision)
    return Posterior(scipy.linalg.cho_solve((factor, True), moment), factor)


class _Batch:
    """Equations of a batch of runs."""

    def __init__(self, data: Trajectories, path: np.ndarray, runs: slice) -> None:
        base, dynamics = data.base.rows(runs), data.dynamics
        before, self._start = path[:-1, runs], path[0, runs]
        self._unknowns, self._readings = data.unknowns, data.readings[:, runs]
        self._sin, self._cos = np.sin(before), np.cos(before)
        self._fields = base.fields[0].numpy()
        self._lag = 0.0 if base.lag is None else float(base.lag)
        self._dynamics = dynamics
        self._before = (data.weights > 0).argmax(1)  # the grid times around each reading
        self._after = np.minimum(self._before + 1, len(before))
        self._share = 1.0 - data.weights[np.arange(len(self._before)), self._before]
        with torch.no_grad():
            velocity = drift(torch.from_numpy(before), base, dynamics.mobility).numpy()
        self._nominal = self._integral(velocity)  # increments of the programmed network

    def _integral(self, values: np.ndarray) -> np.ndarray:
        """int_0^t_r of values (K, M, n) on the grid, for each reading: (T, M, n)."""
        sums = np.zeros((len(values) + 1, *values.shape[1:]))
        np.cumsum(values, axis=0, out=sums[1:])
        share = self._share[:, None, None]
        between = (1.0 - share) * sums[self._before] + share * sums[self._after]
        return np.asarray(self._dynamics.time_step * between)

    def equations(self, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Indices of unknowns (n,), columns (T, M, n) and left sides (T, M) of oscillator i."""
        unknowns, parts = self._unknowns, self._unknowns.parts
        neighbours = np.flatnonzero(unknowns.index[i] >= 0)
        couplers, mobility = unknowns.index[i, neighbours], self._dynamics.mobility
        sin, cos = self._sin[..., i, None], self._cos[..., i, None]
        sines, cosines = self._sin[..., neighbours], self._cos[..., neighbours]
        odd, even = sin * cosines - cos * sines, cos * cosines + sin * sines
        pull = -mobility * unknowns.programmed[i, neighbours]
        coupled = self._integral(pull * (np.cos(self._lag) * odd + np.sin(self._lag) * even))
        force = self._integral(-mobility * sin)
        slope = np.cos(self._lag) * even - np.sin(self._lag) * odd
        columns: dict[str, tuple[np.ndarray | list[int], np.ndarray]] = {
            "couplings": (couplers, coupled),
            "asymmetry": (couplers, coupled * np.where(neighbours > i, 1.0, -1.0)),
            "fields": ([i], force * self._fields[:, i, None]),
            "offsets": ([i], force),
            "frequencies": ([i], self._integral(np.ones_like(sin))),
            "lag": ([0], self._integral((pull * slope).sum(-1, keepdims=True))),
        }
        indices = [parts[name].start + np.asarray(columns[name][0]) for name in parts]
        values = [columns[name][1] for name in parts]
        left = self._readings[..., i] - self._start[:, i] - self._nominal[..., i]
        return np.concatenate(indices), np.concatenate(values, -1), left
