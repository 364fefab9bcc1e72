"""Equilibrium propagation on a coherent Ising machine.

C. Fan, B. Lu and C. Wang, Photonics and Electromagnetics Research Symposium, 1 (2025).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.equilibrium_propagation import EquilibriumPropagation, State
from entrain_paper.peers.layers import normal_layers

_LARGEST = 2.0  # amplitudes are clipped here: beyond, the step does not resolve the cubic term
_NOISE = 0.01  # initial amplitudes


@dataclass(frozen=True)
class Fan(EquilibriumPropagation):
    r"""Amplitudes h and y of parametric oscillators, 784-256-10, whose signs are spins:

        dx/dt = (pump - 1) x - x^3 + field,
        E = sum (1 - pump) x^2 / 2 + x^4 / 4 - h (W u + b) - y V h - c y,

    where u are standardised images. The free relaxation starts from a small random state, and the
    pump rises from 0 during its first half, so that the machine approaches its ground state. W
    (H, D), V (O, H), b (H,), c (O,).
    """

    title: ClassVar[str] = "Fan, Lu and Wang 2025, coherent Ising machine"
    cited: ClassVar[dict[str, float]] = {"MNIST": 87.0}
    why: ClassVar[str] = (
        "The published machine is under-specified (87 % with 256 hidden units, 88 % with 120); "
        "here the readout is the amplitude of the outputs, and the cost is the cross-entropy."
    )
    standardised: ClassVar[bool] = True
    rates: ClassVar[dict[str, float]] = {"V": 2.0}

    name: str = "fan"
    rate: float = 1e-3
    hidden: int = 256
    gain: float = 2.0
    step: float = 0.15
    pump: float = 1.1
    initial_weights: float = 0.02
    initial_couplings: float = 0.03

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        deviations = self.initial_weights, self.initial_couplings
        return normal_layers((inputs, self.hidden, classes), deviations, generator)

    def drive(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        return torch.baddbmm(parameters["b"][:, None], inputs, parameters["W"].mT)

    def energy(self, parameters: Tensors, drive: Tensor, state: State) -> Tensor:
        h, y = state
        wells = sum((_well(units, self.pump) for units in state), torch.zeros_like(h[..., 0]))
        field = h @ parameters["V"].mT + parameters["c"][:, None]
        return wells - (h * drive).sum(-1) - (y * field).sum(-1)

    def forces(self, parameters: Tensors, drive: Tensor, state: State) -> State:
        h, y = state
        field = torch.baddbmm(drive, y, parameters["V"])
        out = torch.baddbmm(parameters["c"][:, None], h, parameters["V"].mT)
        return (
            torch.addcmul(field, h, (self.pump - 1.0) - h.square()),
            torch.addcmul(out, y, (self.pump - 1.0) - y.square()),
        )

    def initial_state(self, parameters: Tensors, drive: Tensor, draws: Draws) -> State:
        examples, hidden = drive.shape[1:]
        h = draws.normal("h", examples, hidden)
        return _NOISE * h, _NOISE * draws.normal("y", examples, parameters["c"].shape[-1])

    def relax_free(self, parameters: Tensors, drive: Tensor, state: State) -> State:
        rise = self.free_steps // 2
        for step in range(rise):
            weaker = replace(self, pump=self.pump * step / rise)
            state = weaker.relax(parameters, drive, state, 1)
        return self.relax(parameters, drive, state, self.free_steps - rise)

    def clamp(self, h: Tensor, y: Tensor) -> State:
        return h.clamp(-_LARGEST, _LARGEST), y.clamp(-_LARGEST, _LARGEST)


def _well(units: Tensor, pump: float) -> Tensor:
    """Energy (R, B) of uncoupled units."""
    squares = units.square()
    return (0.5 * (1.0 - pump) * squares + 0.25 * squares.square()).sum(-1)
