"""A neural-memory ordinary differential equation.

Z. Yi, nmODE: neural memory ordinary differential equation, Artificial Intelligence Review 56,
14403 (2023).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Direct, Tensors
from entrain.rules.direct import tuned
from entrain_paper.peers.interface import Peer
from entrain_paper.peers.layers import glorot_layers, linear


@dataclass(frozen=True)
class NeuralMemory(Peer):
    r"""H units that do not interact, from y = 0 to the time t_f in K steps of Heun's method,

        dy/dt = -y + sin^2(y + W x + b),

    with a linear readout V (O, H), c (O,); W (H, D), b (H,). Each unit descends the potential

        E = y^2 / 2 - y / 2 + sin(2 (y + W x + b)) / 4.

    `distorted` trains with the image distortions of DIRECT.
    """

    title: ClassVar[str] = "Yi 2023, neural-memory ODE"
    cited: ClassVar[dict[str, float]] = {"MNIST": 99.52}
    why: ClassVar[str] = (
        "The author's preprocessing and training are unknown; undistorted and distorted images are "
        "measured separately."
    )

    name: str = "nmode"
    epochs: int = 30
    batch_size: int = 128
    rate: float = 1e-3
    hidden: int = 2048
    time: float = 1.0
    steps: int = 5
    averaging: float = 0.999
    distorted: bool = False

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return glorot_layers(inputs, self.hidden, classes, generator)

    @property
    def variables(self) -> int:
        return self.hidden

    def couplers(self, parameters: Tensors) -> int:
        return 0

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        drive = linear(inputs, parameters["W"], parameters["b"])
        return linear(self.memory(drive), parameters["V"], parameters["c"])

    def memory(self, drive: Tensor) -> Tensor:
        """y(t_f) under the drive W x + b, elementwise."""
        state, step = torch.zeros_like(drive), self.time / self.steps
        for _ in range(self.steps):
            first = (state + drive).sin().square() - state
            ahead = state + step * first
            second = (ahead + drive).sin().square() - ahead
            state = state + (0.5 * step) * (first + second)
        return state

    def dissipated_energy(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        drive = linear(inputs, parameters["W"], parameters["b"])
        state = self.memory(drive)
        fall = potential(torch.zeros_like(state), drive) - potential(state, drive)
        return fall.sum(-1).mean(-1)

    def for_dataset(self, dataset: str) -> NeuralMemory:
        if not self.distorted:
            return self
        return replace(self, augmentation=tuned(Direct(), dataset.lower()).augmentation)

    def quick(self) -> NeuralMemory:
        """This system with few epochs and at most 256 units."""
        return replace(self, epochs=6, batch_size=64, hidden=min(self.hidden, 256))


def potential(state: Tensor, drive: Tensor) -> Tensor:
    """Potential E of every unit; dy/dt = -dE/dy."""
    return 0.5 * state.square() - 0.5 * state + 0.25 * (2.0 * (state + drive)).sin()


NMODE = NeuralMemory()
NMODE_AUGMENTED = NeuralMemory(name="nmode-augmented", epochs=60, distorted=True)
