"""A subhomogeneous deep equilibrium model, whose fixed point is unique.

P. Sittoni and F. Tudisco, Subhomogeneous deep equilibrium models, ICML (2024).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.fixed_point import FixedPointSolver, Map, equilibrium
from entrain_paper.peers.interface import Peer
from entrain_paper.peers.layers import implicit_layers, linear


@dataclass(frozen=True)
class SubDEQ(Peer):
    r"""The fixed point of

        z = tanh(W z) + relu(U x + b) + 1.2,

    standardised over its units, with a linear readout. Tanh plus 1.2 is subhomogeneous of a degree
    below 1: with W >= 0 the fixed point is unique, and iteration converges to it. As in the
    authors' dense model, W may change sign; it starts small, and the iteration still converges
    after training. W (H, H), U (H, D), b (H,), readout V (O, H) and c (O,).
    """

    title: ClassVar[str] = "Sittoni and Tudisco 2024, subhomogeneous deep equilibrium"
    cited: ClassVar[dict[str, float]] = {"MNIST": 98.08}
    why: ClassVar[str] = (
        "The authors use another split of all 70,000 images and normalise over the batch; here the "
        "official test images are used, and each state is standardised over its units."
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

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return implicit_layers((inputs, self.hidden, classes), 0.1, generator)

    @property
    def variables(self) -> int:
        return self.hidden

    def couplers(self, parameters: Tensors) -> int:
        return parameters["W"][0].numel()

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        state = self.state(parameters, inputs)
        centred = state - state.mean(-1, keepdim=True)
        deviation = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return linear(centred / deviation, parameters["V"], parameters["c"])

    def state(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Fixed point (R, B, H)."""
        weights = parameters["W"]
        drive = linear(inputs, parameters["U"], parameters["b"]).relu() + self.shift

        def step(state: Tensor) -> Tensor:
            return linear(state, weights).tanh() + drive

        def pullback(state: Tensor) -> Map:
            slope = 1.0 - linear(state, weights).tanh().square()
            return lambda gradient: (gradient * slope) @ weights

        return equilibrium(step, pullback, drive.detach(), self.solver)
