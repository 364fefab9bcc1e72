"""Equilibrium propagation as it was proposed: a layered Hopfield-like network.

B. Scellier and Y. Bengio, Frontiers in Computational Neuroscience 11, 24 (2017); the centred
estimate is that of A. Laborieux et al., Frontiers in Neuroscience 15, 633674 (2021).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from entrain.peers.interface import Peer
from entrain.rules import Tensors


@dataclass(frozen=True)
class Scellier(Peer):
    r"""Units s in [0, 1], inputs x - hidden h - outputs y, with the energy

        E = |h|^2 / 2 + |y|^2 / 2 - h W x - y V h - b h - c y,

    relaxed by s <- clip(s - step dE/ds); nudged by beta |y - target|^2 / 2 to both sides.
    """

    title: ClassVar[str] = "Scellier and Bengio 2017, equilibrium propagation"
    cited: ClassVar[dict[str, float]] = {"MNIST": 98.21}

    name: str = "scellier"
    epochs: int = 25
    batch_size: int = 64
    rate: float = 1e-3
    hidden: int = 512
    beta: float = 0.2
    free_steps: int = 20
    nudged_steps: int = 6
    step: float = 0.5

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        def uniform(rows: int, columns: int) -> Tensor:  # Glorot
            bound = math.sqrt(6.0 / (rows + columns))
            return bound * (2.0 * torch.rand(rows, columns, generator=generator) - 1.0)

        return {
            "W": uniform(self.hidden, inputs),
            "V": uniform(classes, self.hidden),
            "b": torch.zeros(self.hidden),
            "c": torch.zeros(classes),
        }

    @property
    def variables(self) -> int:
        return self.hidden + 10

    def couplers(self, numbers: Tensors) -> int:
        return numbers["V"][0].numel()

    def scores(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        drive = self._drive(numbers, inputs)
        return self._relaxed(numbers, drive, *self._rest(drive, numbers), self.free_steps)[1]

    def gradients(self, numbers: Tensors, inputs: Tensor, target: Tensor) -> tuple[Tensor, Tensors]:
        drive = self._drive(numbers, inputs)
        h, y = self._relaxed(numbers, drive, *self._rest(drive, numbers), self.free_steps)
        loss = 0.5 * (y - target).square().sum(-1).mean(-1)
        found = []
        for beta in (self.beta, -self.beta):
            state = self._relaxed(numbers, drive, h, y, self.nudged_steps, beta, target)
            found.append(self._slopes(*state, inputs))
        scale = 0.5 / self.beta / inputs.shape[1]
        return loss, {name: scale * (found[0][name] - found[1][name]) for name in found[0]}

    def _drive(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        """What the input and the bias do to the hidden units: (R, B, H)."""
        return inputs @ numbers["W"].mT + numbers["b"][:, None]

    def _rest(self, drive: Tensor, numbers: Tensors) -> tuple[Tensor, Tensor]:
        outputs = numbers["c"].shape[-1]
        return torch.zeros_like(drive), drive.new_zeros(*drive.shape[:-1], outputs)

    def _relaxed(
        self,
        numbers: Tensors,
        drive: Tensor,
        h: Tensor,
        y: Tensor,
        steps: int,
        beta: float = 0.0,
        target: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        weights, bias = numbers["V"], numbers["c"][:, None]
        for _ in range(steps):
            pull = drive + y @ weights - h
            out = h @ weights.mT + bias - y
            if target is not None:
                out = out + beta * (target - y)
            h, y = (h + self.step * pull).clamp(0, 1), (y + self.step * out).clamp(0, 1)
        return h, y

    @staticmethod
    def _slopes(h: Tensor, y: Tensor, inputs: Tensor) -> Tensors:
        """dE / dp summed over the batch."""
        return {"W": -(h.mT @ inputs), "V": -(y.mT @ h), "b": -h.sum(1), "c": -y.sum(1)}
