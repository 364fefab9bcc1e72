"""Trainings that collapse: they get far worse though all numbers stay finite."""

from __future__ import annotations

import torch

from entrain.physics import Dynamics
from entrain.rules import Rule
from entrain.training.loop import TrainingState

# A training has collapsed if it ends worse than this in both, by its own best:
_WORSE_LOSS = (1.5, 0.1)  # a factor, and what a nearly perfect fit may gain
_WORSE_ACCURACY = 10.0  # points; a few validation examples are no sign


def collapsed(state: TrainingState) -> list[int]:
    """Lanes whose loss ends far above its least, and whose validation accuracy far below its
    best; those that diverged are not among them."""
    accuracies = state.history.get("weighted_top1", state.history.get("top1"))
    if not accuracies or "loss" not in state.history:
        return []
    accuracy, loss = torch.tensor(accuracies), torch.tensor(state.history["loss"])
    worse = loss[-1] > _WORSE_LOSS[0] * loss.amin(0) + _WORSE_LOSS[1]
    worse &= accuracy[-1] < accuracy.amax(0) - _WORSE_ACCURACY
    return (worse & (state.diverged == 0)).nonzero()[:, 0].tolist()


def collapse_advice(rule: Rule, dynamics: Dynamics) -> str:
    """What to change where a training collapses."""
    coarse = getattr(rule, "coarse_steps", dynamics.steps)
    if coarse >= dynamics.steps:
        return "try lower rates or fewer epochs"
    finer = min(2 * coarse, dynamics.steps)
    return (
        f"try lower rates, fewer epochs or, if its couplings have outgrown the {coarse} Euler "
        f"steps of training, coarse_steps={finer}"
    )
