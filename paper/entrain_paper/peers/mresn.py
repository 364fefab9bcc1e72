"""Several echo state networks that scan an image; only the readout is trained.

E. J. Lopez-Ortiz et al., "Exploring deep echo state networks for image classification: a
multi-reservoir approach" (2024); the unit is that of H. Jaeger et al., Neural Networks 20, 335
(2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.interface import Peer

_SCANS = 4  # downwards, upwards, to the right, to the left


@dataclass(frozen=True)
class Reservoirs(Peer):
    r"""Four reservoirs, each of which scans the lines u_t of the image from another side,

        x <- (1 - leak) x + leak tanh(A x + W u_t + b),

    with random A of the spectral radius `radius`, W and b, all fixed. The scores are a linear map
    of the states after the last line.

    Shapes: images (R, B, D) with D = side * side, states (R, 4, B, units).
    """

    title: ClassVar[str] = "Lopez-Ortiz et al. 2024, multi-reservoir echo state network"
    cited: ClassVar[dict[str, float]] = {"MNIST": 96.64, "Fashion-MNIST": 86.77}
    why: ClassVar[str] = (
        "The reservoirs scan the image from its four sides; their radius, leak and scales were "
        "chosen here; the readout minimises the cross-entropy by gradient descent (ridge "
        "regression was 0.3 points less accurate on Fashion-MNIST's validation images)."
    )
    fixed: ClassVar[tuple[str, ...]] = ("A", "W", "b")

    name: str = "mresn"
    epochs: int = 15
    batch_size: int = 256
    rate: float = 3e-2
    units: int = 500  # of one reservoir
    radius: float = 0.9
    leak: float = 0.3
    input_scale: float = 0.5
    bias_scale: float = 0.2

    def quick(self) -> Peer:
        """This system with few epochs and small reservoirs."""
        return replace(self, epochs=5, units=100, rate=5e-2)

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        side = _side(inputs)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        # The eigenvalues of a large random matrix fill a circle of radius deviation * sqrt(units).
        return {
            "A": self.radius / math.sqrt(self.units) * normal(_SCANS, self.units, self.units),
            "W": self.input_scale * normal(_SCANS, self.units, side),
            "b": self.bias_scale * normal(_SCANS, self.units),
            "V": torch.zeros(classes, _SCANS * self.units),
            "c": torch.zeros(classes),
        }

    @property
    def variables(self) -> int:
        return _SCANS * self.units

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        states = self.states(parameters, inputs).transpose(1, 2).flatten(2)  # (R, B, 4 * units)
        return states @ parameters["V"].mT + parameters["c"][:, None]

    def states(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """States (R, 4, B, units) after the last line of images (R, B, D)."""
        runs, batch, pixels = inputs.shape
        lines = _scan_lines(inputs, _side(pixels))  # (R, 4, T, B, side)
        weights = parameters["W"][:, :, None].mT
        drive = lines @ weights + parameters["b"][:, :, None, None]
        recurrent = parameters["A"].flatten(0, 1).mT
        x = inputs.new_zeros(runs * _SCANS, batch, self.units)
        for line in drive.flatten(0, 1).unbind(1):
            x = torch.lerp(x, torch.tanh(torch.baddbmm(line, x, recurrent)), self.leak)
        return x.reshape(runs, _SCANS, batch, self.units)


def _side(pixels: int) -> int:
    side = math.isqrt(pixels)
    assert side * side == pixels, "a reservoir scans square images"
    return side


def _scan_lines(inputs: Tensor, side: int) -> Tensor:
    """Lines (R, 4, side, B, side) of images (R, B, D) in the order of each scan."""
    square = inputs.reshape(*inputs.shape[:2], side, side)
    down = square.permute(0, 2, 1, 3)  # (R, rows, B, columns)
    right = down.transpose(1, 3)
    return torch.stack([down, down.flip(1), right, right.flip(1)], dim=1)
