"""From phases to what is read of them: output activations, phases at chosen times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from entrain.physics.phase_model import Dynamics, wrap
from entrain.utils.errors import InputError, finite_numbers


class ReadoutPullback(Protocol):
    """Turns the gradient of `readout` (..., O), divided by `count`, into one of the phases."""

    def __call__(self, gradient: Tensor, count: int = 1) -> Tensor:
        """(..., O) -> (..., N)."""


def readout(phases: Tensor, outputs: int) -> Tensor:
    """cos(theta) of the output oscillators, which are last: (..., N) -> (..., O)."""
    return phases[..., -outputs:].cos()


def readout_with_pullback(phases: Tensor, outputs: int) -> tuple[Tensor, ReadoutPullback]:
    """`readout`, and its pullback."""
    final = phases[..., -outputs:]
    # cos + i sin in one operation, which takes one thread for so few numbers: a team of OpenMP
    # threads would go on spinning into the adjoint.
    turned = torch.polar(torch.ones_like(final), final)

    def pullback(gradient: Tensor, count: int = 1) -> Tensor:
        by_phases = torch.zeros_like(phases)
        found = -gradient * turned.imag
        by_phases[..., -outputs:] = found if count == 1 else found / count
        return by_phases

    return turned.real, pullback


def at_times(
    path: Tensor, times: Sequence[float] | Tensor, dynamics: Dynamics, *, wrapped: bool
) -> Tensor:
    """The Euler polygon (K + 1, ...) at `times` from 0 to t_f: (T, ...).

    Between `wrapped` phases it takes the shorter way round.
    """
    wanted = finite_numbers("times", times)
    places = torch.tensor(wanted, dtype=torch.float64) / dynamics.time_step
    if not bool((places >= 0).all() & (places <= dynamics.steps + 1e-9).all()):
        raise InputError(
            f"times must lie from 0 to {dynamics.observation_time:g}, got {min(wanted):g} to "
            f"{max(wanted):g}"
        )
    nearest = places.round()
    places = torch.where((places - nearest).abs() < 1e-9, nearest, places)  # rounding of t / dt
    before = places.floor().long().clamp(max=dynamics.steps - 1)
    part = (places - before).to(path).reshape(-1, *[1] * (path.dim() - 1))
    left, right = path[before.to(path.device)], path[(before + 1).to(path.device)]
    step = wrap(right - left) if wrapped else right - left
    return torch.where(part == 0, left, torch.where(part == 1, right, left + part * step))
