"""Equilibrium propagation on an oscillator Ising machine.

A. Gower, International Conference on Neuromorphic Systems, 229 (2025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.interface import Peer
from entrain_paper.peers.phase_layers import PhaseLayers


@dataclass(frozen=True)
class Gower(PhaseLayers):
    r"""784-500-10 phases with the energy of `PhaseLayers` and S > 0: the injected second harmonic
    pulls every phase towards 0 or pi, the two values of an Ising spin.
    """

    title: ClassVar[str] = "Gower 2025, oscillator Ising machine by equilibrium propagation"
    cited: ClassVar[dict[str, float]] = {"MNIST": 97.2, "Fashion-MNIST": 88.0}
    why: ClassVar[str] = "The cost is the cross-entropy; the injection is not published."
    standardised: ClassVar[bool] = True
    rates: ClassVar[dict[str, float]] = {"V": 4.0, "c": 4.0}

    name: str = "gower"
    rate: float = 1e-3
    free_steps: int = 40
    nudged_steps: int = 10
    initial_weights: float = 0.02
    initial_couplings: float = 0.02
    injection: float = 0.1

    def for_dataset(self, dataset: str) -> Peer:
        """This system with the rate that validation selected for Fashion-MNIST."""
        return replace(self, rate=5e-4) if dataset == "Fashion-MNIST" else self

    def search_space(self) -> dict[str, tuple[float, float]]:
        """Adds the injection, which the cited paper does not give."""
        return super().search_space() | {"injection": (0.01, 1.0)}


@dataclass(frozen=True)
class CoarseGower(Gower):
    """The same machine, trained in full precision and scored in few bits.

    Each parameter tensor is rounded to 2^`parameter_bits` levels between plus and minus its largest
    magnitude, and output phases to 2^`phase_bits` levels around the circle.
    """

    title: ClassVar[str] = "Gower 2025, scored with 10-bit parameters and 4-bit phases"

    name: str = "gower-bits"
    parameter_bits: int = 10
    phase_bits: int = 4

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        rounded = {name: self._round(tensor) for name, tensor in parameters.items()}
        _, y = self.free_state(rounded, self.drive(rounded, inputs), draws)
        spacing = 2.0 * math.pi / (1 << self.phase_bits)
        return self.gain * ((y / spacing).round() * spacing).cos()

    def _round(self, tensor: Tensor) -> Tensor:
        """Parameters (R, ...) rounded to the levels of each run."""
        largest = tensor.abs().flatten(1).amax(1).reshape(-1, *[1] * (tensor.dim() - 1))
        spacing = (2.0 * largest / ((1 << self.parameter_bits) - 1)).clamp(min=1e-12)
        return (tensor / spacing).round() * spacing
