"""The observed order of convergence of a rollout in its time step."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from entrain.kernels.integrators import check_method, increments, steps
from entrain.kernels.reference import with_replicate_axis
from entrain.physics import Dynamics, Noise, PhaseModel, wrap

_LEVELS = (1, 2, 4)


@dataclass(frozen=True)
class Convergence:
    """Rollouts with steps dt, dt/2 and dt/4, compared at t_f.

    Args:
        steps: K, 2 K and 4 K.
        time_steps: dt, dt/2 and dt/4.
        differences: |theta(dt) - theta(dt/2)| and |theta(dt/2) - theta(dt/4)|, root mean squares of
            wrapped differences.
        order: log2 of their ratio; not a number if one is 0.
    """

    steps: tuple[int, int, int]
    time_steps: tuple[float, float, float]
    differences: tuple[float, float]
    order: float


def convergence(
    model: PhaseModel, dynamics: Dynamics, noise: Noise | None = None, method: str = "euler"
) -> Convergence:
    """The order of convergence observed at dt, dt/2 and dt/4, in float64.

    All runs have the same Brownian path: the increments of the coarser ones are sums of those of
    the finest. A schedule is the same function of time in all. With noise the order is that of a
    random difference, and needs some hundred samples and replicates.

    Args:
        model: The phase model.
        dynamics: Mobility, observation time and the K steps of the coarsest run.
        noise: Thermal noise; None is none.
        method: "euler", "heun" or "rk4".

    Examples:
        >>> oscillators = entrain.Oscillators([[0, 1], [1, 0.0]], fields=[1.0, 0.0])
        >>> dynamics = entrain.Dynamics(mobility=1.0, observation_time=1.0, steps=20)
        >>> round(entrain.kernels.convergence(oscillators.phase_model(), dynamics).order, 1)
        1.0
    """
    check_method(method, model)
    model = model.detached().map(Tensor.double)
    start, fine_noise = model.starts(), None
    if noise is not None:
        model = with_replicate_axis(model)
        start = start[:, None].expand(-1, len(noise.replicates), -1, -1)
        fine_noise = _refined_noise(noise, _LEVELS[-1])
    finest = replace(dynamics, steps=_LEVELS[-1] * dynamics.steps)
    final = []
    for level in _LEVELS:
        forcing: Iterator[Tensor] | None = None
        if fine_noise is not None:
            forcing = increments(fine_noise, finest, start.shape[1:], start.dtype)
            forcing = _summed(forcing, _LEVELS[-1] // level)
        states = steps(
            start, _refined(model, level), replace(dynamics, steps=level * dynamics.steps), forcing,
            method=method,
        )  # fmt: skip
        final.append(functools.reduce(lambda _, state: state, states, start))
    coarse, fine = (_distance(*pair) for pair in itertools.pairwise(final))
    k, dt = dynamics.steps, dynamics.time_step
    order = math.log2(coarse / fine) if coarse and fine else math.nan
    return Convergence((k, 2 * k, 4 * k), (dt, dt / 2, dt / 4), (coarse, fine), order)


def _distance(one: Tensor, another: Tensor) -> float:
    return float(wrap(one - another).square().mean().sqrt())


def _summed(increments: Iterator[Tensor], count: int) -> Iterator[Tensor]:
    """Sums of `count` increments after one another."""
    while part := list(itertools.islice(increments, count)):
        yield torch.stack(part).sum(0)


def _refined(model: PhaseModel, parts: int) -> PhaseModel:
    """The model with a schedule of `parts` times as many steps, the same function of time."""
    if model.schedule is None:
        return model
    return replace(model, schedule=model.schedule.refined(parts))


def _refined_noise(noise: Noise, parts: int) -> Noise:
    factors = None if noise.factors is None else noise.factors.repeat_interleave(parts)
    return replace(noise, factors=factors, first=parts * noise.first)
