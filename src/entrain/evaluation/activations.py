"""Activations of phase models: the cosines of their outputs, as a task reads them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from entrain import kernels
from entrain.physics import Dynamics, PhaseModel, readout, readout_with_pullback
from entrain.tasks import Task

ByModel = Callable[[Tensor, int], PhaseModel]


def activations(
    model: PhaseModel, dynamics: Dynamics, outputs: int, task: Task | None = None
) -> Tensor:
    """Activations (R, B, O).

    Args:
        model: The terms of the phase model; with a drive, the inputs are in time.
        dynamics: Mobility, observation time and steps.
        outputs: O, the number of oscillators that are read, the last ones.
        task: The task, which says when they are read; None is at t_f.
    """
    frames, record = frames_read(model, task)
    phases = kernels.rollout(model, dynamics, record=record)
    if not record:
        return readout(phases, outputs)
    return readout(phases[-frames:], outputs).mean(0)


def activations_with_pullback(
    model: PhaseModel, dynamics: Dynamics, task: Task
) -> tuple[Tensor, ByModel]:
    """`activations`, and the map from their gradient, over a count, to that by the model.

    Args:
        model: As for `activations`.
        dynamics: As for `activations`.
        task: The task, which reads its O outputs.
    """
    frames, record = frames_read(model, task)
    phases, pullback = kernels.rollout_with_pullback(model, dynamics, record=record)
    if not record:
        outputs, back = readout_with_pullback(phases, task.outputs)
        return outputs, lambda gradient, count: pullback(back(gradient, count))
    outputs, back = readout_with_pullback(phases[-frames:], task.outputs)

    def by_model(gradient: Tensor, count: int) -> PhaseModel:
        by_phases = torch.zeros_like(phases)
        by_phases[-frames:] = back(gradient.expand_as(outputs), frames * count)
        return pullback(by_phases)

    return outputs.mean(0), by_model


def frames_read(model: PhaseModel, task: Task | None) -> tuple[int, int]:
    """Number of last inputs in time after which outputs are read, and the steps between them.

    The steps are 0 if outputs are read once, at the end.

    Args:
        model: As for `activations`.
        task: The task; None reads once.
    """
    schedule = model.schedule
    if schedule is None or schedule.drive is None or task is None or task.window == 0:
        return 1, 0
    frames = task.frames_read(len(schedule.drive))
    return frames, schedule.hold if frames > 1 else 0


def batched(inputs: Tensor) -> Tensor:
    """Inputs that all runs share as phase models take them: (B, D), or in time (1, B, T, D).

    Args:
        inputs: u (B, D), or in time (B, T, D).
    """
    return inputs if inputs.dim() == 2 else inputs[None]
