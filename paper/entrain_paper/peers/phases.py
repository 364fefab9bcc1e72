"""Layered networks of phase oscillators with an energy: what three of the systems share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers.nudged import Nudged, State


@dataclass(frozen=True)
class Phases(Nudged):
    r"""Phases h and y, inputs x - hidden h - outputs y, with the energy

        E = - sum_i (W u + b)_i cos h_i - sum_ji V_ji cos(y_j - h_i) - sum_j c_j cos y_j
            - (1/2) sum_ik J_ik cos(h_i - h_k) - (S/2) sum cos 2 theta,

    where u are the standardised images, each of length sqrt(D), J couples hidden oscillators where
    they are `coupled_within`, and S is the `injection` of the second harmonic into every one of
    them. Everything begins at pi/2, where fields push hardest. The answer is the largest cos y_j.

    W (H, D), V (O, H), b (H,), c (O,), J (H, H): symmetric, and it stays so.
    """

    initial_weights: float = 0.05
    initial_couplings: float = 0.1
    coupled_within: bool = False
    injection: float = 0.0

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        def normal(deviation: float, rows: int, columns: int) -> Tensor:
            return deviation * torch.randn(rows, columns, generator=generator)

        numbers = {
            "W": normal(self.initial_weights, self.hidden, inputs),
            "V": normal(self.initial_couplings, classes, self.hidden),
            "b": torch.zeros(self.hidden),
            "c": torch.zeros(classes),
        }
        if self.coupled_within:
            within = normal(self.initial_couplings, self.hidden, self.hidden).triu(1)
            numbers["J"] = within + within.mT
        return numbers

    def couplers(self, numbers: Tensors) -> int:
        within = self.hidden * (self.hidden - 1) // 2 if self.coupled_within else 0
        return numbers["V"][0].numel() + within

    def adaptive(self, numbers: Tensors) -> int:
        others = sum(numbers[name][0].numel() for name in ("W", "b", "c"))
        return others + self.couplers(numbers)

    def drive(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        inputs = math.sqrt(inputs.shape[-1]) * torch.nn.functional.normalize(inputs, dim=-1)
        return torch.baddbmm(numbers["b"][:, None], inputs, numbers["W"].mT)

    def fields(self, drive: Tensor) -> tuple[Tensor, Tensor | None]:
        """The drive as fields (R, B, H) along 0 and, where there are such, along pi/2."""
        return drive, None

    def energy(self, numbers: Tensors, drive: Tensor, state: State) -> Tensor:
        h, y = state
        cos, sin, cos_out, sin_out = h.cos(), h.sin(), y.cos(), y.sin()
        along, across = self.fields(drive)
        total = (along * cos).sum(-1) + (numbers["c"][:, None] * cos_out).sum(-1)
        if across is not None:
            total = total + (across * sin).sum(-1)
        back = numbers["V"].mT
        total = total + (cos_out * (cos @ back) + sin_out * (sin @ back)).sum(-1)
        if self.coupled_within:
            within = cos * (cos @ numbers["J"]) + sin * (sin @ numbers["J"])
            total = total + 0.5 * within.sum(-1)
        if self.injection:
            double = (2.0 * h).cos().sum(-1) + (2.0 * y).cos().sum(-1)
            total = total + 0.5 * self.injection * double
        return -total

    def forces(self, numbers: Tensors, drive: Tensor, state: State) -> State:
        h, y = state
        cos, sin, cos_out, sin_out = h.cos(), h.sin(), y.cos(), y.sin()
        field, turning = self.fields(drive)
        couplings, back = numbers["V"], numbers["V"].mT
        along = torch.baddbmm(field, cos_out, couplings)
        across = sin_out @ couplings
        if turning is not None:
            across = across + turning
        if self.coupled_within:
            along = torch.baddbmm(along, cos, numbers["J"])
            across = torch.baddbmm(across, sin, numbers["J"])
        up = torch.baddbmm(numbers["c"][:, None], cos, back)
        side = sin @ back
        if self.injection:  # S sin 2 theta = 2 S sin theta cos theta
            along = torch.add(along, cos, alpha=2.0 * self.injection)
            up = torch.add(up, cos_out, alpha=2.0 * self.injection)
        return (
            torch.addcmul(cos * across, sin, along, value=-1.0),
            torch.addcmul(cos_out * side, sin_out, up, value=-1.0),
        )

    def rest(self, numbers: Tensors, drive: Tensor) -> State:
        along, outputs = self.fields(drive)[0], numbers["c"].shape[-1]
        quarter = math.pi / 2.0
        return (
            torch.full_like(along, quarter),
            along.new_full((*along.shape[:-1], outputs), quarter),
        )

    def reading(self, outputs: Tensor) -> Tensor:
        return outputs.cos()

    def turned(self, outputs: Tensor, push: Tensor) -> Tensor:
        return -outputs.sin() * push

    def wanted(self, target: Tensor) -> Tensor:
        return 2.0 * target - 1.0
