"""Scores of networks on validation examples, by which an epoch is selected."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain.evaluation.activations import activations, batched
from entrain.evaluation.measure import chunks
from entrain.physics import Dynamics, Parameters
from entrain.rules.on_chips import OnChips
from entrain.tasks import Task


def validation_scores(
    parameters: Parameters,
    inputs: Tensor,
    dynamics: Dynamics,
    chips: OnChips | None = None,
    task: Task | None = None,
) -> Tensor:
    """Output activations (R, M, O) of R networks on inputs (M, D), or of chips of them."""
    if chips is not None:
        return chips.validation_scores(parameters, inputs, dynamics)
    scores = [
        activations(
            parameters.phase_model(batched(chunk), dynamics.steps),
            dynamics,
            parameters.outputs,
            task,
        )
        for _, chunk in chunks(inputs)
    ]
    return torch.cat(scores, dim=1)
