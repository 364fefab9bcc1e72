"""Simultaneous perturbation: gradients from losses alone, for a chip without a model of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from entrain.hardware import FreshDraws
from entrain.physics import Dynamics, NetworkSpec, PhaseModel
from entrain.rules.adamw import per_tensor
from entrain.rules.gradient_rule import GradientRule
from entrain.rules.gradient_training import GradientTraining
from entrain.rules.interface import PerRun, Rule, Tensors
from entrain.utils.errors import InputError, check_ranges, one_of

Perturbed = Literal["fields", "weights"]


@dataclass(frozen=True)
class SimultaneousPerturbation(GradientRule):
    r"""Finite differences of the loss along random directions (Spall 1992).

        g = Delta ( L(p + c Delta) - L(p - c Delta) ) / (2 c),   Delta of +1 and -1 at random,

    has the gradient as its mean, up to order c^2; its variance grows with the number of perturbed
    parameters.

    Args:
        name, start, epochs, batch_size, input_rate, coupling_rate: See `GradientRule`.
        weight_decay, gain, smoothing, warm_up, clip, averaging: See `GradientRule`.
        coarse_steps, fine_epochs, initial_couplings, initial_weights: See `GradientRule`.
        augmentation, unaugmented_epochs, class_weights, chips, frozen: See `GradientRule`.
        validation_interval, patience, input_noise, time_shift, time_stretch: See `GradientRule`.
        perturbed: "weights" perturbs input weights and biases; "fields" the N fields of every
            sample instead, each with its own signs and loss, from whose gradients those of input
            weights and biases follow.
        field_size: c of fields and biases.
        coupling_size: c of couplings.
        weight_size: c of input weights.
        directions: Estimates g that are averaged.

    Examples:
        >>> entrain.rules.SimultaneousPerturbation(epochs=10).name
        'SPSA'
    """

    kind: ClassVar[str] = "spsa"

    name: str = "SPSA"
    epochs: int = 60
    input_rate: PerRun = 3e-3
    coupling_rate: PerRun = 1e-2
    gain: PerRun = 6.0
    initial_weights: PerRun = 0.5
    perturbed: Perturbed = "fields"
    field_size: float = 0.5
    coupling_size: float = 0.05
    weight_size: float = 0.05
    directions: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("perturbed", self.perturbed, Perturbed)
        sizes = ("field_size", "coupling_size", "weight_size")
        check_ranges(self, whole=("directions",), positive=sizes)

    def tuned_for(self, dataset: str, examples: int) -> SimultaneousPerturbation:
        return replace(self, batch_size=64) if dataset == "digits" else self

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        super().check(network, runs, teachers)
        if network.trainable:
            raise InputError(
                f"{self.name} trains input weights, biases and couplings; got trainable "
                f"{', '.join(network.trainable)}"
            )

    @property
    def training_class(self) -> type[PerturbationTraining]:
        return PerturbationTraining


SPSA_PROTOCOLS: dict[str, SimultaneousPerturbation] = {"SPSA": SimultaneousPerturbation()}


class PerturbationTraining(GradientTraining):
    """AdamW on gradients from losses; tensors as in `GradientTraining`."""

    protocol: SimultaneousPerturbation

    def loss_and_gradient(
        self, raw: Tensors, dynamics: Dynamics, rows: Tensor
    ) -> tuple[Tensor, Tensors]:
        protocol, inputs = self.protocol, self._inputs(rows)
        total = {name: torch.zeros_like(tensor) for name, tensor in raw.items()}
        total_loss = torch.zeros_like(self._total)
        sizes = {"couplings": protocol.coupling_size}
        if protocol.perturbed == "weights":
            sizes |= {"input_weights": protocol.weight_size, "biases": protocol.field_size}
        for direction in range(protocol.directions):
            gradients, loss = self._by_parameters(raw, sizes, inputs, dynamics, rows, direction)
            if protocol.perturbed == "fields":
                by_fields, loss = self._by_fields(raw, inputs, dynamics, rows, direction)
                gradients = by_fields | gradients
            for name, gradient in gradients.items():
                total[name] += gradient / protocol.directions
            total_loss += loss / protocol.directions
        return total_loss, total

    def _by_fields(
        self, raw: Tensors, inputs: Tensor, dynamics: Dynamics, rows: Tensor, direction: int
    ) -> tuple[Tensors, Tensor]:
        """Gradients of input weights and biases from every sample's own loss, and B times L."""
        model, back = self._model(raw, inputs)
        signs = self._signs(direction, "fields", rows.shape[1]).reshape(model.fields.shape)
        size = self.protocol.field_size
        up, down = (
            self._losses(
                replace(model, fields=model.fields + sign * size * signs),
                dynamics,
                rows,
                4 * direction + index,
            )
            for index, sign in enumerate((1.0, -1.0))
        )
        slope = (up - down).reshape(model.fields.shape[:2]) / (2.0 * size)
        by_fields = signs * slope[..., None] / rows.shape[1]
        gradients = back(PhaseModel(by_fields, torch.zeros_like(model.matrix)))
        return {k: gradients[k] for k in ("input_weights", "biases")}, 0.5 * (up + down).sum(1)

    def _by_parameters(
        self,
        raw: Tensors,
        sizes: dict[str, float],
        inputs: Tensor,
        dynamics: Dynamics,
        rows: Tensor,
        direction: int,
    ) -> tuple[Tensors, Tensor]:
        """Gradients of the tensors named in `sizes` from the loss of the batch, and B times L."""
        signs = {name: self._signs(direction, name, rows.shape[1]) for name in sizes}
        upper = signs["couplings"].triu(1)
        signs["couplings"] = (upper + upper.mT) * self._spec.graph
        if self._chips is not None:
            signs = self._chips.masked(signs)
        losses = []
        for index, sign in enumerate((1.0, -1.0)):
            moved = raw | {name: raw[name] + sign * sizes[name] * signs[name] for name in sizes}
            model, _ = self._model(moved, inputs)
            losses.append(self._losses(model, dynamics, rows, 4 * direction + 2 + index).sum(1))
        slope = (losses[0] - losses[1]) / (2.0 * rows.shape[1])
        gradients = {
            name: signs[name] * per_tensor(slope / sizes[name], signs[name]) for name in sizes
        }
        return gradients, 0.5 * (losses[0] + losses[1])

    def _losses(
        self, model: PhaseModel, dynamics: Dynamics, rows: Tensor, relaxation: int
    ) -> Tensor:
        """The loss (R, B) of each example."""
        phases = self._relax(model, dynamics, relaxation)
        scores = phases[..., -self._outputs :].cos().reshape(*rows.shape, -1)
        losses, _ = self.task.loss(scores, self._target(rows), self._gain)
        return self._weighted(losses, rows).sum(2)

    def _shapes(self, batch: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the perturbed tensors of one run."""
        hidden, n = self.network.hidden, self.network.hidden + self._outputs
        if self.protocol.perturbed == "fields":
            return {"fields": (batch, n), "couplings": (n, n)}
        inputs = self.train.inputs_per_example
        return {"input_weights": (hidden, inputs), "biases": (n,), "couplings": (n, n)}

    def _request_draws(self, draws: FreshDraws, batch: int) -> None:
        for direction in range(self.protocol.directions):
            for name, shape in self._shapes(batch).items():
                draws.uniform(f"{name} {direction}", *shape)

    def _signs(self, direction: int, name: str, batch: int) -> Tensor:
        """+1 and -1 at random (R, ...)."""
        uniform = self._draws(batch).uniform(f"{name} {direction}", *self._shapes(batch)[name])
        return torch.where(uniform < 0.5, -1.0, 1.0)
