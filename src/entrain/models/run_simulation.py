"""Simulations of `Oscillators`: what was asked for as a phase model, its steps and its noise.

Rows of the batch are restarts x samples; axes that were not asked for are dropped at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from entrain import kernels
from entrain.models.simulation import Simulation
from entrain.physics import (
    Dynamics,
    Noise,
    PhaseModel,
    Schedule,
    interpolate_path,
    warn_if_unstable,
)
from entrain.physics.noise import random_phases
from entrain.physics.phase_model import is_per_sample
from entrain.physics.schedule import is_constant, step_values
from entrain.physics.terms import LOCAL
from entrain.utils.errors import InputError, positive_float, positive_int, seed_number, unknown_name

if TYPE_CHECKING:
    from entrain.models.oscillators import Oscillators


@dataclass(frozen=True)
class Request:
    """The arguments of `Oscillators.simulate` other than inputs."""

    time: float | None
    steps: int | None
    starts: Any
    restarts: int | None
    schedule: Mapping[str, Any] | None
    temperature: float
    seed: int
    record: int
    times: Sequence[float] | Tensor | None
    method: str
    first_sample: int


@dataclass(frozen=True)
class Drive:
    """Inputs in time (..., T, D), each held for a time and a number of steps."""

    inputs: Tensor
    hold: float
    steps: int

    @staticmethod
    def of(
        inputs: Tensor | None, hold: float | None, steps: int | None, dynamics: Dynamics
    ) -> Drive | None:
        """The drive of these arguments, or None."""
        if inputs is None:
            for name, value in (("hold", hold), ("steps_per_input", steps)):
                if value is not None:
                    raise InputError(f"{name} is of inputs in time, but there is no drive")
            return None
        if not isinstance(inputs, Tensor) or inputs.dim() < 2 or inputs.shape[-2] < 1:
            raise InputError("drive must be a tensor B x T x D, or T x D, of T inputs in time")
        return Drive(
            inputs,
            dynamics.observation_time if hold is None else positive_float("hold", hold),
            dynamics.steps if steps is None else positive_int("steps_per_input", steps),
        )

    @property
    def count(self) -> int:
        """T."""
        return int(self.inputs.shape[-2])


def run_simulation(
    oscillators: Oscillators, inputs: Tensor | None, drive: Drive | None, request: Request
) -> Simulation:
    """The simulation that was asked for."""
    dynamics = _dynamics(oscillators.dynamics, drive, request)
    before = request.starts if isinstance(request.starts, Simulation) else None
    rows = _Rows.of(oscillators, inputs, drive, request)
    model = rows.model(oscillators, inputs, drive)
    model, temperatures = _with_schedule(model, request, dynamics.steps)
    begin, first_step = (0.0, 0) if before is None else before.end
    noise = rows.noise(request, temperatures, first_step, model.fields.device)
    if not _is_traced(model):
        warn_if_unstable(model, dynamics, request.method)
    record = _record(drive, request)
    path = kernels.rollout(model, dynamics, noise=noise, record=record, method=request.method)
    path = path if noise is None else path.squeeze(-3)
    path = rows.unflatten(path if record else path[None])
    phases = path
    times = torch.arange(len(path), dtype=torch.float64) * (record * dynamics.time_step)
    if not record:
        times = torch.tensor([dynamics.observation_time], dtype=torch.float64)
    elif request.times is not None:
        phases = interpolate_path(path, request.times, dynamics, wrapped=noise is not None)
        times = torch.as_tensor(request.times, dtype=torch.float64)
    after_inputs = None
    if drive is not None:
        every = drive.steps // record
        after_inputs = path[every::every]
    return Simulation(
        phases,
        times + begin,
        path[-1],
        oscillators.read,
        after_inputs,
        end=(begin + dynamics.observation_time, first_step + dynamics.steps),
        restarts=rows.restarts,
        is_batched=rows.is_batched,
    )


def _is_traced(model: PhaseModel) -> bool:
    """True where numbers cannot be read, or where a training step would wait for them."""
    if model.fields.is_cuda and torch.is_grad_enabled():
        return True
    capturing = model.fields.is_cuda and torch.cuda.is_current_stream_capturing()
    transforming = torch._C._are_functorch_transforms_active()
    return bool(capturing or transforming or torch.compiler.is_compiling())


def _record(drive: Drive | None, request: Request) -> int:
    """n, to record every n-th step; 0 for the end alone."""
    if request.times is not None:
        if request.record:
            raise InputError("times are returned instead of every n-th step: record must be 0")
        if len(request.times) == 0:
            raise InputError("times must be at least one")
        return 1
    record = int(request.record) if isinstance(request.record, bool) else request.record
    if not isinstance(record, int) or record < 0:
        raise InputError(f"record must be a whole number of at least 0, got {request.record!r}")
    if drive is None:
        return record
    if record and drive.steps % record:
        raise InputError(
            f"record must divide the {drive.steps} steps of an input in time, got {record}"
        )
    return record or drive.steps


def _dynamics(default: Dynamics, drive: Drive | None, request: Request) -> Dynamics:
    if drive is not None:
        if request.time is not None or request.steps is not None:
            raise InputError("time and steps follow from hold and steps_per_input of the drive")
        time, steps = drive.count * drive.hold, drive.count * drive.steps
        return replace(default, observation_time=time, steps=steps)
    if request.time is None and request.steps is None:
        return default
    time = default.observation_time if request.time is None else request.time
    time = positive_float("time", time)
    steps = default.steps if request.steps is None else request.steps
    if request.steps is None and request.time is not None:
        steps = max(1, round(time / default.time_step))
    return replace(default, observation_time=time, steps=steps)


def _phases(starts: Any) -> Tensor:
    try:
        return starts if isinstance(starts, Tensor) else torch.as_tensor(np.asarray(starts))
    except (TypeError, ValueError) as error:
        raise InputError(f"starts must be phases, got {type(starts).__name__}") from error


def _check_axes(name: str, tensor: Tensor | None, axes: tuple[str, ...], runs: int | None) -> None:
    """Refuse inputs that are no tensor of these axes, without or with those of samples and runs."""
    if tensor is not None and not isinstance(tensor, Tensor):
        raise InputError(f"{name} must be a PyTorch tensor, got {type(tensor).__name__}")
    forms = [" x ".join(axes), " x ".join(axes[1:])]
    if runs is not None:
        forms.insert(0, " x ".join(("runs", *axes)))
    if tensor is not None and tensor.dim() not in range(len(axes) - 1, len(axes) + len(forms) - 1):
        expected = " or ".join([", ".join(forms[:-1]), forms[-1]])
        raise InputError(f"{name} must be {expected}; got shape {tuple(tensor.shape)}")


@dataclass(frozen=True)
class _Rows:
    """The rows of a batch: M restarts of B samples."""

    runs: int | None
    restarts: int | None
    samples: int
    is_batched: bool
    starts: Tensor | None

    @staticmethod
    def of(
        oscillators: Oscillators, inputs: Tensor | None, drive: Drive | None, request: Request
    ) -> _Rows:
        starts, restarts, runs = request.starts, request.restarts, oscillators.runs
        if restarts is not None:
            positive_int("restarts", restarts)
        _check_axes("inputs", inputs, ("B", "D"), runs)
        _check_axes("drive", None if drive is None else drive.inputs, ("B", "T", "D"), runs)
        sizes = []
        if inputs is not None and inputs.dim() > 1:
            sizes.append(("inputs", inputs.shape[-2]))
        if drive is not None and drive.inputs.dim() > 2:
            sizes.append(("drive", drive.inputs.shape[-3]))
        state = None
        if isinstance(starts, Simulation):
            if restarts not in (None, starts.restarts):
                raise InputError(
                    f"restarts must be those of the simulation to continue, {starts.restarts}; "
                    f"got {restarts}"
                )
            restarts, state = starts.restarts, starts.final
            if starts.is_batched:
                sizes.append(("the simulation to continue", state.shape[-2]))
            else:
                state = state.unsqueeze(-2)
        elif isinstance(starts, str):
            if starts != "random":
                raise InputError(f'starts must be phases or "random", got {starts!r}')
        elif starts is not None:
            state = _phases(starts)
            if state.dim() > 1:
                sizes.append(("starts", state.shape[-2]))
        count = next((size for _, size in sizes if size != 1), 1)
        for name, size in sizes:
            if size not in (1, count):
                known = next(other for other, s in sizes if s == count)
                raise InputError(f"{known} have {count} samples, {name} {size}")
        rows = _Rows(runs, restarts, int(count), bool(sizes), None)
        if isinstance(starts, str):
            state = rows.random_starts(request, oscillators)
        return replace(rows, starts=None if state is None else rows.flatten(state, oscillators))

    @property
    def _copies(self) -> int:
        return self.restarts or 1

    def _indices(self, request: Request) -> tuple[Tensor, Tensor]:
        """Sample and restart of every row (rows,)."""
        first = seed_number("first_sample", request.first_sample)
        samples = torch.arange(self.samples).repeat(self._copies) + first
        return samples, torch.arange(self._copies).repeat_interleave(self.samples)

    def random_starts(self, request: Request, oscillators: Oscillators) -> Tensor:
        """Phases uniform on the circle (M, B, N), of seed, restart, sample and oscillator."""
        seed = seed_number("seed", request.seed)
        phases = random_phases(seed, *self._indices(request), oscillators.oscillators)
        return phases.reshape(self._copies, self.samples, -1)

    def flatten(self, phases: Tensor, oscillators: Oscillators) -> Tensor:
        """Phases (N,), (B, N), or with axes of runs and restarts, as (R, rows, N)."""
        n = oscillators.oscillators
        shape = (self.runs or 1, self._copies, self.samples, n)
        phases, given = phases.to(oscillators.biases), tuple(phases.shape)
        if not given or given[-1] != n:
            raise InputError(f"starts must be {n} phases, one for each oscillator; got {given}")
        if not bool(phases.detach().isfinite().all()):
            raise InputError("starts must be finite, got NaN or infinity")
        if self.restarts is None and len(given) > 2:
            phases = phases.unsqueeze(-3)
        try:
            return phases.expand(shape).reshape(shape[0], -1, n)
        except RuntimeError as error:
            axes = self.unflatten(phases.new_empty(1, shape[0], self._copies * self.samples, n))
            expected = " x ".join(map(str, axes.shape[1:]))
            raise InputError(f"starts must broadcast to {expected}; got shape {given}") from error

    def model(
        self, oscillators: Oscillators, inputs: Tensor | None, drive: Drive | None
    ) -> PhaseModel:
        """The phase model of all rows, with an axis of runs."""
        if inputs is not None and inputs.dim() == 1:
            inputs = inputs[None]
        model = oscillators.phase_model(inputs, samples=self.samples)
        if self.runs is None:
            model = model.map(lambda tensor: tensor[None])
        shape = (self.runs or 1, self.samples, model.fields.shape[-1])
        model = replace(model, fields=model.fields.expand(shape))
        if drive is not None:
            fields = oscillators.drive_fields(drive.inputs).movedim(-2, 0)  # (T, ..., N)
            fields = fields.reshape(len(fields), *[1] * (4 - fields.dim()), *fields.shape[1:])
            schedule = Schedule(drive=fields.expand(drive.count, *shape), hold=drive.steps)
            model = replace(model, schedule=schedule)
        if self._copies > 1:
            model = model.with_tensors(
                {
                    name: tensor.repeat(*[1] * (tensor.dim() - 2), self._copies, 1)
                    for name, tensor in model.tensors().items()
                    if is_per_sample(name) and (name in ("fields", "drive") or tensor.shape[-2] > 1)
                }
            )
        return model if self.starts is None else replace(model, start=self.starts)

    def noise(
        self, request: Request, temperatures: Tensor | float, first: int, device: torch.device
    ) -> Noise | None:
        """The noise of all rows, or None at kT = 0."""
        varies = isinstance(temperatures, Tensor)
        highest = float(temperatures.max() if varies else temperatures)  # type: ignore[union-attr]
        if highest == 0:
            return None
        samples, restarts = self._indices(request)
        factors = temperatures.double() / highest if isinstance(temperatures, Tensor) else None
        return Noise(
            seed=request.seed,
            temperature=highest,
            replicates=(restarts[None] if self._copies > 1 else restarts[:1]).to(device),
            samples=samples.to(device),
            factors=factors,
            first=first,
        )

    def unflatten(self, phases: Tensor) -> Tensor:
        """Phases (T, R, rows, N) with the axes that were asked for."""
        times, n = len(phases), phases.shape[-1]
        phases = phases.reshape(times, self.runs or 1, self._copies, self.samples, n)
        if not self.is_batched:
            phases = phases.squeeze(3)
        if self.restarts is None:
            phases = phases.squeeze(2)
        return phases if self.runs is not None else phases.squeeze(1)


def _with_schedule(
    model: PhaseModel, request: Request, steps: int
) -> tuple[PhaseModel, Tensor | float]:
    """The model with its schedule, and the temperature, constant or of every step."""
    temperature: Tensor | float = positive_float("temperature", request.temperature, zero=True)
    factors, scaled = dict[str, Tensor](), dict[str, Tensor]()
    tensors = model.tensors()
    given = {} if request.schedule is None else request.schedule
    if not isinstance(given, Mapping):
        raise InputError(f"schedule must map names to values, got {type(given).__name__}")
    for name, values in given.items():
        factor = step_values(name, values, steps)
        if name == "temperature":
            if temperature != 0:
                raise InputError("temperature has a schedule: give one of both")
            if bool((factor < 0).any()):
                raise InputError("the schedule of temperature must not be negative")
            if factor.requires_grad:
                raise InputError("the temperature is not differentiable: detach its schedule")
            temperature = float(factor[0]) if is_constant(factor) else factor
        elif name not in ("fields", "couplings", *LOCAL):
            raise unknown_name(
                "scheduled quantity", name, ("fields", "couplings", "temperature", *LOCAL)
            )
        elif name not in tensors:
            raise InputError(
                f"the schedule of {name} is a factor of its constant value, which the oscillators "
                f"do not have; give Oscillators {name}=1.0"
            )
        elif is_constant(factor):
            if float(factor[0]) != 1.0:
                scaled[name] = float(factor[0]) * tensors[name]
        else:
            factors[name] = factor.to(model.fields)
    model = model.with_tensors(scaled) if scaled else model
    if factors:
        schedule = replace(model.schedule or Schedule(), factors=factors)
        model = replace(model, schedule=schedule)
    return model, temperature
