"""Training oscillator networks by simultaneous perturbation."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from entrain import kernels
from entrain.hardware import FreshDraws
from entrain.physics import Dynamics, PhaseModel
from entrain.rules.direct_task import DirectTask, log_softmax
from entrain.rules.interface import Tensors
from entrain.rules.spsa import SimultaneousPerturbation


class PerturbationTask(DirectTask):
    """AdamW on gradients from losses; tensors as in `DirectTask`."""

    protocol: SimultaneousPerturbation

    def _slope(self, raw: Tensors, dynamics: Dynamics, rows: Tensor) -> tuple[Tensor, Tensors]:
        inputs = self._inputs(rows)
        total = {name: torch.zeros_like(tensor) for name, tensor in raw.items()}
        loss = torch.zeros_like(self._total)
        for direction in range(self.protocol.directions):
            if self.protocol.perturbed == "fields":
                found, losses = self._by_fields(raw, inputs, dynamics, rows, direction)
                moved = {"couplings": self.protocol.coupling_size}
            else:
                found, losses = {}, None
                moved = {
                    "couplings": self.protocol.coupling_size,
                    "input_weights": self.protocol.weight_size,
                    "biases": self.protocol.field_size,
                }
            others, both = self._by_numbers(raw, moved, inputs, dynamics, rows, direction)
            for name, gradient in (found | others).items():
                total[name] += gradient / self.protocol.directions
            loss += (both if losses is None else losses) / self.protocol.directions
        return loss, total

    def _by_fields(
        self, raw: Tensors, inputs: Tensor, dynamics: Dynamics, rows: Tensor, direction: int
    ) -> tuple[Tensors, Tensor]:
        """Gradients of input weights and biases from every sample's own loss, and B times L."""
        model, back = self._model(raw, inputs)
        signs = self._signs(direction, "fields", rows.shape[1])
        signs = signs.reshape(model.fields.shape)
        size = self.protocol.field_size
        losses = [
            self._losses(
                replace(model, fields=model.fields + sign * size * signs),
                dynamics,
                rows,
                4 * direction + place,
            )
            for place, sign in enumerate((1.0, -1.0))
        ]
        slope = (losses[0] - losses[1]).reshape(model.fields.shape[:2]) / (2.0 * size)
        by_fields = signs * slope[..., None] / rows.shape[1]
        found = back(PhaseModel(by_fields, torch.zeros_like(model.couplings)))
        kept = {name: found[name] for name in ("input_weights", "biases")}
        return kept, 0.5 * (losses[0] + losses[1]).sum(1)

    def _by_numbers(
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
        for place, sign in enumerate((1.0, -1.0)):
            moved = raw | {name: raw[name] + sign * sizes[name] * signs[name] for name in sizes}
            model, _ = self._model(moved, inputs)
            losses.append(self._losses(model, dynamics, rows, 4 * direction + 2 + place).sum(1))
        slope = (losses[0] - losses[1]) / (2.0 * rows.shape[1])
        found = {
            name: signs[name] * (slope / sizes[name]).reshape(-1, *[1] * (signs[name].dim() - 1))
            for name in sizes
        }
        return found, 0.5 * (losses[0] + losses[1])

    def _losses(self, model: PhaseModel, dynamics: Dynamics, rows: Tensor, later: int) -> Tensor:
        """The cross-entropy (R, B) of each example; `later` tells noise apart, as a chip's is never
        the same twice."""
        noise = None if self._chips is None else self._chips.noise(model.fields.shape[1], later)
        phases = kernels.rollout(model, dynamics, noise=noise)
        ends = (phases if noise is None else phases[:, 0])[..., -self._outputs :]
        scores = ends.cos().reshape(*rows.shape, -1)
        likely = log_softmax(self._gain * scores)
        return -self._weighted(self._target(rows) * likely, rows).sum(2)

    _needs_numbers = True

    def _shapes(self, batch: int) -> dict[str, tuple[int, ...]]:
        """What is moved."""
        hidden, n = self.network.hidden, self.network.hidden + self._outputs
        if self.protocol.perturbed == "fields":
            return {"fields": (batch, n), "couplings": (n, n)}
        inputs = self.train.inputs_per_example
        return {"input_weights": (hidden, inputs), "biases": (n,), "couplings": (n, n)}

    def _ask(self, draws: FreshDraws, batch: int) -> None:
        for direction in range(self.protocol.directions):
            for name, shape in self._shapes(batch).items():
                draws.uniform(f"{name} {direction}", *shape)

    def _signs(self, direction: int, name: str, batch: int) -> Tensor:
        """+1 and -1 at random (R, ...)."""
        drawn = self._numbers(batch).uniform(f"{name} {direction}", *self._shapes(batch)[name])
        return torch.where(drawn < 0.5, -1.0, 1.0)
