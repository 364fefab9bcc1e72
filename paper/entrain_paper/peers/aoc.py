"""The equilibrium model of an analog optical computer.

K. P. Kalinin et al., Analog optical computer for AI inference and combinatorial optimization,
Nature 645, 354 (2025).
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
class AnalogOpticalComputer(Peer):
    r"""Light and electronics iterate H states to the fixed point of

        s = W tanh(s) + U x + b,        s <- s + damping (W tanh(s) + U x + b - s),

    with digital projections before (U, b) and after (V, c). The machine holds W (H, H); there is
    no symmetry. The states, H = 16 of them, are read through the same tanh. The sum of |W| over
    each row is kept at `most` or less, below 1, so that the map contracts: there is one fixed
    point, from wherever the iteration begins.
    """

    title: ClassVar[str] = "Kalinin et al. 2025, analog optical computer"
    cited: ClassVar[dict[str, float]] = {"MNIST": 95.0, "Fashion-MNIST": 86.0}
    why: ClassVar[str] = "the cited values are of the machine itself; here it is simulated, exact"

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

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return {
            "W": normal(self.hidden, self.hidden, generator, gain=0.5),
            "U": glorot(self.hidden, inputs, generator),
            "b": torch.zeros(self.hidden),
            "V": glorot(classes, self.hidden, generator),
            "c": torch.zeros(classes),
        }

    def project(self, numbers: Tensors) -> None:
        sums = numbers["W"].abs().sum(-1, keepdim=True)
        numbers["W"].mul_((self.most / sums.clamp(min=1e-12)).clamp(max=1.0))

    @property
    def variables(self) -> int:
        return self.hidden

    def couplers(self, numbers: Tensors) -> int:
        return numbers["W"][0].numel()

    def scores(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        return linear(self.state(numbers, inputs).tanh(), numbers["V"], numbers["c"])

    def state(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        """The fixed point (R, B, H)."""
        weights = numbers["W"]
        drive = linear(inputs, numbers["U"], numbers["b"])

        def step(state: Tensor) -> Tensor:
            return linear(state.tanh(), weights) + drive

        def pullback(state: Tensor) -> Map:
            slope = 1.0 - state.tanh().square()
            return lambda gradient: (gradient @ weights) * slope

        return equilibrium(step, pullback, drive.detach(), self.solver)
