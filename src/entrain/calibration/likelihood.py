r"""Maximum likelihood of the trajectories, through the exact adjoint.

    - log p(x) = 1 / (2 s^2) sum (theta(t_r; x) - reading)^2 + 1/2 sum (x / prior sd)^2

over all readings, s the standard deviation of a reading. Minimised by L-BFGS in coordinates
z = L^T x, in which the posterior of the weak form is isotropic.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
import torch
from torch import Tensor

from entrain import kernels
from entrain.calibration.unknowns import Unknowns
from entrain.physics import Dynamics, PhaseModel

_MEMORY = 20  # steps that L-BFGS stores


@dataclass
class Trajectories:
    """The readings of a chip, and their likelihood for any unknowns.

    `base` is the programmed phase model (float64), `readings` (T, M, N) are the phases, NaN where
    none was read, and `weights` (T, K + 1) interpolate the grid of `dynamics` at their times.
    """

    unknowns: Unknowns
    base: PhaseModel
    dynamics: Dynamics
    readings: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        self._base = self.base.map(Tensor.float)
        self._read = torch.from_numpy(~np.isnan(self.readings))
        self._readings = torch.from_numpy(np.nan_to_num(self.readings)).float()
        self._weights = torch.from_numpy(self.weights).float()

    def path(self, x: np.ndarray) -> np.ndarray:
        """The phases (K + 1, M, N) of a chip with these unknowns."""
        model = self.unknowns.phase_model(x, self._base)
        path: Tensor = kernels.rollout(model, self.dynamics, record=True)
        return path[:, 0].double().numpy()

    def noise(self, x: np.ndarray) -> float:
        """The root mean square of the residuals."""
        residuals = self._residuals(torch.from_numpy(self.path(x)).float())
        return float((residuals.double().square().sum() / self._read.sum()).sqrt())

    def _residuals(self, path: Tensor) -> Tensor:
        """The phases of a path minus the readings (T, M, N), 0 where none was read."""
        phases: Tensor = torch.tensordot(self._weights, path, 1)
        return (phases - self._readings) * self._read

    def minus_log(self, x: np.ndarray, noise: float) -> tuple[float, np.ndarray]:
        """-log p(x) and its gradient."""
        model = self.unknowns.phase_model(x, self._base)
        path, pullback = kernels.rollout_with_pullback(model, self.dynamics, record=True)
        residuals = self._residuals(path[:, 0])
        value = float(residuals.double().square().sum()) / (2 * noise**2)
        by_path = torch.tensordot(self._weights.T, residuals / noise**2, 1)[:, None]
        gradient = self.unknowns.pullback(pullback(by_path), self._base)
        prior = x / self.unknowns.spread**2
        return value + 0.5 * float(x @ prior), gradient + prior

    def fit(
        self,
        start: np.ndarray,
        factor: np.ndarray,
        noise: float,
        iterations: int,
        on_progress: Callable[[float], None],
    ) -> np.ndarray:
        """The most likely unknowns; `factor` is the L of the weak form's posterior."""

        def unknowns(z: np.ndarray) -> np.ndarray:
            return np.asarray(scipy.linalg.solve_triangular(factor.T, z, lower=False))

        def target(z: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.minus_log(unknowns(z), noise)
            if not np.isfinite(value) or not np.isfinite(gradient).all():
                return 1e30, np.zeros_like(z)  # after a step too far: the line search returns
            return value, scipy.linalg.solve_triangular(factor, gradient, lower=True)

        done = itertools.count(1)
        result = scipy.optimize.minimize(
            target,
            factor.T @ start,
            jac=True,
            method="L-BFGS-B",
            callback=lambda _: on_progress(next(done) / iterations),
            options={"maxiter": iterations, "maxcor": _MEMORY},
        )
        return unknowns(result.x)
