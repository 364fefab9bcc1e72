"""An estimate of how long a training takes, for networks that take long."""

from __future__ import annotations

import time

import torch

from entrain import kernels
from entrain.physics import Dynamics, PhaseModel
from entrain.training.recipe import Recipe

_STEPS, _BATCH = 2, 8  # of the rollout that is timed


def estimated_seconds(recipe: Recipe, examples: int, outputs: int, device: torch.device) -> float:
    """Seconds of the Euler steps of all protocols and their gradients, from a short rollout.

    Args:
        recipe: The training.
        examples: Number of training examples.
        outputs: Number of classes.
        device: Where it will train.
    """
    n, dynamics = recipe.spec.hidden + outputs, recipe.spec.dynamics
    model = PhaseModel(torch.ones(1, _BATCH, n, device=device), torch.ones(1, n, n, device=device))
    short = Dynamics(dynamics.mobility, dynamics.time_step * _STEPS, _STEPS)
    seconds = float("inf")
    for _ in range(2):  # the first one compiles
        start = time.monotonic()
        phases, pullback = kernels.rollout_with_pullback(model, short)
        pullback(torch.ones_like(phases))
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds = min(seconds, time.monotonic() - start)
    steps = sum(
        rule.epochs * min(getattr(rule, "coarse_steps", dynamics.steps), dynamics.steps)
        for rule in recipe.protocols
    )
    return seconds / (_STEPS * _BATCH) * steps * examples * recipe.runs
