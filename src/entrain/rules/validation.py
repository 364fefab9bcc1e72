"""Scores of networks on validation examples, by which an epoch is selected."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.measure import chunks
from entrain.physics import Dynamics, Parameters, readout
from entrain.rules.on_chips import OnChips


def validation_scores(
    parameters: Parameters, inputs: Tensor, dynamics: Dynamics, chips: OnChips | None = None
) -> Tensor:
    """Output activations (R, M, O) of R networks on inputs (M, D), or of chips of them."""
    if chips is not None:
        return chips.validation_scores(parameters, inputs, dynamics)
    scores = [
        readout(kernels.rollout(parameters.phase_model(chunk), dynamics), parameters.outputs)
        for _, chunk in chunks(inputs)
    ]
    return torch.cat(scores, dim=1)
