"""The one place where phases become output activations."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


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
