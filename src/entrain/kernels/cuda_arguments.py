"""The terms, schedule and noise of a model as arguments of the CUDA kernels, and its gradient."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from entrain.kernels.cuda_program import Program, schedule_names
from entrain.kernels.nvrtc import Argument
from entrain.kernels.reference import reduce_to
from entrain.physics import Dynamics, Noise, PhaseModel
from entrain.physics.couplings import Couplings
from entrain.physics.schedule import Schedule


class TermArguments:
    """The tensors of a model's terms, contiguous, in the order of its program.

    Args:
        model: The phase model.
        program: Its program.
        across: True for samples side by side, (..., N, B), as steps.cu takes them.

    Attributes:
        local: Names of local terms.
        locals: Their values (R, B, N); across (R, N, B), or (R, N, 1) with a bit of `shared`.
        start: theta(0) (R, B, N).
        schedules: Factors in time (K,) of fields, couplings and local terms.
        scheduled: Names of those that have factors.
        drive: Drive of the fields (S, R, B, N).
        drive_steps: Steps of its segments, and those of the first that are over.
    """

    def __init__(self, model: PhaseModel, program: Program, *, across: bool = False) -> None:
        self._model, names = model, schedule_names(program.local)
        self._schedule = model.schedule or Schedule()
        factors, drive = self._schedule.factors, self._schedule.drive
        self.local, self.shared = program.local, 0
        self.schedules = tuple(
            factors[name].contiguous() if name in factors else None for name in names
        )
        self.scheduled = tuple(name for name in names if name in factors)
        self.drive_steps = (self._schedule.hold, self._schedule.first)
        if across:
            values = [model.terms[name] for name in program.local]
            self.shared = sum(1 << bit for bit, v in enumerate(values) if v.shape[1] == 1)
            self.fields = model.fields.mT.contiguous()
            self.locals = tuple(value.mT.contiguous() for value in values)
            self.drive = None if drive is None else drive.mT.contiguous()
            self.start = None
        else:
            self.fields = model.fields.contiguous()
            self.locals = tuple(_expand(model.terms[name], model) for name in program.local)
            self.drive = None if drive is None else drive.contiguous()
            self.start = None if model.start is None else _expand(model.start, model)

    @property
    def values(self) -> tuple[Argument, ...]:
        """The arguments of steps.cu."""
        return self.fields, self.locals, self.shared, self.schedules

    def segment(self, step: int) -> int:
        """Index of the drive in a step."""
        return self._schedule.segment(step)

    def drive_at(self, step: int) -> Tensor | None:
        """The drive of a step."""
        return None if self.drive is None else self.drive[self.segment(step)]

    @property
    def forward(self) -> tuple[Argument, ...]:
        """The arguments of rollout.cu."""
        return self.locals, self.start, self.schedules, self.drive, *self.drive_steps

    def new_gradients(self, steps: int, rows: int) -> tuple[Tensor | None, Tensor | None]:
        """Arrays for the gradients by factors in time and by the drive, of `rows` samples."""
        runs, _, oscillators = self._model.fields.shape
        by_schedules = by_drive = None
        if self.scheduled:
            shape = (len(self.scheduled), runs, rows, steps, oscillators)
            by_schedules = self._model.fields.new_empty(shape)
        if self.drive is not None:
            by_drive = self.drive.new_empty(len(self.drive), runs, rows, oscillators)
            by_drive[: self.segment(0)] = 0.0
            by_drive[self.segment(steps - 1) + 1 :] = 0.0
        return by_schedules, by_drive

    def gradient(
        self,
        couplings: tuple[dict[str, Tensor], Couplings],
        local: dict[str, Tensor],
        start: Tensor | None,
        by_schedules: Tensor | None,
        by_drive: Tensor | None,
        replicates: int,
    ) -> PhaseModel:
        """The gradient by the model.

        Args:
            couplings: Gradients by terms that pair oscillators, and by J.
            local: Those by fields and local terms (R, M B, N).
            start: That by theta(0) (R, M B, N).
            by_schedules: Those by factors in time, (scheduled, K).
            by_drive: That by the drive (S, R, M B, N).
            replicates: M.
        """
        factors = {}
        if by_schedules is not None:
            factors = dict(zip(self.scheduled, by_schedules, strict=True))
        schedule = replace(self._schedule, factors=factors, drive=by_drive)
        pairs, by_couplings = couplings
        by_fields = local.pop("fields")
        gradient = PhaseModel(
            by_fields,
            by_couplings,
            terms=local | pairs,
            start=start,
            schedule=None if self._model.schedule is None else schedule,
        )
        return reduce_to(self._model, gradient, replicates)


def noise_arguments(
    noise: Noise | None, dynamics: Dynamics, device: torch.device
) -> tuple[Argument, ...]:
    """Standard deviations of the increments, steps that are over, key and indices."""
    if noise is None:
        return 0.0, None, 0, 0, 0, None, None
    mobility, step = dynamics.mobility, dynamics.time_step
    deviations = None
    if noise.factors is not None:
        deviations = noise.deviations(dynamics.steps, mobility, step).to(device, torch.float32)
    deviation = math.sqrt(2.0 * mobility * noise.temperature * step)
    shape = (len(noise.replicates), len(noise.samples))  # replicates may differ between samples
    replicates = noise.replicates.long().reshape(shape[0], -1).expand(shape).contiguous()
    indices = (replicates, noise.samples.long().contiguous())
    return deviation, deviations, noise.first, *noise.key, *indices


def replicates_of(noise: Noise | None) -> int:
    """M, which is 1 without noise."""
    return 1 if noise is None else len(noise.replicates)


def split_replicates(phases: Tensor, model: PhaseModel, noise: Noise | None) -> Tensor:
    """Phases (..., M B, N) as (..., M, B, N) where there is noise."""
    if noise is None:
        return phases
    return phases.view(*phases.shape[:-2], len(noise.replicates), *model.fields.shape[1:])


def _expand(values: Tensor, model: PhaseModel) -> Tensor:
    """A term (R, B, N), also where all samples share it."""
    return values.expand_as(model.fields).contiguous()
