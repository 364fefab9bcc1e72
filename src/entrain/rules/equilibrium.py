"""Equilibrium propagation and coupled learning: gradients from measurements on the network."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from entrain.data import DATASETS
from entrain.hardware import FreshDraws
from entrain.physics import Dynamics, NetworkSpec, PhaseModel, energy_gradient, wrap
from entrain.physics.couplings import scale_rows, values_of
from entrain.physics.terms import LOCAL
from entrain.rules.gradient_rule import GradientRule, small_batch
from entrain.rules.gradient_training import GradientTraining
from entrain.rules.interface import PerRun, Rule, Tensors
from entrain.tasks import Task
from entrain.utils.errors import InputError, check_ranges, one_of

Nudging = Literal["cross-entropy", "squared", "clamped"]
Begin = Literal["given", "random"]
Relax = Callable[[PhaseModel, Dynamics, int], Tensor]  # the number selects the noise
_IN_THE_ENERGY = ("frequencies", "injection")
_CHECKED = 64  # examples whose gradient is compared with the exact one
_LEAST_COSINE = 0.5


@dataclass(frozen=True)
class EquilibriumPropagation(GradientRule):
    r"""Two nudged equilibria in place of the adjoint (Scellier and Bengio 2017).

    The network relaxes freely for its observation time; then, from there, for `nudged_steps` more
    steps with beta C added to its energy, and once more with -beta C. As beta goes to 0

        d C / d p = ( d E / d p (theta^beta) - d E / d p (theta^-beta) ) / (2 beta)

    at the free equilibrium, with an error of order beta^2: the update of a coupling depends on
    cos(theta_i - theta_j) of its own two ends. Trained natural frequencies learn by
    d E / d w = -theta / mu: the angle by which a nudge turns an oscillator is the gradient of its
    frequency (Ahmadi 2026).

    On chips the phases are the chip's own, and the update is applied to the programmed parameters:
    no model of the chip is needed. Thermal noise differs between the two nudged relaxations, and
    the estimate divides the difference it makes by 2 beta; `averaged_steps` reduces it.

    Args:
        name, start, epochs, batch_size, input_rate, coupling_rate: See `GradientRule`.
        weight_decay, gain, smoothing, warm_up, clip, averaging: See `GradientRule`.
        coarse_steps, fine_epochs, initial_couplings, initial_weights: See `GradientRule`.
        augmentation, unaugmented_epochs, class_weights, chips, frozen: See `GradientRule`.
        validation_interval, patience, input_noise, time_shift, time_stretch: See `GradientRule`.
        nudging: The cost C: the "cross-entropy" of softmax(gain cos theta), or half the "squared"
            distance of cos theta from 1 for the class and -1 for the others; of numbers the loss of
            `Regression` in either case. "clamped" is coupled learning (Stern et al. 2021): outputs
            are held at the share beta of the way to 0 or pi, and as far on the other side.
        beta: Strength of the nudge.
        nudged_steps: Euler steps of a nudged relaxation.
        begin: Initial phases of the free relaxation: those of the network ("given"), or "random".
        averaged_steps: Last nudged steps over which d E / d p is averaged.

    Examples:
        >>> rule = entrain.rules.EquilibriumPropagation(epochs=5, beta=0.05)
        >>> rule.nudged_steps
        200
    """

    kind: ClassVar[str] = "equilibrium"
    dynamics = Dynamics(mobility=1.0, observation_time=60.0, steps=600)  # until it is at rest

    name: str = "EP"
    epochs: int = 25
    batch_size: int = 128
    input_rate: PerRun = 4e-4
    coupling_rate: PerRun = 4e-3
    gain: PerRun = 4.0
    initial_couplings: PerRun = 0.1
    initial_weights: PerRun = 0.3
    coarse_steps: int = 1_000_000  # the network's own: fewer steps miss the equilibrium
    fine_epochs: int = 0
    nudging: Nudging = "cross-entropy"
    beta: float = 0.1
    nudged_steps: int = 200
    begin: Begin = "given"
    averaged_steps: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("nudging", self.nudging, Nudging)
        one_of("begin", self.begin, Begin)
        check_ranges(self, whole=("nudged_steps", "averaged_steps"), positive=("beta",))
        if self.averaged_steps > self.nudged_steps:
            raise InputError(
                f"averaged_steps must be at most nudged_steps ({self.nudged_steps}), "
                f"got {self.averaged_steps}"
            )

    def tuned_for(self, dataset: str, examples: int) -> EquilibriumPropagation:
        if dataset == "digits":
            return replace(self, batch_size=32, epochs=40)
        if dataset in DATASETS:
            return self
        batch = small_batch(examples)
        return replace(self, batch_size=batch, epochs=min(200, max(20, 3000 * batch // examples)))

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        super().check(network, runs, teachers)
        for name in network.trainable:
            if name not in _IN_THE_ENERGY:
                raise InputError(
                    f"{self.name} trains terms of the energy: {', '.join(_IN_THE_ENERGY)}; "
                    f"got trainable {name}"
                )

    @property
    def training_class(self) -> type[EquilibriumTraining]:
        return EquilibriumTraining


EQUILIBRIUM_PROTOCOLS: dict[str, EquilibriumPropagation] = {
    p.name: p
    for p in (
        EquilibriumPropagation(),
        EquilibriumPropagation("EP-SQUARED", nudging="squared"),
        EquilibriumPropagation("COUPLED", nudging="clamped", beta=0.1),
    )
}


class EquilibriumTraining(GradientTraining):
    """AdamW on gradients from two nudged equilibria; tensors as in `GradientTraining`."""

    protocol: EquilibriumPropagation

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        losses = super().run_epoch(tensors, epoch)
        if epoch == 0 and self._chips is None and self.protocol.nudging == "cross-entropy":
            self._warn_wrong_gradient(tensors)
        return losses

    def _warn_wrong_gradient(self, tensors: Tensors) -> None:
        """Warn if the estimate for a few examples is unlike the gradient of a longer rest."""
        networks = {name: tensors[name].clone() for name in self.network.names}
        count = min(len(self.train.targets), _CHECKED)
        rows = torch.arange(count, device=self._total.device).expand(len(self.runs), -1)
        d = self._dynamics
        longer = Dynamics(d.mobility, 4 * d.observation_time, 4 * d.steps)
        exact = self.exact_gradient(networks, longer, rows)[1]
        estimate = self.gradient(networks, d, rows)
        cosines = {
            name: float(
                torch.cosine_similarity(
                    estimate[name].flatten(1), exact[name].flatten(1), dim=-1
                ).min()
            )
            for name in ("input_weights", "couplings")
        }
        name, cosine = min(cosines.items(), key=lambda item: item[1])
        if not cosine >= _LEAST_COSINE:
            warnings.warn(
                f"{self.protocol.name}: after the first epoch its gradient of {name} has the "
                f"cosine {cosine:.2f} to the exact one at rest; relax for longer "
                "(observation_time), in shorter steps (steps), or with a weaker nudge (beta)",
                RuntimeWarning,
                stacklevel=2,
            )

    def loss_and_gradient(
        self, raw: Tensors, dynamics: Dynamics, rows: Tensor
    ) -> tuple[Tensor, Tensors]:
        model, back = self._model(raw, self._inputs(rows))
        networks, batch, n = model.fields.shape  # each run once for every chip
        target = self._target(rows).reshape(networks, batch, -1)
        gain = self._gain.repeat_interleave(networks // len(rows), dim=0)
        weights = None
        if self._weights is not None:
            weights = self._weights[rows].reshape(networks, batch, 1)
        if self.protocol.begin == "random":
            uniform = self._draws(rows.shape[1]).uniform("start", rows.shape[1], n)
            model = replace(model, start=math.pi * (2.0 * uniform.reshape(model.fields.shape) - 1))
        free = self._relax(model, dynamics, 0)
        losses, _ = self.task.loss(free[..., -self._outputs :].cos(), target, gain)
        loss = self._weighted(losses.reshape(*rows.shape, -1), rows).sum((1, 2))
        gradient = contrast(
            model,
            free,
            target,
            gain,
            dynamics,
            self.protocol,
            self._relax,
            self.task,
            weights=weights,
        )
        return loss, back(gradient.map(lambda tensor: tensor / rows.shape[1]))

    def _request_draws(self, draws: FreshDraws, batch: int) -> None:
        if self.protocol.begin == "random":
            draws.uniform("start", batch, self.network.hidden + self._outputs)


def contrast(
    model: PhaseModel,
    free: Tensor,
    target: Tensor,
    gain: Tensor,
    dynamics: Dynamics,
    protocol: EquilibriumPropagation,
    relax: Relax,
    task: Task,
    *,
    weights: Tensor | None = None,
) -> PhaseModel:
    """The estimate of d C / d model, summed over samples, from the free equilibrium (R, B, N).

    `target` (R, B, O) are those of the task, `gain` (R, 1, 1) that of the softmax; `weights`
    (R, B, 1) those of examples.
    """
    clamped = protocol.nudging == "clamped"
    steps = [1] * protocol.nudged_steps
    if clamped:  # nothing follows the phases before the steps that are averaged
        steps = steps[: protocol.averaged_steps]
        steps[0] = protocol.nudged_steps + 1 - protocol.averaged_steps
    phases_by_sign = []
    # Each sign has its own noise, which a chip never repeats.
    for share, first in ((protocol.beta, 1), (-protocol.beta, 1 + len(steps))):
        phases, trajectory = free, list[Tensor]()
        if clamped:
            phases, driven = _clamped(model, free, target, share, task)
        for relaxation, count in enumerate(steps, first):
            if not clamped:
                driven = _nudged(model, phases, target, gain, share, protocol, task, weights)
            part = Dynamics(dynamics.mobility, dynamics.time_step * count, count)
            phases = relax(replace(driven, start=phases), part, relaxation)
            trajectory.append(phases)
        phases_by_sign.append(trajectory[-protocol.averaged_steps :])
    scale = 0.5 / (protocol.beta * protocol.averaged_steps)
    total: PhaseModel | None = None
    for up, down in zip(*phases_by_sign, strict=True):
        if model.frequencies is not None:
            # Noise wraps phases: the energy of w is that of the shorter arc between them.
            down = up + wrap(down - up)
        plus, minus = (
            energy_gradient(phases, model, dynamics.mobility).map(lambda tensor: scale * tensor)
            for phases in (up, down)
        )
        difference = plus.plus(minus.map(torch.neg))
        total = difference if total is None else total.plus(difference)
    assert total is not None
    return total


def _nudged(
    model: PhaseModel,
    phases: Tensor,
    target: Tensor,
    gain: Tensor,
    share: float,
    protocol: EquilibriumPropagation,
    task: Task,
    weights: Tensor | None,
) -> PhaseModel:
    """The model with `share` times the cost added: fields on the outputs that follow `phases`."""
    outputs = target.shape[-1]
    cos = phases[..., -outputs:].cos()
    if protocol.nudging == "squared" and task.has_classes:
        push = 2.0 * target - 1.0 - cos
    else:
        push = -task.loss(cos, target, gain)[1]
    if weights is not None:
        push = push * weights
    fields = model.fields.clone()
    fields[..., -outputs:] += share * push
    return replace(model, fields=fields)


def _clamped(
    model: PhaseModel, free: Tensor, target: Tensor, share: float, task: Task
) -> tuple[Tensor, PhaseModel]:
    """Phases whose outputs are `share` of the way from the free ones to 0 or pi, and the model
    that holds these outputs."""
    hidden = free.shape[-1] - target.shape[-1]
    outputs = free[..., hidden:]
    # of classes 0 for the one, pi for the others
    goal = math.pi * (1.0 - target) if task.has_classes else target.clamp(-1.0, 1.0).acos()
    distance = torch.remainder(goal - outputs + math.pi, 2.0 * math.pi) - math.pi
    moves = torch.zeros(free.shape[-1], dtype=free.dtype, device=free.device)
    moves[:hidden] = 1.0
    tensors = {"fields": model.fields * moves}
    tensors["couplings"] = values_of(scale_rows(model.couplings, moves))  # row i acts on i
    tensors |= {name: values * moves for name, values in model.terms.items() if name in LOCAL}
    held = model.with_tensors(tensors)
    return torch.cat([free[..., :hidden], outputs + share * distance], dim=-1), held
