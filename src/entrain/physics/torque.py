"""Torques of couplings, fields and injection, and the drift of the phases.

A common lag a rotates J cos and J sin by itself,

    (J cos)_a = cos(a) J cos + sin(a) J sin,   (J sin)_a = cos(a) J sin - sin(a) J cos,
    sum_j J_ij sin(theta_i - theta_j + a) = sin_i (J cos)_a,i - cos_i (J sin)_a,i,

so that the sum takes two matrix products, never an N x N array per sample. The second harmonic
takes two more, of sin and cos of 2 theta, rotated by (c, d) in place of (cos a, sin a).
"""

from __future__ import annotations

from torch import Tensor

from entrain.physics.phase_model import PhaseModel


def lagged_products(sin: Tensor, cos: Tensor, model: PhaseModel) -> tuple[Tensor, Tensor]:
    """J sin and J cos, rotated by the lag if there is one: two (..., B, N)."""
    j_sin, j_cos = coupling_products(sin, cos, model)
    if model.lag is None:
        return j_sin, j_cos
    a = model.lag[..., None, None]
    return rotate(j_sin, j_cos, a.cos(), a.sin())


def coupling_products(sin: Tensor, cos: Tensor, model: PhaseModel) -> tuple[Tensor, Tensor]:
    """J sin and J cos: two (..., B, N)."""
    # Contiguous, so that a symmetric matrix gives the same bits either way round.
    transposed = model.couplings.mT.contiguous()
    return sin @ transposed, cos @ transposed


def rotate(j_sin: Tensor, j_cos: Tensor, cosine: Tensor, sine: Tensor) -> tuple[Tensor, Tensor]:
    """J sin and J cos rotated by an angle with this cosine and sine, or by (c, d)."""
    return cosine * j_sin - sine * j_cos, cosine * j_cos + sine * j_sin


def double_angle(sin: Tensor, cos: Tensor) -> tuple[Tensor, Tensor]:
    """sin and cos of twice the angle."""
    return 2.0 * sin * cos, cos * cos - sin * sin


def harmonic_parts(harmonic: Tensor) -> tuple[Tensor, Tensor]:
    """c and d (..., 1, 1), for arrays (..., B, N)."""
    return harmonic[..., 0, None, None], harmonic[..., 1, None, None]


def harmonic_torque(
    sin: Tensor, cos: Tensor, j_sin: Tensor, j_cos: Tensor, harmonic: Tensor
) -> Tensor:
    """sum_j J_ij [ c sin(2 phi) + d cos(2 phi) ] from sin, cos, J sin and J cos of 2 theta."""
    j_sin, j_cos = rotate(j_sin, j_cos, *harmonic_parts(harmonic))
    return sin * j_cos - cos * j_sin


def torque(sin: Tensor, cos: Tensor, j_sin: Tensor, j_cos: Tensor, model: PhaseModel) -> Tensor:
    """The bracket of the phase model without harmonics, from sin, cos and `lagged_products`."""
    bracket = sin * (model.fields + j_cos) - cos * j_sin
    if model.injection is not None:
        bracket = bracket + 4.0 * model.injection * sin * cos
    return bracket


def drift(
    phases: Tensor, model: PhaseModel, mobility: float, delayed: Tensor | None = None
) -> Tensor:
    """d theta / dt at phases (..., B, N): (..., B, N). With a delay couplings act on `delayed`."""
    sin, cos = phases.sin(), phases.cos()
    others = (sin, cos) if delayed is None else (delayed.sin(), delayed.cos())
    bracket = torque(sin, cos, *lagged_products(*others, model), model)
    if model.harmonic is not None:
        second = coupling_products(*double_angle(*others), model)
        bracket = bracket + harmonic_torque(*double_angle(sin, cos), *second, model.harmonic)
    for term in model.other_terms:
        bracket = bracket + term(phases)
    velocity = -mobility * bracket
    return velocity if model.frequencies is None else velocity + model.frequencies
