r"""Least squares on increments of phases: the drift is linear in every unknown.

Integrated from the start to a reading at t_r, the phase model says

    theta_i(t_r) - theta_i(0) = int_0^t_r [ w_i - mu ( b_i sin theta_i
                                            + sum_j J_ij g(theta_i - theta_j) + ... ) ] dt,

where each integral of a sine along the measured path multiplies one unknown. The error of a reading
stands on the left alone, as it was read: no derivative of noisy phases is taken, and in the
integrals it averages out. Integrals are sums over the Euler grid of the model that is fitted, so
that traces of that very model give its numbers exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import torch

from entrain.calibration.unknowns import Unknowns
from entrain.physics import Dynamics, PhaseModel, drift

_RUNS = 32  # at a time: their integrals stay in the cache


@dataclass(frozen=True)
class Posterior:
    """Normal beliefs: the unknowns' mean, and the Cholesky factor L of their precision L L^T."""

    mean: np.ndarray
    factor: np.ndarray

    @property
    def spread(self) -> np.ndarray:
        """The standard deviation of each unknown."""
        inverse = scipy.linalg.solve_triangular(self.factor, np.eye(len(self.mean)), lower=True)
        found: np.ndarray = np.sqrt(np.square(inverse).sum(0))
        return found


def solve(
    unknowns: Unknowns,
    base: PhaseModel,
    dynamics: Dynamics,
    path: np.ndarray,
    readings: np.ndarray,
    reading_weights: np.ndarray,
    noise: float,
    *,
    on_progress: Callable[[float], None] | None = None,
) -> Posterior:
    """The unknowns from a measured `path` (K + 1, M, N) on the grid of `dynamics`.

    `base` is what acts as programmed (float64), `readings` (T, M, N) are the phases as they were
    read, NaN where they were not, `reading_weights` (T, K + 1) read the grid at their times.
    """
    n, size = unknowns.oscillators, len(unknowns)
    precision, moment = np.diag(unknowns.spread**-2.0), np.zeros(size)
    pieces = range(0, path.shape[1], _RUNS)
    for count, first in enumerate(pieces):
        runs = slice(first, first + _RUNS)
        part = _Piece(unknowns, base.rows(runs), dynamics, path[:, runs], reading_weights)
        for i in range(n):
            _add(precision, moment, *part.equations(i, readings[:, runs, i]), noise)
        if on_progress is not None:
            on_progress((count + 1) / len(pieces))
    factor = np.linalg.cholesky(precision)
    return Posterior(scipy.linalg.cho_solve((factor, True), moment), factor)


def _add(
    precision: np.ndarray,
    moment: np.ndarray,
    places: np.ndarray,
    columns: np.ndarray,
    left: np.ndarray,
    noise: float,
) -> None:
    """The normal equations of one oscillator's readings."""
    read = ~np.isnan(left)
    rows, left = columns[read], left[read]
    precision[np.ix_(places, places)] += rows.T @ rows / noise**2
    moment[places] += rows.T @ left / noise**2


class _Piece:
    """Some runs: their path, sines and what they would do as programmed."""

    def __init__(
        self,
        unknowns: Unknowns,
        base: PhaseModel,
        dynamics: Dynamics,
        path: np.ndarray,
        reading_weights: np.ndarray,
    ) -> None:
        self._unknowns, self._path = unknowns, path
        before = path[:-1]
        self._sin, self._cos = np.sin(before), np.cos(before)
        self._fields = base.fields[0].numpy()
        self._lag = 0.0 if base.lag is None else float(base.lag)
        self._mobility = dynamics.mobility
        self._time_step = dynamics.time_step
        self._before = (reading_weights > 0).argmax(1)  # the grid times beside each reading
        self._after = np.minimum(self._before + 1, len(before))
        self._share = 1.0 - reading_weights[np.arange(len(self._before)), self._before]
        with torch.no_grad():
            velocity = drift(torch.from_numpy(before), base, dynamics.mobility).numpy()
        self._told = self._integrated(velocity)

    def _integrated(self, values: np.ndarray) -> np.ndarray:
        """int_0^t_r of values (K, M, n) on the grid, for each reading: (T, M, n)."""
        sums = np.zeros((len(values) + 1, *values.shape[1:]))
        np.cumsum(values, axis=0, out=sums[1:])
        share = self._share[:, None, None]
        between = (1.0 - share) * sums[self._before] + share * sums[self._after]
        found: np.ndarray = self._time_step * between
        return found

    def equations(self, i: int, readings: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places of unknowns, columns (T, M, n) and left sides (T, M) of oscillator i."""
        known, parts = self._unknowns, self._unknowns.parts
        others, couplers = known.columns(i)
        sin, cos = self._sin[..., i, None], self._cos[..., i, None]
        sines, cosines = self._sin[..., others], self._cos[..., others]
        odd, even = sin * cosines - cos * sines, cos * cosines + sin * sines
        pull = -self._mobility * known.programmed[i, others]
        turned = np.cos(self._lag) * odd + np.sin(self._lag) * even
        coupled = self._integrated(pull * turned)
        columns: dict[str, tuple[np.ndarray, np.ndarray]] = {
            "couplings": (couplers, coupled),
            "asymmetry": (couplers, coupled * np.where(others > i, 1.0, -1.0)),
        }
        one = np.array([i])
        force = self._integrated(-self._mobility * sin)
        columns["fields"] = one, force * self._fields[:, i, None]
        columns["offsets"] = one, force
        columns["frequencies"] = one, self._integrated(np.ones_like(sin))
        slope = np.cos(self._lag) * even - np.sin(self._lag) * odd
        columns["lag"] = one * 0, self._integrated((pull * slope).sum(-1, keepdims=True))
        places = [
            place + parts[name].start for name, (place, _) in columns.items() if name in parts
        ]
        values = [column for name, (_, column) in columns.items() if name in parts]
        left = readings - self._path[0, :, i] - self._told[..., i]
        return np.concatenate(places), np.concatenate(values, -1), left
