"""The equilibrium model of an analog optical computer.

K. P. Kalinin et al., Analog optical computer for AI inference and combinatorial optimization,
Nature 645, 354 (2025).
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
class AnalogOpticalComputer(Peer):
    r"""Light and electronics iterate H states to the fixed point of

        s = W tanh(s) + U x + b,        s <- s + damping (W tanh(s) + U x + b - s),

    with digital projections before (U, b) and after (V, c). The analog couplings W (H, H) are not
    symmetric. The readout sees tanh(s) of the H = 16 states. Each row sum of |W| is at most `most`,
    which is below 1: the map contracts, and its fixed point is unique.
    """

    title: ClassVar[str] = "Kalinin et al. 2025, analog optical computer"
    cited: ClassVar[dict[str, float]] = {"MNIST": 95.0, "Fashion-MNIST": 86.0}
    why: ClassVar[str] = "The cited values are of the machine; here its model is simulated exactly."

    name: str = "aoc"
    epochs: int = 20
    batch_size: int = 64
    rate: float = 3e-3
    clip: float | None = 1.0
    hidden: int = 16
    most: float = 0.9
    solver: FixedPointSolver = field(
        default_factory=lambda: FixedPointSolver(steps=20, memory=0, damping=0.5)
    )

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return implicit_layers((inputs, self.hidden, classes), 0.5, generator)

    def project(self, parameters: Tensors) -> None:
        sums = parameters["W"].abs().sum(-1, keepdim=True)
        parameters["W"].mul_((self.most / sums.clamp(min=1e-12)).clamp(max=1.0))

    @property
    def variables(self) -> int:
        return self.hidden

    def couplers(self, parameters: Tensors) -> int:
        return parameters["W"][0].numel()

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        return linear(self.state(parameters, inputs).tanh(), parameters["V"], parameters["c"])

    def state(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Fixed point (R, B, H)."""
        weights = parameters["W"]
        drive = linear(inputs, parameters["U"], parameters["b"])

        def step(state: Tensor) -> Tensor:
            return linear(state.tanh(), weights) + drive

        def pullback(state: Tensor) -> Map:
            slope = 1.0 - state.tanh().square()
            return lambda gradient: (gradient @ weights) * slope

        return equilibrium(step, pullback, drive.detach(), self.solver)
