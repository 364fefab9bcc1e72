"""Runs that do not converge: they become non-finite, or collapse to far worse than their best."""

from __future__ import annotations

import torch

from entrain.physics import Dynamics
from entrain.rules import Rule
from entrain.tasks import selection_metric
from entrain.training.loop import TrainingState

# A run has collapsed if it ends worse than its own best by more than this in both:
_LOSS = (1.5, 0.1)  # a factor, and a margin for nearly perfect fits
_ACCURACY = 10.0  # points; a few validation examples are not enough
_ERROR = 0.1  # of an error such as NRMSE, which is 1 for the mean of the targets


def collapsed_runs(state: TrainingState) -> list[int]:
    """Runs that end with a loss far above their smallest and a validation metric far worse than
    their best; those that diverged are not among them."""
    metric = selection_metric(state.history)
    if metric is None or "loss" not in state.history:
        return []
    values, loss = torch.tensor(state.history[metric.name]), torch.tensor(state.history["loss"])
    if not len(values):
        return []
    worse = loss[-1] > _LOSS[0] * loss.amin(0) + _LOSS[1]
    if metric.larger_is_better:
        worse &= values[-1] < values.amax(0) - _ACCURACY
    else:
        worse &= values[-1] > values.amin(0) + _ERROR
    return (worse & (state.diverged == 0)).nonzero()[:, 0].tolist()


def collapse_hint(rule: Rule, dynamics: Dynamics) -> str:
    """Settings to change after a collapse."""
    coarse = getattr(rule, "coarse_steps", dynamics.steps)
    if coarse >= dynamics.steps:
        return "try lower rates or fewer epochs"
    finer = min(2 * coarse, dynamics.steps)
    return (
        f"try lower rates, fewer epochs or, if its couplings have outgrown the {coarse} Euler "
        f"steps of training, coarse_steps={finer}"
    )


def time_hint(dynamics: Dynamics) -> str | None:
    """Settings to change if time makes a training diverge; None if a learning rate is the cause.

    Gradients grow as mu t_f, and the weights that are needed shrink as 1 / (mu t_f): a rate that
    suits one time is too large for a longer one by the square of their ratio. On digits the usual
    rate of PATH diverges from mu t_f = 1 on. Euler steps are stable up to mu dt = 2 / |eigenvalue|
    of the couplings: about 0.1 for the shipped networks of PATH, whose largest are 12 and 18.
    """
    mu = dynamics.mobility
    if mu * dynamics.observation_time < 1.0 and mu * dynamics.time_step <= 0.1:
        return None
    usual = Dynamics()
    return (
        f"the Euler step is {dynamics.time_step:g} (observation time {dynamics.observation_time:g} "
        f"in {dynamics.steps} steps), where {usual.time_step:g} ({usual.observation_time:g} in "
        f"{usual.steps}) is usual: take a shorter observation time or more steps"
    )
