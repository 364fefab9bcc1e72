"""Equilibrium propagation on XY oscillators that read images of 8 x 8 pixels.

Q. Wang, C. C. Wanjura and F. Marquardt, Neuromorphic Computing and Engineering 4, 034014 (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.equilibrium_propagation import State
from entrain_paper.peers.phase_layers import PhaseLayers

_SIDE = 8  # pixels of a small image


@dataclass(frozen=True)
class Wang(PhaseLayers):
    r"""64-200-10 phases: images are averaged down to 8 x 8 pixels p, each an oscillator fixed at
    pi p with the energy -W_ik cos(h_i - pi p_k). The other terms are those of `PhaseLayers`.

    The energy has several minima: every image relaxes from `starts` random states, and scores and
    gradients are means over them. W (H, 64), V (O, H), b (H,), c (O,).
    """

    title: ClassVar[str] = "Wang, Wanjura and Marquardt 2024, XY equilibrium propagation"
    cited: ClassVar[dict[str, float]] = {"MNIST": 94.1}
    why: ClassVar[str] = (
        "The published value is on a set of 8 x 8 digits; here MNIST and Fashion-MNIST are "
        "averaged down to 8 x 8 pixels."
    )

    name: str = "wang"
    epochs: int = 15
    rate: float = 5e-3
    hidden: int = 200
    starts: int = 4
    initial_weights: float = 0.1
    initial_couplings: float = 0.03

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return super().init_parameters(_SIDE * _SIDE, classes, generator)

    def drive(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Fields (R, B, 2 H): along 0, then along pi/2."""
        phases = math.pi * small_images(inputs)
        weights = parameters["W"].mT
        along = torch.baddbmm(parameters["b"][:, None], phases.cos(), weights)
        return torch.cat([along, phases.sin() @ weights], dim=-1)

    def fields(self, drive: Tensor) -> tuple[Tensor, Tensor | None]:
        along, across = drive.chunk(2, dim=-1)
        return along, across

    def initial_state(self, parameters: Tensors, drive: Tensor, draws: Draws) -> State:
        h, y = super().initial_state(parameters, drive, draws)
        turn = 2.0 * math.pi
        return turn * draws.uniform("h", *h.shape[1:]), turn * draws.uniform("y", *y.shape[1:])


def small_images(inputs: Tensor) -> Tensor:
    """Square images (R, B, D) averaged down to 8 x 8 pixels: (R, B, 64)."""
    side = math.isqrt(inputs.shape[-1])
    square = inputs.reshape(-1, 1, side, side)
    small = torch.nn.functional.adaptive_avg_pool2d(square, _SIDE)
    return small.reshape(*inputs.shape[:-1], _SIDE * _SIDE)
