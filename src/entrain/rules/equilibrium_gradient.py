r"""Equilibrium propagation on any oscillators, for any cost of the phases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from entrain import kernels
from entrain.models.oscillators import Oscillators
from entrain.physics import PhaseModel, energy_gradient
from entrain.utils.errors import InputError, positive_float, positive_int

Cost = Callable[[Tensor], Tensor]  # phases (..., N) -> C (...)


def ep_gradient(
    oscillators: Oscillators,
    cost: Cost,
    *,
    beta: float = 0.01,
    inputs: Tensor | None = None,
    time: float = 50.0,
    steps: int = 1000,
    nudged_time: float | None = None,
    starts: Any = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    r"""The mean cost at the free equilibrium, and its gradient by parameter name.

    The oscillators relax freely, then with +beta C and with -beta C added to their energy; with
    E_p = d E / d p at each of the two nudged equilibria (Scellier and Bengio 2017)

        d C / d p = ( E_p(theta^beta) - E_p(theta^-beta) ) / (2 beta) + O(beta^2).

    The estimate is as good as the equilibria: raise `time` until it no longer changes. There must
    be an energy: symmetric couplings without a lag or an even harmonic.

    Args:
        oscillators: A gradient flow; its parameters and tensors that require gradients count.
        cost: C of phases (..., N), one number for each sample, as a differentiable function.
        beta: Strength of the nudge.
        inputs: Inputs (B, D), as for `Oscillators.simulate`.
        time: Time of the free relaxation.
        steps: Steps in that time.
        nudged_time: Time of each nudged relaxation; by default `time`.
        starts: As for `Oscillators.simulate`.

    Examples:
        >>> couplings = [[0.0, 1.0], [1.0, 0.0]]
        >>> oscillators = entrain.Oscillators(couplings, fields=[1.0, 0.0], trainable=["couplings"])
        >>> def cost(phases):
        ...     return (1 - phases.cos()).sum(-1)
        >>> value, gradients = entrain.rules.ep_gradient(oscillators, cost)
        >>> sorted(gradients)
        ['coupler_strengths']
    """
    positive_float("beta", beta)
    if not oscillators.is_symmetric:
        raise InputError("equilibrium propagation needs an energy: couplings must be symmetric")
    run = oscillators.simulate(inputs, time=time, steps=steps, starts=starts)
    free = run.final.detach()
    model = oscillators.phase_model(inputs, samples=free.shape[-2] if run.is_batched else 1)
    for name in ("lag", "edge_lag", "delay", "other_terms"):
        value = getattr(model, name)
        if isinstance(value, Tensor) or value:
            raise InputError(f"equilibrium propagation needs an energy, which {name} has not")
    leading = oscillators.runs is None
    model = model.map(lambda tensor: tensor[None]) if leading else model
    phases = free.reshape(model.fields.shape)
    dt = time / steps
    count = positive_int("steps", steps if nudged_time is None else round(nudged_time / dt))
    fixed, mobility = model.detached(), oscillators.dynamics.mobility
    dynamics = replace(oscillators.dynamics, observation_time=dt, steps=1)
    slopes = []
    for share in (beta, -beta):
        nudged = phases
        for _ in range(count):
            nudged = kernels.rollout(_pushed(fixed, nudged, cost, share * mobility), dynamics)
        slopes.append(energy_gradient(nudged, fixed, mobility))
    difference = slopes[0].plus(slopes[1].map(torch.neg))
    factor = 0.5 / (beta * phases.shape[1])
    tensors, gradients = model.tensors(), difference.tensors()
    names = {name: p for name, p in oscillators.named_parameters() if p.requires_grad}
    pairs = [(tensors[n], factor * gradients[n]) for n in gradients if tensors[n].requires_grad]
    by_parameter = torch.autograd.grad(
        [tensor for tensor, _ in pairs],
        list(names.values()),
        [gradient for _, gradient in pairs],
        allow_unused=True,
        materialize_grads=True,
    )
    return cost(free).mean(), dict(zip(names, by_parameter, strict=True))


def _pushed(model: PhaseModel, phases: Tensor, cost: Cost, share: float) -> PhaseModel:
    """The model from these phases, with the velocity -share dC/d theta of the nudge added."""
    with torch.enable_grad():
        leaf = phases.detach().requires_grad_()
        (push,) = torch.autograd.grad(cost(leaf).sum(), leaf)
    frequencies = model.terms.get("frequencies")
    velocity = -share * push if frequencies is None else frequencies - share * push
    return replace(model, start=phases, terms={**model.terms, "frequencies": velocity})
