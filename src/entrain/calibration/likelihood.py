r"""The trajectories themselves: maximum likelihood through the exact adjoint.

    - log p(x) = 1 / (2 s^2) sum (theta(t_r; x) - reading)^2 + 1/2 sum (x / prior sd)^2

over the readings that are there, s the standard deviation of a reading. Minimised by L-BFGS in
coordinates in which the weak form's posterior is round: z = L^T x.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.optimize
import torch
from torch import Tensor

from entrain import kernels
from entrain.calibration.unknowns import Unknowns
from entrain.physics import Dynamics, PhaseModel

_MEMORY = 20  # steps that L-BFGS keeps


class Trajectories:
    """A device's readings, and how likely they are for any unknowns."""

    def __init__(
        self,
        unknowns: Unknowns,
        base: PhaseModel,
        dynamics: Dynamics,
        readings: np.ndarray,
        reading_weights: np.ndarray,
    ) -> None:
        self._unknowns, self._base, self._dynamics = unknowns, base, dynamics
        self._read = torch.from_numpy(~np.isnan(readings))
        self._readings = torch.from_numpy(np.nan_to_num(readings)).float()
        self._weights = torch.from_numpy(reading_weights).float()

    def path(self, x: np.ndarray) -> np.ndarray:
        """The phases (K + 1, M, N) of a device with these unknowns."""
        model = self._unknowns.phase_model(x, self._base)
        found: np.ndarray = kernels.rollout(model, self._dynamics, record=True)[:, 0].numpy()
        return found.astype(np.float64)

    def noise(self, x: np.ndarray) -> float:
        """The root mean square of what is left of the readings."""
        left = self._left(torch.from_numpy(self.path(x)).float())
        return float((left.double().square().sum() / self._read.sum()).sqrt())

    def _left(self, path: Tensor) -> Tensor:
        """What the readings differ by (T, M, N), 0 where there are none."""
        read: Tensor = torch.tensordot(self._weights, path, 1)
        return (read - self._readings) * self._read

    def minus_log(self, x: np.ndarray, noise: float) -> tuple[float, np.ndarray]:
        """-log p(x) and its gradient."""
        model = self._unknowns.phase_model(x, self._base)
        path, pullback = kernels.rollout_with_pullback(model, self._dynamics, record=True)
        left = self._left(path[:, 0])
        value = float(left.double().square().sum()) / (2 * noise**2)
        by_path = torch.tensordot(self._weights.T, left / noise**2, 1)[:, None]
        gradient = self._unknowns.pullback(pullback(by_path), self._base)
        beliefs = x / self._unknowns.spread**2
        return value + 0.5 * float(x @ beliefs), gradient + beliefs

    def fit(
        self,
        start: np.ndarray,
        factor: np.ndarray,
        noise: float,
        iterations: int,
        on_progress: Callable[[float], None] | None = None,
    ) -> np.ndarray:
        """The most likely unknowns; `factor` is that of the weak form's precision."""

        def round_again(z: np.ndarray) -> np.ndarray:
            found: np.ndarray = scipy.linalg.solve_triangular(factor.T, z, lower=False)
            return found

        def target(z: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.minus_log(round_again(z), noise)
            if not np.isfinite(value) or not np.isfinite(gradient).all():
                # A step too far: the line search comes back.
                return 1e30, np.zeros_like(z)
            return value, scipy.linalg.solve_triangular(factor, gradient, lower=True)

        done = 0

        def after(_: np.ndarray) -> None:
            nonlocal done
            done += 1
            if on_progress is not None:
                on_progress(done / iterations)

        found = scipy.optimize.minimize(  # type: ignore[call-overload]
            target,
            factor.T @ start,
            jac=True,
            method="L-BFGS-B",
            callback=after,
            options={"maxiter": iterations, "maxcor": _MEMORY},
        )
        return round_again(found.x)
