"""The training of DIRECT: exact gradients, compiled where they can be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from entrain.physics import Dynamics
from entrain.rules.compiled_steps import compiled_steps
from entrain.rules.gradient_training import GradientTraining
from entrain.rules.interface import Tensors
from entrain.rules.training_data import Examples

if TYPE_CHECKING:
    from entrain.rules.direct import Direct


class DirectTraining(GradientTraining):
    """AdamW on exact gradients; tensors as in `GradientTraining`."""

    protocol: Direct

    def __init__(
        self,
        protocol: Direct,
        train: Examples,
        *arguments: Any,
        teacher_outputs: Tensor | None = None,
        **options: Any,
    ) -> None:
        """As `GradientTraining`; `teacher_outputs` (M, O) are for distillation."""
        super().__init__(protocol, train, *arguments, **options)
        self._teacher = teacher_outputs
        self._compiled = compiled_steps(self, self._targets, self._weights)

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        if self._compiled is None or not is_symmetric(tensors["raw.couplings"]):
            return super().run_epoch(tensors, epoch)
        batches, schedule = self._batches(epoch)
        dynamics, order = self._dynamics_of(epoch), 1
        if 0 < self.protocol.second_order_steps < self._dynamics.steps:
            dynamics, order = replace(dynamics, steps=self.protocol.second_order_steps), 2
        sizes = [batch.shape[1] for batch in batches]
        rows = torch.cat(batches, dim=1)
        total = self._compiled.train(tensors, rows, sizes, schedule, dynamics, order)
        return {"loss": total / len(self.train.targets)}

    def loss_and_gradient(
        self, raw: Tensors, dynamics: Dynamics, rows: Tensor
    ) -> tuple[Tensor, Tensors]:
        share = self.protocol.distillation
        if not share:
            return self.exact_gradient(raw, dynamics, rows)
        assert self._teacher is not None
        activations, back = self._forward(raw, self._inputs(rows), dynamics)
        losses, by_outputs = self.task.loss(activations, self._target(rows), self._gain)  # times B
        error = activations - self._teacher[rows]
        by_outputs = (1.0 - share) * by_outputs + share * (2.0 / self._outputs) * error
        squares = self._weighted(error.square(), rows).mean(2).sum(1)
        loss = (1.0 - share) * self._weighted(losses, rows).sum((1, 2)) + share * squares
        return loss, back(self._weighted(by_outputs, rows), rows.shape[1])


def is_symmetric(couplings: Tensor) -> bool:
    """True if J_ij is J_ji in all runs."""
    return torch.equal(couplings, couplings.mT)
