"""A deep equilibrium model with one fixed point: subhomogeneous.

P. Sittoni and F. Tudisco, Subhomogeneous deep equilibrium models, ICML (2024).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers.fixed_point import FixedPointSolver, Map, equilibrium
from entrain_paper.peers.interface import Peer
from entrain_paper.peers.layers import glorot, linear, normal


@dataclass(frozen=True)
class SubDEQ(Peer):
    r"""The fixed point of

        z = tanh(W z) + relu(U x + b) + 1.2,

    standardised over its units, is read by a linear layer. Tanh plus 1.2 is subhomogeneous of a
    degree below 1, so that with W >= 0 there is one fixed point, and iteration finds it. As in the
    authors' dense model W is free to change sign; it begins small, and trained ones settle too.
    W (H, H), U (H, D), b (H,), readout V (O, H) and c (O,).
    """

    title: ClassVar[str] = "Sittoni and Tudisco 2024, subhomogeneous deep equilibrium"
    cited: ClassVar[dict[str, float]] = {"MNIST": 98.08}
    why: ClassVar[str] = (
        "the authors split all 70,000 images their own way and normalise over the batch; here the "
        "official test images are used, and each state is standardised over its units"
    )

    name: str = "subdeq"
    epochs: int = 30
    batch_size: int = 256
    rate: float = 3e-3
    decay: float = 0.3
    averaging: float = 0.998
    hidden: int = 87
    shift: float = 1.2
    solver: FixedPointSolver = field(default_factory=lambda: FixedPointSolver(steps=12))

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return {
            "W": normal(self.hidden, self.hidden, generator, gain=0.1),
            "U": glorot(self.hidden, inputs, generator),
            "b": torch.zeros(self.hidden),
            "V": glorot(classes, self.hidden, generator),
            "c": torch.zeros(classes),
        }

    @property
    def variables(self) -> int:
        return self.hidden

    def couplers(self, numbers: Tensors) -> int:
        return numbers["W"][0].numel()

    def scores(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        state = self.state(numbers, inputs)
        centred = state - state.mean(-1, keepdim=True)
        deviation = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return linear(centred / deviation, numbers["V"], numbers["c"])

    def state(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        """The fixed point (R, B, H)."""
        weights = numbers["W"]
        drive = linear(inputs, numbers["U"], numbers["b"]).relu() + self.shift

        def step(state: Tensor) -> Tensor:
            return linear(state, weights).tanh() + drive

        def pullback(state: Tensor) -> Map:
            slope = 1.0 - linear(state, weights).tanh().square()
            return lambda gradient: (gradient * slope) @ weights

        return equilibrium(step, pullback, drive.detach(), self.solver)
