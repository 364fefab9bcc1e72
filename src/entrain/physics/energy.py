"""The energy of which a phase model without even couplings is the gradient flow."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain.physics.phase_model import PhaseModel
from entrain.physics.torque import double_angle, harmonic_parts


def energy(phases: Tensor, model: PhaseModel, mobility: float = 1.0) -> Tensor:
    """E at phases (..., B, N): (..., B).

    The even part of the coupling function (lag and d) and custom terms have no energy: with them
    E may rise.
    """
    sin, cos = phases.sin(), phases.cos()
    # sum_{i<j} J_ij cos(theta_i - theta_j) is half the full quadratic form: J has no diagonal.
    pairs = 0.5 * (cos * (cos @ model.couplings) + sin * (sin @ model.couplings))
    if model.harmonic is not None:
        sin_2, cos_2 = double_angle(sin, cos)
        second = cos_2 * (cos_2 @ model.couplings) + sin_2 * (sin_2 @ model.couplings)
        pairs = pairs + 0.25 * harmonic_parts(model.harmonic)[0] * second
    total = -(model.fields * cos + pairs).sum(-1)
    if model.injection is not None:
        total = total - (model.injection * (2.0 * phases).cos()).sum(-1)
    if model.frequencies is not None:
        total = total - (model.frequencies * phases).sum(-1) / mobility
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
    couplings, by_harmonic = -0.5 * (cos.mT @ cos + sin.mT @ sin), None
    if model.harmonic is not None:
        sin2, cos2 = double_angle(sin, cos)
        twice = cos2.mT @ cos2 + sin2.mT @ sin2
        couplings = couplings - 0.25 * model.harmonic[:, 0, None, None] * twice
        by_harmonic = torch.zeros_like(model.harmonic)
        by_harmonic[:, 0] = -0.25 * (model.couplings * twice).sum((1, 2))

    def summed(gradient: Tensor, term: Tensor | None) -> Tensor | None:
        if term is None:
            return None
        shared = term.shape[1] == 1 < gradient.shape[1]
        return gradient.sum(1, keepdim=True) if shared else gradient

    return PhaseModel(
        fields=-cos,
        couplings=couplings,
        frequencies=summed(-phases / mobility, model.frequencies),
        injection=summed(-(2.0 * phases).cos(), model.injection),
        lag=None if model.lag is None else torch.zeros_like(model.lag),
        start=None if model.start is None else torch.zeros_like(model.start),
        harmonic=by_harmonic,
    )
