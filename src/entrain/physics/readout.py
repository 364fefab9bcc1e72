"""Output activations, and phases at chosen times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from entrain.physics.phase_model import Dynamics, wrap
from entrain.utils.errors import InputError, finite_numbers


class ReadoutPullback(Protocol):
    """Gradient with respect to `readout` (..., O) -> to the phases (..., N), divided by `count`."""

    def __call__(self, gradient: Tensor, count: int = 1) -> Tensor: ...


def readout(phases: Tensor, outputs: int) -> Tensor:
    """cos(theta) of the output oscillators, which are last: (..., N) -> (..., O)."""
    return phases[..., -outputs:].cos()


def readout_with_pullback(phases: Tensor, outputs: int) -> tuple[Tensor, ReadoutPullback]:
    """`readout`, and its pullback."""
    final = phases[..., -outputs:]
    # cos + i sin in one operation, which takes one thread for so few values: a team of OpenMP
    # threads would keep spinning into the adjoint.
    exponential = torch.polar(torch.ones_like(final), final)

    def pullback(gradient: Tensor, count: int = 1) -> Tensor:
        by_phases = torch.zeros_like(phases)
        by_final = -gradient * exponential.imag
        by_phases[..., -outputs:] = by_final if count == 1 else by_final / count
        return by_phases

    return exponential.real, pullback


def interpolate_path(
    path: Tensor, times: Sequence[float] | Tensor, dynamics: Dynamics, *, wrapped: bool
) -> Tensor:
    """The Euler polygon (K + 1, ...) at `times` from 0 to t_f: (T, ...).

    Between `wrapped` phases it takes the shorter arc.
    """
    values = finite_numbers("times", times)
    positions = torch.tensor(values, dtype=torch.float64) / dynamics.time_step
    if not bool((positions >= 0).all() & (positions <= dynamics.steps + 1e-9).all()):
        raise InputError(
            f"times must lie from 0 to {dynamics.observation_time:g}, got {min(values):g} to "
            f"{max(values):g}"
        )
    nearest = positions.round()  # undoes the rounding of t / dt
    positions = torch.where((positions - nearest).abs() < 1e-9, nearest, positions)
    before = positions.floor().long().clamp(max=dynamics.steps - 1)
    part = (positions - before).to(path).reshape(-1, *[1] * (path.dim() - 1))
    left, right = path[before.to(path.device)], path[(before + 1).to(path.device)]
    step = wrap(right - left) if wrapped else right - left
    return torch.where(part == 0, left, torch.where(part == 1, right, left + part * step))
