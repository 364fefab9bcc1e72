"""The training of DIRECT: exact gradients, compiled where they can be, and distillation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from entrain.physics import Dynamics
from entrain.rules.compiled_steps import compiled_steps
from entrain.rules.distillation import parts
from entrain.rules.gradient_training import GradientTraining
from entrain.rules.interface import Tensors
from entrain.rules.training_data import Examples

if TYPE_CHECKING:
    from entrain.rules.direct import Direct


class DirectTraining(GradientTraining):
    """AdamW on exact gradients; tensors as in `GradientTraining`.

    A teacher at a temperature T replaces the targets y of the examples by

        (1 - distillation) y + distillation softmax(logits / T).
    """

    protocol: Direct

    def __init__(
        self,
        protocol: Direct,
        train: Examples,
        *arguments: Any,
        teacher_outputs: Tensor | None = None,
        teacher_logits: Tensor | None = None,
        logits_of_images: Callable[[Tensor], Tensor] | None = None,
        **options: Any,
    ) -> None:
        """As `GradientTraining`; of a teacher either `teacher_outputs` (M, O) for the squared
        distance, `teacher_logits` (M, O), or its logits of distorted images."""
        super().__init__(protocol, train, *arguments, **options)
        self._teacher, self._logits_of_images = teacher_outputs, logits_of_images
        self._labels = self._targets
        if teacher_logits is not None:
            self._targets = self._softened(teacher_logits)
        elif logits_of_images is not None:
            self._targets = self._labels.repeat(len(self.runs), 1, 1)
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
        runs = [run for run in range(len(rows)) if run not in self._stopped]
        total = self._compiled.train(tensors, rows, sizes, schedule, dynamics, order, runs)
        return {"loss": total / len(self.train.targets)}

    def loss_and_gradient(
        self, raw: Tensors, dynamics: Dynamics, rows: Tensor
    ) -> tuple[Tensor, Tensors]:
        if self._teacher is None:
            return self.exact_gradient(raw, dynamics, rows)
        share = self.protocol.distillation
        activations, back = self._forward(raw, self._inputs(rows), dynamics)
        losses, by_outputs = self.task.loss(activations, self._target(rows), self._gain)  # times B
        error = activations - self._teacher[rows]
        by_outputs = (1.0 - share) * by_outputs + share * (2.0 / self._outputs) * error
        squares = self._weighted(error.square(), rows).mean(2).sum(1)
        loss = (1.0 - share) * self._weighted(losses, rows).sum((1, 2)) + share * squares
        return loss, back(self._weighted(by_outputs, rows), rows.shape[1])

    def _renew_distortions(self, epoch: int) -> None:
        super()._renew_distortions(epoch)
        if self._logits_of_images is None:
            return
        images, distortions = self.train.images, self._distortions
        assert images is not None
        assert distortions is not None
        for run, draws in enumerate(distortions):

            def distort(part: Tensor, rows: slice, draws: Tensor = draws) -> Tensor:
                return self.protocol.augmentation(part, draws[rows], self._strength)

            logits = torch.cat([self._logits_of_images(p) for p in parts(images, distort)])
            self._targets[run] = self._softened(logits)

    def _softened(self, logits: Tensor) -> Tensor:
        """Targets (M, O) of a teacher's logits."""
        share = self.protocol.distillation
        soft = torch.softmax(logits / self.protocol.temperature, dim=-1)
        return (1.0 - share) * self._labels + share * soft


def is_symmetric(couplings: Tensor) -> bool:
    """True if J_ij is J_ji in all runs."""
    return torch.equal(couplings, couplings.mT)
