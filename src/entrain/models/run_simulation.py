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
            raise InputError("drive must be a tensor (B, T, D) of T inputs in time")
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
    first_step = 0 if before is None else before.first_step
    noise = rows.noise(request, temperatures, first_step, model.fields.device)
    if not _is_traced(model):
        warn_if_unstable(model, dynamics, request.method)
    record = 1 if request.times is not None else int(request.record)
    if drive is not None and not record:
        record = drive.steps
    phases = kernels.rollout(model, dynamics, noise=noise, record=record, method=request.method)
    phases = phases if noise is None else phases.squeeze(-3)
    phases = phases if record else phases[None]
    times = torch.arange(len(phases), dtype=torch.float64) * (record * dynamics.time_step)
    if not record:
        times = torch.tensor([dynamics.observation_time], dtype=torch.float64)
    if request.times is not None:
        wrapped = noise is not None
        phases = interpolate_path(phases, request.times, dynamics, wrapped=wrapped)
        times = torch.as_tensor(request.times, dtype=torch.float64)
    begin = 0.0 if before is None else float(before.times[-1])
    return Simulation(
        rows.unflatten(phases),
        times + begin,
        oscillators.read,
        inputs=0 if drive is None or request.record or request.times is not None else drive.count,
        first_step=first_step + dynamics.steps,
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


def _dynamics(default: Dynamics, drive: Drive | None, request: Request) -> Dynamics:
    if drive is not None:
        if request.time is not None or request.steps is not None:
            raise InputError("time and steps follow from hold and steps_per_input of the drive")
        time, steps = drive.count * drive.hold, drive.count * drive.steps
        return replace(default, observation_time=time, steps=steps)
    time = default.observation_time if request.time is None else request.time
    time = positive_float("time", time)
    steps = default.steps if request.steps is None else request.steps
    if request.steps is None and request.time is not None:
        steps = max(1, round(time / default.time_step))
    return replace(default, observation_time=time, steps=steps)


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
        sizes = []
        if inputs is not None and inputs.dim() > 1:
            sizes.append(("inputs", inputs.shape[-2]))
        if drive is not None and drive.inputs.dim() > 2:
            sizes.append(("drive", drive.inputs.shape[-3]))
        if isinstance(starts, Simulation):
            if restarts not in (None, starts.restarts):
                raise InputError(
                    f"restarts must be those of the simulation to continue, {starts.restarts}; "
                    f"got {restarts}"
                )
            restarts, state = starts.restarts, starts.final
            if starts.is_batched:
                sizes.append(("the simulation to continue", state.shape[-2]))
        elif starts is None or (isinstance(starts, str) and starts == "random"):
            state = None
        else:
            if isinstance(starts, str):
                raise InputError(f'starts must be phases or "random", got {starts!r}')
            state = torch.as_tensor(starts if isinstance(starts, Tensor) else np.asarray(starts))
            if state.dim() > 1:
                sizes.append(("starts", state.shape[-2]))
        count = sizes[0][1] if sizes else 1
        for name, size in sizes:
            if size != count:
                raise InputError(f"{sizes[0][0]} have {count} samples, {name} {size}")
        rows = _Rows(runs, restarts, int(count), bool(sizes), None)
        if state is None and starts is not None:
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
        """Phases of any axes as (R, rows, N)."""
        n = oscillators.oscillators
        phases = phases.to(oscillators.biases)
        if phases.shape[-1] != n:
            raise InputError(
                f"starts must be {n} phases, one for each oscillator; got shape "
                f"{tuple(phases.shape)}"
            )
        if not bool(phases.detach().isfinite().all()):
            raise InputError("starts must be finite, got NaN or infinity")
        if not self.is_batched and phases.dim() > 1:  # the axis of one sample
            phases = phases if phases.shape[-2] == 1 else phases.unsqueeze(-2)
        shape = (self.runs or 1, self._copies, self.samples, n)
        if phases.dim() > len(shape):
            raise InputError(f"starts must have at most {len(shape)} axes, got {phases.dim()}")
        try:
            return phases.expand(shape).reshape(shape[0], -1, n)
        except RuntimeError as error:
            expected = " x ".join(map(str, shape))
            raise InputError(
                f"starts must broadcast to {expected} (runs, restarts, samples, oscillators); got "
                f"shape {tuple(phases.shape)}"
            ) from error

    def model(
        self, oscillators: Oscillators, inputs: Tensor | None, drive: Drive | None
    ) -> PhaseModel:
        """The phase model of all rows, with an axis of runs."""
        if inputs is not None and inputs.dim() == 1:
            inputs = inputs[None]
        model = oscillators.phase_model(inputs, samples=self.samples)
        if self.runs is None:
            model = model.map(lambda tensor: tensor[None])
        if drive is not None:
            fields = oscillators.drive_fields(drive.inputs)  # (..., T, N)
            fields = fields.movedim(-2, 0)
            shape = (drive.count, self.runs or 1, self.samples, fields.shape[-1])
            while fields.dim() < len(shape):
                fields = fields.unsqueeze(1)
            schedule = Schedule(drive=fields.expand(shape), hold=drive.steps)
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
    for name, values in (request.schedule or {}).items():
        factor = step_values(name, values, steps)
        if name == "temperature":
            if bool((factor < 0).any()):
                raise InputError("the schedule of temperature must not be negative")
            temperature = float(factor[0]) if is_constant(factor) else factor.detach()
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
