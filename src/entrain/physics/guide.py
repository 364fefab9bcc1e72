r"""The teacher path: phases whose cosine x = cos(theta) goes from 0 to a target activation a.

Each oscillator follows the guide equation d theta / dt = -mu beta sin(theta), with
beta = artanh(a) / (mu t_f), so that with A(t) = (t / t_f) artanh(a)

    cos(theta) = tanh(A),   sin(theta) = sech(A),   theta = 2 atan(exp(-A)).

One Euler interval from A to A + delta, delta = artanh(a) / K, moves the phase by

    theta(A + delta) - theta(A) = -2 atan( sinh(delta / 2) sech(A + delta / 2) ),

which avoids the cancellation of the difference of two phases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


def path_coefficients(targets: Tensor) -> Tensor:
    """artanh of the targets, clipped to the largest float64 below one (so at most 18.7).

    Float64 in and out, any shape: float32 would saturate targets near -1 and change the path.
    """
    if targets.dtype != torch.float64:
        raise TypeError(f"targets must be float64, got {targets.dtype}")
    limit = math.nextafter(1.0, 0.0)
    return torch.atanh(targets.clamp(-limit, limit))


@dataclass(frozen=True)
class Guide:
    """Values along a teacher path: sine and cosine of the phases, and the next increment."""

    sin: Tensor
    cos: Tensor
    increment: Tensor

    @staticmethod
    def at(coefficients: Tensor, time: Tensor, steps: int) -> Guide:
        """The path of `coefficients` (..., N) at times t / t_f (T,) -> arrays (..., T, N)."""
        alpha = coefficients[..., None, :]
        position = time[:, None] * alpha
        step = alpha / steps
        return Guide(
            sin=position.cosh().reciprocal(),
            cos=position.tanh(),
            increment=-2.0 * torch.atan((step / 2).sinh() / (position + step / 2).cosh()),
        )
