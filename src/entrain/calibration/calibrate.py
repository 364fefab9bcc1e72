"""A device from its traces: what acts in it, how well that is known, and what was not shown."""

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
from entrain.calibration.traces import Traces, acting_under, weights
from entrain.calibration.unknowns import Prior, Unknowns
from entrain.calibration.weak_form import Posterior, solve
from entrain.hardware import Hardware
from entrain.hardware.chip import on_chips
from entrain.hardware.hardware import DRAWN
from entrain.models.model import Model
from entrain.physics import Dynamics, PhaseModel
from entrain.utils.errors import InputError, positive_int

_LEAST_NOISE = 1e-4  # rad: what float32 trajectories can tell apart
_NOT_SHOWN = 0.7  # of the prior's spread: an unknown that is known no better was not shown
_NO_FIT = 0.5  # rad: readings that differ by more from the best fit are of another device or unit
_DOUBTFUL = 3.0  # times the stated noise
_MOST_UNKNOWNS = 20_000  # their precision is a dense matrix

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Calibration:
    """What traces say of a device.

    `estimate` and `spread` are vectors of `unknowns`: the unknown numbers and their standard
    deviations. `noise` is what is left of the readings, `stated_noise` what the traces say of it
    (None: nothing), both in rad. `weak` is the estimate of the weak form alone.
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
        """Why the model may not describe the device, None where the readings do not say so."""
        if self.stated_noise is None:
            return None
        stated = max(self.stated_noise, _LEAST_NOISE)
        if self.noise <= _DOUBTFUL * stated:
            return None
        return (
            f"readings differ from the fitted device by {self.noise:.2g} rad, but their noise is "
            f"given as {self.stated_noise:.2g} rad: the noise is larger, or the device does "
            "something that the model does not have"
        )

    @property
    def couplings(self) -> np.ndarray:
        """The effective couplings (N, N)."""
        found: np.ndarray = self.unknowns.programmed * self.unknowns.gains(self.estimate)
        return found

    def part(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Estimates and standard deviations of one kind of unknown."""
        u = self.unknowns
        return u.part(name, self.estimate), u.part(name, self.spread)

    @property
    def not_shown(self) -> dict[str, list[int]]:
        """Unknowns that the experiments did not excite, by kind: oscillators, or couplers in the
        order of `unknowns.pairs`."""
        weakly = self.spread > _NOT_SHOWN * self.unknowns.spread
        found = {
            name: np.flatnonzero(weakly[part]).tolist()
            for name, part in self.unknowns.parts.items()
            if name != "asymmetry"  # believed small before: traces seldom tell more
        }
        return {name: places for name, places in found.items() if places}

    def summary(self) -> dict[str, Any]:
        """What a report shows, as JSON values."""
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
        found = self.summary() | {
            "oscillators": u.oscillators,
            "couplers": u.pairs.tolist(),
            "not_shown": self.not_shown,
        }
        for name in u.parts:
            estimate, spread = self.part(name)
            found[name] = {"estimate": estimate.tolist(), "error": spread.tolist()}
        return found

    def model(self, model: Model) -> Model:
        """`model` with this device as the hardware it is made for."""
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
    """The numbers of the device that was programmed with `model` and read in `traces`.

    First by the weak form, then by `iterations` of maximum likelihood. `steps` are the Euler steps
    of the fitted model, the network's own unless told. Errors of the estimates come from the weak
    form's posterior, widened for each kind of unknown by what a second fit to readings drawn from
    the first shows: readings at the same times with the same noise.
    """
    if traces.phases is None:
        raise InputError("the traces hold a plan: fields and times, but no phases were read yet")
    n = model.network.oscillators
    if traces.oscillators != n:
        raise InputError(f"traces of {traces.oscillators} oscillators, the network has {n}")
    told = on_progress or (lambda stage, fraction: None)
    dynamics = model.network.dynamics
    if steps is not None:
        dynamics = replace(dynamics, steps=positive_int("steps", steps, most=10**5))
    hardware, base = programmed(model, torch.from_numpy(traces.fields))
    unknowns = Unknowns(base.couplings[0].numpy(), prior or Prior())
    if not len(unknowns) or len(unknowns) > _MOST_UNKNOWNS:
        raise InputError(
            f"there are {len(unknowns)} unknowns; a calibration takes 1 to {_MOST_UNKNOWNS}"
        )
    fit = _Fit(unknowns, base, dynamics, traces, told)
    with threadpool_limits(1, "blas"):  # in a team, threads wait longer for so small products
        estimate, posterior, weak = fit.run(iterations)
    noise = fit.trajectories.noise(estimate)
    if not noise <= _NO_FIT:  # NaN too
        raise InputError(
            f"no device fits the traces: the readings differ from the best fit by {noise:.3g} rad. "
            "Are phases in rad against the reference, times in the unit of the network's time, "
            "and fields those of the same runs?"
        )
    spread = fit.widened(estimate, posterior, iterations)
    if traces.noise is not None:  # readings that differ by more than stated tell less
        wider = max(1.0, noise / max(traces.noise, _LEAST_NOISE))
        spread = np.minimum(wider * spread, unknowns.spread)
    found = replace(hardware, measured=unknowns.measured(estimate))
    calibration = Calibration(
        unknowns,
        estimate,
        spread,
        weak,
        noise,
        fit.trajectories.noise(np.zeros(len(unknowns))),
        traces.runs,
        found,
        traces.noise,
    )
    if calibration.doubt is not None:
        warnings.warn(calibration.doubt, RuntimeWarning, stacklevel=2)
    return calibration


def programmed(model: Model, given: Tensor) -> tuple[Hardware, PhaseModel]:
    """What a device was told: the hardware without what differs from chip to chip, and what acts
    under the fields `given` (M, N), in float64."""
    known = Hardware() if model.hardware is None else model.hardware
    drawn = dict.fromkeys((*DRAWN, "measured", "phase_noise", "readout", "delay"))
    plain = replace(known, **drawn)  # type: ignore[arg-type]
    kept = replace(known, **dict.fromkeys(DRAWN))  # type: ignore[arg-type]
    parameters = model.batched_parameters().map(Tensor.double)
    realised = on_chips(parameters, plain, [0]).parameters
    base = acting_under(realised, given[None].double())
    return kept, base.map(lambda tensor: tensor.detach().cpu())


class _Fit:
    """One device's readings on their way to an estimate."""

    def __init__(
        self,
        unknowns: Unknowns,
        base: PhaseModel,
        dynamics: Dynamics,
        traces: Traces,
        told: Progress,
    ) -> None:
        self._unknowns, self._base, self._dynamics, self._told = unknowns, base, dynamics, told
        self._single = base.map(Tensor.float)
        self._times, self._start = traces.times, base.starts()[0].numpy()
        self._weights = weights(traces.times, dynamics)
        self._readings = traces.unwrapped(self._start)
        self._given = traces.noise
        self.trajectories = self._of(self._readings)

    def _of(self, readings: np.ndarray) -> Trajectories:
        return Trajectories(self._unknowns, self._single, self._dynamics, readings, self._weights)

    def run(self, iterations: int) -> tuple[np.ndarray, Posterior, np.ndarray]:
        """The estimate, the weak form's posterior, and its mean."""
        x = np.zeros(len(self._unknowns))
        noise = max(self._given or 0.0, _LEAST_NOISE)
        # Oscillators that were not read follow the model: as programmed, then as estimated.
        missing = bool(np.isnan(self._readings).any())
        for number in range(2 if missing else 1):
            posterior = self._weak(x, noise, f"weak form {number + 1}" if missing else "weak form")
            x = posterior.mean
        weak = x
        for number in range(2 if self._given is None or missing else 1):
            if number and missing:
                posterior = self._weak(x, noise, "weak form again")
            if self._given is None:
                noise = max(self.trajectories.noise(x), _LEAST_NOISE)
            stage = f"trajectories {number + 1}" if missing else "trajectories"
            x = self.trajectories.fit(
                x, posterior.factor, noise, iterations, functools.partial(self._told, stage)
            )
        self._noise = noise
        if self._given is None:  # the posterior's width is that of the noise that was found
            posterior = self._weak(x, noise, "errors")
        return x, posterior, weak

    def _weak(self, x: np.ndarray, noise: float, stage: str) -> Posterior:
        return solve(
            self._unknowns,
            self._base,
            self._dynamics,
            self._path(x),
            self._readings,
            self._weights,
            noise,
            on_progress=lambda fraction: self._told(stage, fraction),
        )

    def _path(self, x: np.ndarray) -> np.ndarray:
        """The measured path (K + 1, M, N) on the grid; that of unknowns x where none was read."""
        readings = self._readings
        grid = np.linspace(0.0, self._dynamics.observation_time, self._dynamics.steps + 1)
        missing = np.isnan(readings)
        if not missing.any():
            return self._between(readings, self._start, grid)
        path = self.trajectories.path(x)
        left = np.where(missing, 0.0, readings - np.tensordot(self._weights, path, 1))
        found: np.ndarray = path + self._between(left, np.zeros_like(self._start), grid)
        return found

    def _between(self, values: np.ndarray, start: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """Values (T, M, N) at the readings' times, and `start` at 0, on the grid: smooth between,
        constant after the last."""
        times = np.concatenate([[0.0], self._times])
        known = np.concatenate([start[None], values])
        found: np.ndarray = CubicSpline(times, known, axis=0)(np.minimum(grid, times[-1]))
        return found

    def widened(self, estimate: np.ndarray, posterior: Posterior, iterations: int) -> np.ndarray:
        """Standard deviations of the unknowns; see `calibrate`."""
        spread, unknowns = posterior.spread, self._unknowns
        path = self.trajectories.path(estimate)
        readings = np.tensordot(self._weights, path, 1)
        errors = np.random.default_rng(0).standard_normal(readings.shape)
        drawn = np.where(np.isnan(self._readings), np.nan, readings + self._noise * errors)
        again = self._of(drawn).fit(
            estimate,
            posterior.factor,
            self._noise,
            iterations,
            functools.partial(self._told, "errors"),
        )
        ratio = (again - estimate) / spread
        for part in unknowns.parts.values():
            shown = spread[part] < _NOT_SHOWN * unknowns.spread[part]
            if shown.sum() > 4:
                factor = float(np.sqrt(np.square(ratio[part][shown]).mean()))
                spread[part] = np.minimum(spread[part] * max(1.0, factor), unknowns.spread[part])
        return spread
