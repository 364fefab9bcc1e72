"""Equilibrium propagation as first proposed: a layered Hopfield-like network.

B. Scellier and Y. Bengio, Frontiers in Computational Neuroscience 11, 24 (2017); the centred
estimate is that of A. Laborieux et al., Frontiers in Neuroscience 15, 633674 (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.equilibrium_propagation import EquilibriumPropagation, Nudging, State
from entrain_paper.peers.layers import glorot_layers


@dataclass(frozen=True)
class Scellier(EquilibriumPropagation):
    r"""Inputs x - hidden units h in [0, 1] - outputs y, with the energy

        E = |h|^2 / 2 + |y|^2 / 2 - h W x - y V h - b h - c y,

    minimised by h <- clip(h - step dE/dh), y <- y - step dE/dy, and nudged by
    +-beta |y - target|^2 / 2. Outputs are not clipped: nudging would not move an output clipped at
    0, which could never learn. V starts with a norm below 1: with a larger one, E has several
    minima, and the nudged states may lie in different ones. W (H, D), V (O, H), b (H,), c (O,).
    """

    title: ClassVar[str] = "Scellier and Bengio 2017, equilibrium propagation"
    cited: ClassVar[dict[str, float]] = {"MNIST": 98.21}
    why: ClassVar[str] = (
        "Outputs are not clipped, the gradient estimate is centred, and Adam trains."
    )

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

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        layers = glorot_layers(inputs, self.hidden, classes, generator)
        return layers | {"V": self.initial_feedback * layers["V"]}

    def drive(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        return torch.baddbmm(parameters["b"][:, None], inputs, parameters["W"].mT)

    def energy(self, parameters: Tensors, drive: Tensor, state: State) -> Tensor:
        h, y = state
        wells = 0.5 * h.square().sum(-1) + 0.5 * y.square().sum(-1)
        field = h @ parameters["V"].mT + parameters["c"][:, None]
        return wells - (h * drive).sum(-1) - (y * field).sum(-1)

    def forces(self, parameters: Tensors, drive: Tensor, state: State) -> State:
        h, y = state
        pull = torch.baddbmm(drive, y, parameters["V"]) - h
        return pull, torch.baddbmm(parameters["c"][:, None], h, parameters["V"].mT) - y

    def initial_state(self, parameters: Tensors, drive: Tensor, draws: Draws) -> State:
        outputs = parameters["c"].shape[-1]
        return torch.zeros_like(drive), drive.new_zeros(*drive.shape[:-1], outputs)

    def clamp(self, h: Tensor, y: Tensor) -> State:
        return h.clamp(0.0, 1.0), y
