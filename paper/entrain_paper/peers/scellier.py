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

from entrain.rules import Tensors
from entrain_paper.peers.nudged import Nudged, Nudging, State


@dataclass(frozen=True)
class Scellier(Nudged):
    r"""Inputs x - hidden units h in [0, 1] - outputs y, with the energy

        E = |h|^2 / 2 + |y|^2 / 2 - h W x - y V h - b h - c y,

    relaxed by h <- clip(h - step dE/dh), y <- y - step dE/dy; nudged by beta |y - target|^2 / 2 to
    both sides. Outputs are not clipped: one that rests below 0 would feel no nudging and never
    learn. V begins small enough that its norm is below 1: where it is above, E has several minima
    and the nudged states are not neighbours. W (H, D), V (O, H), b (H,), c (O,).
    """

    title: ClassVar[str] = "Scellier and Bengio 2017, equilibrium propagation"
    cited: ClassVar[dict[str, float]] = {"MNIST": 98.21}
    why: ClassVar[str] = "Outputs are not clipped, the estimate is centred, and Adam trains it."

    name: str = "scellier"
    batch_size: int = 64
    rate: float = 1e-3
    hidden: int = 512
    beta: float = 0.2
    free_steps: int = 20
    nudged_steps: int = 6
    step: float = 0.5
    nudging: Nudging = "squared"

    initial_feedback: float = 0.2

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        def uniform(rows: int, columns: int) -> Tensor:  # Glorot
            bound = math.sqrt(6.0 / (rows + columns))
            return bound * (2.0 * torch.rand(rows, columns, generator=generator) - 1.0)

        return {
            "W": uniform(self.hidden, inputs),
            "V": self.initial_feedback * uniform(classes, self.hidden),
            "b": torch.zeros(self.hidden),
            "c": torch.zeros(classes),
        }

    def drive(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        return torch.baddbmm(numbers["b"][:, None], inputs, numbers["W"].mT)

    def energy(self, numbers: Tensors, drive: Tensor, state: State) -> Tensor:
        h, y = state
        own = 0.5 * h.square().sum(-1) + 0.5 * y.square().sum(-1)
        field = h @ numbers["V"].mT + numbers["c"][:, None]
        return own - (h * drive).sum(-1) - (y * field).sum(-1)

    def forces(self, numbers: Tensors, drive: Tensor, state: State) -> State:
        h, y = state
        pull = torch.baddbmm(drive, y, numbers["V"]) - h
        return pull, torch.baddbmm(numbers["c"][:, None], h, numbers["V"].mT) - y

    def rest(self, numbers: Tensors, drive: Tensor) -> State:
        outputs = numbers["c"].shape[-1]
        return torch.zeros_like(drive), drive.new_zeros(*drive.shape[:-1], outputs)

    def bounded(self, h: Tensor, y: Tensor) -> State:
        return h.clamp(0.0, 1.0), y
