"""The energy of which a phase model without even couplings is the gradient flow."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain.physics.couplings import multiply, outer, values_of, with_values
from entrain.physics.phase_model import PhaseModel
from entrain.physics.terms import LOCAL
from entrain.physics.torque import multiple_angle


def energy(phases: Tensor, model: PhaseModel, mobility: float = 1.0) -> Tensor:
    """E at phases (..., B, N): (..., B).

    The even part of the coupling function (lags and d) and custom terms have no energy: with them
    E may rise. A scheduled model has the energy of its constant terms.

    Args:
        phases: theta (..., B, N).
        model: The fields, couplings and terms.
        mobility: mu, by which natural frequencies are divided.

    Examples:
        >>> oscillators = entrain.Oscillators([[0, 1], [1, 0.0]], fields=[1.0, 0.0])
        >>> entrain.physics.energy(torch.zeros(1, 2), oscillators.phase_model())
        tensor([-2.])
    """
    sin, cos = phases.sin(), phases.cos()
    # sum_{i<j} J_ij cos(theta_i - theta_j) is half the full quadratic form: J has no diagonal.
    j = model.couplings
    pairs = 0.5 * (cos * multiply(j, cos) + sin * multiply(j, sin))
    if model.harmonic is not None:
        sin_2, cos_2 = multiple_angle(sin, cos, 2)
        second = cos_2 * multiply(j, cos_2) + sin_2 * multiply(j, sin_2)
        pairs = pairs + 0.25 * model.harmonic[..., 0, None, None] * second
    total = -(model.fields * cos + pairs).sum(-1)
    for name, term in LOCAL.items():
        if name in model.terms:
            own = term.energy(phases, model.terms[name]).sum(-1)
            total = total + (own / mobility if term.is_velocity else own)
    return total


def energy_gradient(phases: Tensor, model: PhaseModel, mobility: float = 1.0) -> PhaseModel:
    r"""The gradient of the energy with respect to the terms of the model, at phases (R, B, N).

        d E / d b_i = -cos(theta_i),   d E / d J_ij = -cos(theta_i - theta_j) for the pair i < j,
        d E / d w_i = -theta_i / mu,   d E / d s_i = -cos(2 theta_i).

    J_ij and J_ji get half of theirs each, and a second harmonic c adds
    -(c / 2) cos(2 theta_i - 2 theta_j) to both. Terms that the samples share are summed over them.
    The energy does not depend on a lag, an even harmonic and the start: their gradient is 0.
    """
    sin, cos = phases.sin(), phases.cos()
    j, terms = model.couplings, dict[str, Tensor]()
    couplings = -0.5 * (outer(j, cos, cos) + outer(j, sin, sin))
    for name, value in model.terms.items():
        if name in LOCAL:
            by_value = LOCAL[name].energy(phases, torch.ones_like(phases))
            by_value = by_value / mobility if LOCAL[name].is_velocity else by_value
            shared = value.shape[1] == 1 < phases.shape[1]
            terms[name] = by_value.sum(1, keepdim=True) if shared else by_value
        else:
            terms[name] = torch.zeros_like(value)
    if model.harmonic is not None:
        sin_2, cos_2 = multiple_angle(sin, cos, 2)
        twice = outer(j, cos_2, cos_2) + outer(j, sin_2, sin_2)
        factor = model.harmonic[:, 0].reshape(-1, *[1] * (twice.dim() - 1))
        couplings = couplings - 0.25 * factor * twice
        terms["harmonic"][:, 0] = -0.25 * (values_of(j) * twice).flatten(1).sum(1)
    start = None if model.start is None else torch.zeros_like(model.start)
    return PhaseModel(-cos, with_values(j, couplings), terms=terms, start=start)
