"""Equilibrium propagation on a coherent Ising machine.

C. Fan, B. Lu and C. Wang, Photonics and Electromagnetics Research Symposium, 1 (2025).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers.nudged import Nudged, State

_BRIGHTEST = 2.0  # amplitudes beyond are cut, as the step resolves the cubic term up to here
_FAINT = 0.01  # amplitudes of the noise from which pulses grow


@dataclass(frozen=True)
class Fan(Nudged):
    r"""Amplitudes h and y of parametric oscillators, 784-256-10, whose sign is a spin:

        dx/dt = (pump - 1) x - x^3 + field,
        E = sum (1 - pump) x^2 / 2 + x^4 / 4 - h (W u + b) - y V h - c y,

    where u are standardised images. The pump rises from 0 during the first half of the free
    relaxation, from a faint random state: so the machine seeks its ground state. Nudged states
    stay close. W (H, D), V (O, H), b (H,), c (O,).
    """

    title: ClassVar[str] = "Fan, Lu and Wang 2025, coherent Ising machine"
    cited: ClassVar[dict[str, float]] = {"MNIST": 87.0}
    why: ClassVar[str] = (
        "The published machine is under-specified (87 % with 256 hidden units, 88 % with 120); "
        "here the outputs' amplitudes are read, and the nudging is that of cross-entropy."
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

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        weights = torch.randn(self.hidden, inputs, generator=generator)
        couplings = torch.randn(classes, self.hidden, generator=generator)
        return {
            "W": self.initial_weights * weights,
            "V": self.initial_couplings * couplings,
            "b": torch.zeros(self.hidden),
            "c": torch.zeros(classes),
        }

    def drive(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        return torch.baddbmm(numbers["b"][:, None], inputs, numbers["W"].mT)

    def energy(self, numbers: Tensors, drive: Tensor, state: State) -> Tensor:
        h, y = state
        own = sum((_well(units, self.pump) for units in state), torch.zeros_like(h[..., 0]))
        field = h @ numbers["V"].mT + numbers["c"][:, None]
        return own - (h * drive).sum(-1) - (y * field).sum(-1)

    def forces(self, numbers: Tensors, drive: Tensor, state: State) -> State:
        h, y = state
        field = torch.baddbmm(drive, y, numbers["V"])
        out = torch.baddbmm(numbers["c"][:, None], h, numbers["V"].mT)
        return (
            torch.addcmul(field, h, (self.pump - 1.0) - h.square()),
            torch.addcmul(out, y, (self.pump - 1.0) - y.square()),
        )

    def rest(self, numbers: Tensors, drive: Tensor) -> State:
        outputs = drive.new_empty(*drive.shape[:-1], numbers["c"].shape[-1])
        return _FAINT * torch.randn_like(drive), _FAINT * torch.randn_like(outputs)

    def settled(self, numbers: Tensors, drive: Tensor, state: State) -> State:
        rising = self.free_steps // 2
        for taken in range(rising):
            weaker = replace(self, pump=self.pump * taken / rising)
            state = weaker.relaxed(numbers, drive, state, 1)
        return self.relaxed(numbers, drive, state, self.free_steps - rising)

    def bounded(self, h: Tensor, y: Tensor) -> State:
        return h.clamp(-_BRIGHTEST, _BRIGHTEST), y.clamp(-_BRIGHTEST, _BRIGHTEST)


def _well(units: Tensor, pump: float) -> Tensor:
    """The energy of the units themselves: (R, B)."""
    squares = units.square()
    return (0.5 * (1.0 - pump) * squares + 0.25 * squares.square()).sum(-1)
