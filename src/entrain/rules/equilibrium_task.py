"""Training oscillator networks by equilibrium propagation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from entrain import kernels
from entrain.hardware import FreshDraws
from entrain.physics import Dynamics, Noise, PhaseModel, energy_gradient, wrap
from entrain.rules.direct_task import DirectTask, log_softmax
from entrain.rules.equilibrium import EquilibriumPropagation
from entrain.rules.interface import Tensors

Relax = Callable[[PhaseModel, Dynamics, int], Tensor]  # the last tells noise apart


class EquilibriumTask(DirectTask):
    """AdamW on gradients from two nudged equilibria; tensors as in `DirectTask`."""

    protocol: EquilibriumPropagation

    def _slope(self, raw: Tensors, dynamics: Dynamics, rows: Tensor) -> tuple[Tensor, Tensors]:
        inputs = self._inputs(rows)
        model, back = self._model(raw, inputs)
        lanes, each, _ = model.fields.shape
        chips = lanes // len(rows)
        target = self._target(rows).reshape(lanes, each, -1)
        gain = self._gain.repeat_interleave(chips, dim=0)
        weights = None
        if self._weights is not None:
            weights = self._weights[rows].reshape(lanes, each, 1)
        if self.protocol.begin == "random":
            drawn = self._numbers(rows.shape[1]).uniform(
                "start", rows.shape[1], model.fields.shape[-1]
            )
            model = replace(model, start=math.pi * (2.0 * drawn.reshape(model.fields.shape) - 1.0))
        free = self._relaxed(model, dynamics, 0)
        likely = log_softmax(gain * free[..., -self._outputs :].cos())
        loss = -self._weighted((target * likely).reshape(*rows.shape, -1), rows).sum((1, 2))
        gradient = contrast(
            model,
            free,
            target,
            gain,
            dynamics,
            self.protocol,
            self._relaxed,
            weights=weights,
        )
        return loss, back(gradient.map(lambda tensor: tensor / rows.shape[1]))

    def _relaxed(self, model: PhaseModel, dynamics: Dynamics, later: int) -> Tensor:
        noise: Noise | None = None
        if self._chips is not None:
            noise = self._chips.noise(model.fields.shape[1], later)
        phases = kernels.rollout(model, dynamics, noise=noise)
        return phases if noise is None else phases[:, 0]

    @property
    def _needs_numbers(self) -> bool:  # type: ignore[override]
        return self.protocol.begin == "random"

    def _ask(self, draws: FreshDraws, batch: int) -> None:
        draws.uniform("start", batch, self.network.hidden + self._outputs)


def contrast(
    model: PhaseModel,
    free: Tensor,
    target: Tensor,
    gain: Tensor,
    dynamics: Dynamics,
    protocol: EquilibriumPropagation,
    relax: Relax,
    *,
    weights: Tensor | None = None,
) -> PhaseModel:
    """The estimate of d C / d model, summed over samples, from the free equilibrium (R, B, N).

    `target` (R, B, O) are probabilities, `gain` (R, 1, 1) that of the softmax; `weights` (R, B, 1)
    those of examples.
    """
    found = []
    for sign in (1.0, -1.0):
        if protocol.nudging == "clamped":
            phases = _clamped(model, free, target, sign, dynamics, protocol, relax)
        else:
            phases = _nudged(model, free, target, gain, sign, dynamics, protocol, relax, weights)
        found.append(phases)
    scale = 0.5 / (protocol.beta * protocol.averaged_steps)
    total: PhaseModel | None = None
    for ups, downs in zip(*found, strict=True):
        if model.frequencies is not None:
            # Noise wraps phases: w meets the shorter way between them.
            downs = ups + wrap(downs - ups)
        up, down = (
            energy_gradient(phases, model, dynamics.mobility).map(lambda tensor: scale * tensor)
            for phases in (ups, downs)
        )
        difference = up.plus(down.map(torch.neg))
        total = difference if total is None else total.plus(difference)
    assert total is not None
    return total


def _nudged(
    model: PhaseModel,
    free: Tensor,
    target: Tensor,
    gain: Tensor,
    sign: float,
    dynamics: Dynamics,
    protocol: EquilibriumPropagation,
    relax: Relax,
    weights: Tensor | None,
) -> list[Tensor]:
    """Phases after each of the last steps with the cost added: a field on the outputs that follows
    them. The two signs have their own noise, as a chip's is never the same twice."""
    step = Dynamics(dynamics.mobility, dynamics.time_step, 1)
    outputs, phases, found = target.shape[-1], free, list[Tensor]()
    before = 1 if sign > 0 else 1 + protocol.nudged_steps  # relaxations with noise of their own
    for taken in range(protocol.nudged_steps):
        cos = phases[..., -outputs:].cos()
        if protocol.nudging == "squared":
            push = 2.0 * target - 1.0 - cos
        else:
            push = gain * (target - log_softmax(gain * cos).exp())
        if weights is not None:
            push = push * weights
        fields = model.fields.clone()
        fields[..., -outputs:] += sign * protocol.beta * push
        phases = relax(replace(model, fields=fields, start=phases), step, before + taken)
        found.append(phases)
    return found[-protocol.averaged_steps :]


def _clamped(
    model: PhaseModel,
    free: Tensor,
    target: Tensor,
    sign: float,
    dynamics: Dynamics,
    protocol: EquilibriumPropagation,
    relax: Relax,
) -> list[Tensor]:
    """Phases after each of the last steps with the outputs held the share beta of the way from the
    free ones to 0 or pi, or as far on the other side."""
    outputs = target.shape[-1]
    hidden = free.shape[-1] - outputs
    ends = free[..., hidden:]
    wanted = math.pi * (1.0 - target)  # 0 for the class, pi for the others
    apart = torch.remainder(wanted - ends + math.pi, 2.0 * math.pi) - math.pi
    start = torch.cat([free[..., :hidden], ends + sign * protocol.beta * apart], dim=-1)
    moves = torch.zeros(free.shape[-1], dtype=free.dtype, device=free.device)
    moves[:hidden] = 1.0
    held = replace(
        model,
        fields=model.fields * moves,
        couplings=model.couplings * moves[:, None],  # row i acts on oscillator i
        frequencies=None if model.frequencies is None else model.frequencies * moves,
        injection=None if model.injection is None else model.injection * moves,
        start=start,
    )
    later = 1 if sign > 0 else 1 + protocol.averaged_steps  # noise of their own, as above
    steps_before = protocol.nudged_steps + 1 - protocol.averaged_steps
    found = list[Tensor]()
    for steps in (steps_before, *[1] * (protocol.averaged_steps - 1)):
        some = Dynamics(dynamics.mobility, dynamics.time_step * steps, steps)
        found.append(relax(held, some, later + len(found)))
        held = replace(held, start=found[-1])
    return found
