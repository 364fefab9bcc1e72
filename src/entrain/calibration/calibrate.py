"""The parameters of a chip from its traces, with standard errors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.interpolate import CubicSpline
from threadpoolctl import threadpool_limits
from torch import Tensor

from entrain.calibration.likelihood import Trajectories
from entrain.calibration.traces import Traces, weights
from entrain.calibration.unknowns import Prior, Unknowns
from entrain.calibration.weak_form import BATCH, Posterior, solve
from entrain.hardware import Hardware
from entrain.hardware.chip import on_chips
from entrain.hardware.hardware import RANDOM_EFFECTS
from entrain.models.model import Model
from entrain.physics import PhaseModel
from entrain.utils.errors import InputError, positive_int

_MIN_NOISE = 1e-4  # rad, the resolution of float32 trajectories
_NOT_SHOWN = 0.7  # of the prior's spread: with a larger one the traces did not show an unknown
_NO_FIT = 0.5  # rad: larger differences from the best fit mean another chip or unit
_DOUBTFUL = 3.0  # times the stated noise
_MAX_UNKNOWNS = 20_000  # their precision is a dense matrix
_MOST_NUMBERS = 2**26  # of a path, of which a calibration keeps several

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Calibration:
    """A chip estimated from traces.

    Args:
        unknowns: The unknown parameters and their order in vectors.
        estimate: The estimated vector.
        spread: Its standard deviations.
        weak: The estimate of the weak form alone.
        noise: Root mean square difference of the readings from the fit, in rad.
        noise_as_programmed: The same from the network as programmed.
        traces: Runs that were measured.
        hardware: The calibrated chip.
        stated_noise: Noise of a reading according to the traces, in rad.
    """

    unknowns: Unknowns
    estimate: np.ndarray
    spread: np.ndarray
    weak: np.ndarray
    noise: float
    noise_as_programmed: float
    traces: int
    hardware: Hardware
    stated_noise: float | None = None

    @property
    def doubt(self) -> str | None:
        """Why the model may not describe the chip; None if the readings agree with the fit."""
        stated = self.stated_noise
        if stated is None or self.noise <= _DOUBTFUL * max(stated, _MIN_NOISE):
            return None
        return (
            f"readings differ from the fitted chip by {self.noise:.2g} rad, but their noise is "
            f"given as {stated:.2g} rad: the noise is larger, or the chip has an effect that the "
            "model lacks"
        )

    @property
    def couplings(self) -> np.ndarray:
        """The effective couplings (N, N)."""
        return np.asarray(self.unknowns.programmed * self.unknowns.gains(self.estimate))

    def part(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Estimates and standard deviations of one kind of unknown.

        Args:
            name: A field of `Prior`, such as "couplings".
        """
        u = self.unknowns
        return u.part(name, self.estimate), u.part(name, self.spread)

    @property
    def not_shown(self) -> dict[str, list[int]]:
        """Unknowns that the traces did not determine, by kind: oscillators, or couplers in the
        order of `unknowns.pairs`."""
        unknown = self.spread > _NOT_SHOWN * self.unknowns.spread
        indices = {
            name: np.flatnonzero(unknown[part]).tolist()
            for name, part in self.unknowns.parts.items()
            if name != "asymmetry"  # a priori small: traces seldom determine it better
        }
        return {name: values for name, values in indices.items() if values}

    def summary(self) -> dict[str, Any]:
        """Noise, and statistics of each kind of unknown, as JSON values."""
        parts = {}
        for name in self.unknowns.parts:
            estimate, spread = self.part(name)
            parts[name] = {
                "count": len(estimate),
                "mean": float(estimate.mean()),
                "sd": float(estimate.std()),
                "error": float(np.sqrt(np.square(spread).mean())),
                "not_shown": len(self.not_shown.get(name, ())),
            }
        return {
            "traces": self.traces,
            "noise": self.noise,
            "noise_as_programmed": self.noise_as_programmed,
            "doubt": self.doubt,
            "parts": parts,
        }

    def to_json(self) -> dict[str, Any]:
        """Every estimate with its error, as JSON values."""
        u = self.unknowns
        values = self.summary() | {
            "oscillators": u.oscillators,
            "couplers": u.pairs.tolist(),
            "not_shown": self.not_shown,
        }
        for name in u.parts:
            estimate, spread = self.part(name)
            values[name] = {"estimate": estimate.tolist(), "error": spread.tolist()}
        return values

    def model(self, model: Model) -> Model:
        """A model with the calibrated chip as its hardware.

        Args:
            model: The model that the chip was programmed with.
        """
        details = model.details | {"calibration": self.summary()}
        return replace(model, hardware=self.hardware, details=details)


def calibrate(
    model: Model,
    traces: Traces,
    *,
    prior: Prior | None = None,
    steps: int | None = None,
    iterations: int = 40,
    on_progress: Progress | None = None,
) -> Calibration:
    """The parameters of a chip that was programmed with a model, estimated from its traces.

    The weak form gives a first estimate, maximum likelihood the final one. Standard errors are
    those of the weak form's posterior, widened for each kind of unknown by the spread of a second
    fit to simulated readings: those of the first fit, at the same times with the same noise.

    Args:
        model: The model that the chip was programmed with.
        traces: Phases read from the chip.
        prior: Standard deviations of a chip from its program. Default: `Prior()`.
        steps: Euler steps of the fitted model. Default: those of the network.
        iterations: Of maximum likelihood.
        on_progress: Called with the name of a stage and its completed fraction.
    """
    if traces.phases is None:
        raise InputError("the traces are a plan of fields and times; phases must be read first")
    n = model.network.oscillators
    if traces.oscillators != n:
        raise InputError(f"traces of {traces.oscillators} oscillators, the network has {n}")
    dynamics = model.network.dynamics
    if steps is not None:
        dynamics = replace(dynamics, steps=positive_int("steps", steps, most=10**5))
    _check_size(traces, dynamics.steps)
    hardware, base = nominal(model, torch.from_numpy(traces.fields))
    unknowns = Unknowns(base.matrix[0].numpy(), prior or Prior())
    if not len(unknowns) or len(unknowns) > _MAX_UNKNOWNS:
        raise InputError(
            f"there are {len(unknowns)} unknowns; a calibration takes 1 to {_MAX_UNKNOWNS}"
        )
    readings = traces.unwrapped(base.starts()[0].numpy())
    trajectories = Trajectories(unknowns, base, dynamics, readings, weights(traces.times, dynamics))
    fit = _Fit(trajectories, traces, on_progress or (lambda stage, fraction: None))
    with threadpool_limits(1, "blas"):  # several threads wait longer for such small products
        estimate, posterior, weak = fit.run(iterations)
    noise = trajectories.noise(estimate)
    if not noise <= _NO_FIT:  # NaN too
        raise InputError(
            f"no chip fits the traces: the readings differ from the best fit by {noise:.3g} rad. "
            "Are phases in rad against the reference, times in the unit of the network's time, "
            "and fields those of the same runs?"
        )
    spread = fit.widened_spread(estimate, posterior, iterations)
    if traces.noise is not None:  # larger differences than stated widen the errors
        factor = max(1.0, noise / max(traces.noise, _MIN_NOISE))
        spread = np.minimum(factor * spread, unknowns.spread)
    calibration = Calibration(
        unknowns,
        estimate,
        spread,
        weak,
        noise,
        trajectories.noise(np.zeros(len(unknowns))),
        traces.runs,
        replace(hardware, measured=unknowns.measured(estimate)),
        traces.noise,
    )
    if calibration.doubt is not None:
        warnings.warn(calibration.doubt, RuntimeWarning, stacklevel=2)
    return calibration


def _check_size(traces: Traces, steps: int) -> None:
    """Refuse traces whose simulated paths take too much memory."""
    times, runs, grid = len(traces.times), traces.runs, steps + 1
    if max(grid, times) * max(runs, BATCH) * traces.oscillators > _MOST_NUMBERS:
        raise InputError(
            f"{runs:,} runs, {times:,} times, {traces.oscillators:,} oscillators and {steps:,} "
            f"steps; expected a product of runs, oscillators and times or steps of at most "
            f"{_MOST_NUMBERS:,}: calibrate with fewer"
        )


def nominal(model: Model, fields: Tensor) -> tuple[Hardware, PhaseModel]:
    """The hardware without effects that differ from chip to chip, and the phase model of the
    programmed network under fields (M, N), in float64."""
    hardware = Hardware() if model.hardware is None else model.hardware
    random = dict.fromkeys((*RANDOM_EFFECTS, "measured", "phase_noise", "readout", "delay"))
    ideal = replace(hardware, **random)  # type: ignore[arg-type]
    common = replace(hardware, **dict.fromkeys(RANDOM_EFFECTS))  # type: ignore[arg-type]
    parameters = model.batched_parameters().map(Tensor.double)
    realised = on_chips(parameters, ideal, [0]).parameters
    base = realised.under_fields(fields[None].double())
    return common, base.map(lambda tensor: tensor.detach().cpu())


class _Fit:
    """Estimation of one chip from its readings."""

    def __init__(self, trajectories: Trajectories, traces: Traces, report: Progress) -> None:
        self._trajectories, self._unknowns = trajectories, trajectories.unknowns
        self._times, self._stated_noise = traces.times, traces.noise
        self._missing = np.isnan(trajectories.readings)
        self._report = report

    def run(self, iterations: int) -> tuple[np.ndarray, Posterior, np.ndarray]:
        """The estimate, the weak form's posterior, and its mean."""
        x = np.zeros(len(self._unknowns))
        noise = max(self._stated_noise or 0.0, _MIN_NOISE)
        # Oscillators that were not read follow the model: as programmed, then as estimated.
        missing = bool(self._missing.any())
        for number in range(2 if missing else 1):
            posterior = self._weak(x, noise, f"weak form {number + 1}" if missing else "weak form")
            x = posterior.mean
        weak = x
        for number in range(2 if self._stated_noise is None or missing else 1):
            if number and missing:
                posterior = self._weak(x, noise, "weak form again")
            if self._stated_noise is None:
                noise = max(self._trajectories.noise(x), _MIN_NOISE)
            stage = f"trajectories {number + 1}" if missing else "trajectories"
            x = self._trajectories.fit(
                x, posterior.factor, noise, iterations, functools.partial(self._report, stage)
            )
        self._noise = noise
        if self._stated_noise is None:  # the width of the posterior follows the estimated noise
            posterior = self._weak(x, noise, "errors")
        return x, posterior, weak

    def _weak(self, x: np.ndarray, noise: float, stage: str) -> Posterior:
        report = functools.partial(self._report, stage)
        return solve(self._trajectories, self._path(x), noise, report)

    def _path(self, x: np.ndarray) -> np.ndarray:
        """The measured path (K + 1, M, N) on the grid; that of unknowns x if none was read."""
        data = self._trajectories
        start = data.base.starts()[0].numpy()
        if not self._missing.any():
            return self._interpolate(data.readings, start)
        path = data.path(x)
        residuals = data.readings - np.tensordot(data.weights, path, 1)
        residuals = np.where(self._missing, 0.0, residuals)
        return np.asarray(path + self._interpolate(residuals, np.zeros_like(start)))

    def _interpolate(self, values: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Values (T, M, N) at the times of the readings, and `start` at 0, on the grid: a cubic
        spline, constant after the last reading."""
        dynamics = self._trajectories.dynamics
        grid = np.linspace(0.0, dynamics.observation_time, dynamics.steps + 1)
        times = np.concatenate([[0.0], self._times])
        spline = CubicSpline(times, np.concatenate([start[None], values]), axis=0)
        return np.asarray(spline(np.minimum(grid, times[-1])))

    def widened_spread(
        self, estimate: np.ndarray, posterior: Posterior, iterations: int
    ) -> np.ndarray:
        """Standard deviations of the unknowns; see `calibrate`."""
        spread, unknowns = posterior.spread, self._unknowns
        phases = np.tensordot(self._trajectories.weights, self._trajectories.path(estimate), 1)
        errors = np.random.default_rng(0).standard_normal(phases.shape)
        readings = np.where(self._missing, np.nan, phases + self._noise * errors)
        report = functools.partial(self._report, "errors")
        refit = replace(self._trajectories, readings=readings).fit(
            estimate, posterior.factor, self._noise, iterations, report
        )
        ratio = (refit - estimate) / spread
        for part in unknowns.parts.values():
            determined = spread[part] < _NOT_SHOWN * unknowns.spread[part]
            if determined.sum() > 4:
                factor = float(np.sqrt(np.square(ratio[part][determined]).mean()))
                spread[part] = np.minimum(spread[part] * max(1.0, factor), unknowns.spread[part])
        return spread
