r"""Energy and drift of a Kuramoto gradient-flow network.

With phases theta_i, local fields b_i(u) and symmetric couplings J_ij (no self-coupling),

    E(theta; u) = - sum_i b_i cos(theta_i) - sum_{i<j} J_ij cos(theta_i - theta_j)
    d theta / dt = - mu grad E = - mu ( b_i sin(theta_i) + sum_j J_ij sin(theta_i - theta_j) )

Hidden oscillators come first, outputs last; the input enters through the hidden fields only,

    b(u) = [ W u + c_hidden ; c_output ].

Every function takes any leading axes (a run axis, say) before the ones it names.
N oscillators, H of them hidden, O outputs, D inputs, B samples. Time is in the unit set by mu.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.errors import positive_float, positive_int

INITIAL_PHASE = math.pi / 2  # every oscillator starts with cos(theta) = 0


@dataclass(frozen=True)
class Dynamics:
    """How long and how finely a network evolves: mobility mu, observation time t_f, K steps."""

    mobility: float = 1.0
    observation_time: float = 0.2
    steps: int = 200

    def __post_init__(self) -> None:
        positive_float("mobility", self.mobility)
        positive_float("observation_time", self.observation_time)
        positive_int("steps", self.steps)

    @property
    def time_step(self) -> float:
        """dt = t_f / K."""
        return self.observation_time / self.steps


def coupling_mask(hidden: int, outputs: int, device: torch.device | None = None) -> Tensor:
    """(N, N) booleans: true where two different oscillators, not both outputs, may couple."""
    n = hidden + outputs
    mask = ~torch.eye(n, dtype=torch.bool, device=device)
    mask[hidden:, hidden:] = False
    return mask


def local_fields(input_weights: Tensor, biases: Tensor, inputs: Tensor) -> Tensor:
    """b(u): weights (..., H, D), biases (..., N), inputs (..., B, D) -> (..., B, N)."""
    hidden = input_weights.shape[-2]
    driven = inputs @ input_weights.transpose(-1, -2) + biases[..., None, :hidden]
    constant = biases[..., None, hidden:].expand(*driven.shape[:-1], -1)
    return torch.cat([driven, constant], dim=-1)


def energy(phases: Tensor, fields: Tensor, couplings: Tensor) -> Tensor:
    """E(theta; u): phases and fields (..., B, N), couplings (..., N, N) -> (..., B)."""
    sin, cos = phases.sin(), phases.cos()
    # sum_{i<j} J_ij cos(theta_i - theta_j) is half the full quadratic form: J has no diagonal.
    pairs = 0.5 * (cos * (cos @ couplings) + sin * (sin @ couplings))
    return -(fields * cos + pairs).sum(-1)


def drift(phases: Tensor, fields: Tensor, couplings: Tensor, mobility: float) -> Tensor:
    """-mu grad E: phases and fields (..., B, N), couplings (..., N, N) -> (..., B, N).

    sum_j J_ij sin(theta_i - theta_j) = sin_i (J cos)_i - cos_i (J sin)_i: two matrix products,
    never an N x N array per sample.
    """
    sin, cos = phases.sin(), phases.cos()
    return -mobility * (sin * (fields + cos @ couplings) - cos * (sin @ couplings))


def wrap(phases: Tensor) -> Tensor:
    """The representative atan2(sin, cos) of each phase on the principal branch (-pi, pi]."""
    return torch.atan2(phases.sin(), phases.cos())
