"""Layered networks of phase oscillators with an energy, the base of three systems."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.equilibrium_propagation import EquilibriumPropagation, State
from entrain_paper.peers.layers import normal_layers


@dataclass(frozen=True)
class PhaseLayers(EquilibriumPropagation):
    r"""PhaseLayers h and y, inputs x - hidden h - outputs y, with the energy

        E = - sum_i (W u + b)_i cos h_i - sum_ji V_ji cos(y_j - h_i) - sum_j c_j cos y_j
            - (1/2) sum_ik J_ik cos(h_i - h_k) - (S/2) sum cos 2 theta,

    where u are the standardised images, each scaled to the norm sqrt(D), J couples hidden
    oscillators if `coupled_within`, and S is the `injection` of the second harmonic into every
    oscillator. All phases start at pi/2, where fields push hardest. The largest cos y_j is the
    prediction. W (H, D), V (O, H), b (H,), c (O,), symmetric J (H, H).
    """

    initial_weights: float = 0.05
    initial_couplings: float = 0.1
    coupled_within: bool = False
    injection: float = 0.0

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        deviations = self.initial_weights, self.initial_couplings
        parameters = normal_layers((inputs, self.hidden, classes), deviations, generator)
        if self.coupled_within:
            size = (self.hidden, self.hidden)
            within = self.initial_couplings * torch.randn(size, generator=generator).triu(1)
            parameters["J"] = within + within.mT
        return parameters

    def couplers(self, parameters: Tensors) -> int:
        within = self.hidden * (self.hidden - 1) // 2 if self.coupled_within else 0
        return parameters["V"][0].numel() + within

    def parameter_count(self, parameters: Tensors) -> int:
        uncoupled = sum(parameters[name][0].numel() for name in ("W", "b", "c"))
        return uncoupled + self.couplers(parameters)

    def drive(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        inputs = math.sqrt(inputs.shape[-1]) * torch.nn.functional.normalize(inputs, dim=-1)
        return torch.baddbmm(parameters["b"][:, None], inputs, parameters["W"].mT)

    def fields(self, drive: Tensor) -> tuple[Tensor, Tensor | None]:
        """Fields (R, B, H) along 0, and along pi/2 if there are any."""
        return drive, None

    def energy(self, parameters: Tensors, drive: Tensor, state: State) -> Tensor:
        h, y = state
        cos, sin, cos_out, sin_out = h.cos(), h.sin(), y.cos(), y.sin()
        along, across = self.fields(drive)
        total = (along * cos).sum(-1) + (parameters["c"][:, None] * cos_out).sum(-1)
        if across is not None:
            total = total + (across * sin).sum(-1)
        back = parameters["V"].mT
        total = total + (cos_out * (cos @ back) + sin_out * (sin @ back)).sum(-1)
        if self.coupled_within:
            within = cos * (cos @ parameters["J"]) + sin * (sin @ parameters["J"])
            total = total + 0.5 * within.sum(-1)
        if self.injection:
            double = (2.0 * h).cos().sum(-1) + (2.0 * y).cos().sum(-1)
            total = total + 0.5 * self.injection * double
        return -total

    def forces(self, parameters: Tensors, drive: Tensor, state: State) -> State:
        h, y = state
        cos, sin, cos_out, sin_out = h.cos(), h.sin(), y.cos(), y.sin()
        field, turning = self.fields(drive)
        couplings, back = parameters["V"], parameters["V"].mT
        along = torch.baddbmm(field, cos_out, couplings)
        across = sin_out @ couplings
        if turning is not None:
            across = across + turning
        if self.coupled_within:
            along = torch.baddbmm(along, cos, parameters["J"])
            across = torch.baddbmm(across, sin, parameters["J"])
        up = torch.baddbmm(parameters["c"][:, None], cos, back)
        side = sin @ back
        if self.injection:  # S sin 2 theta = 2 S sin theta cos theta
            along = torch.add(along, cos, alpha=2.0 * self.injection)
            up = torch.add(up, cos_out, alpha=2.0 * self.injection)
        return (
            torch.addcmul(cos * across, sin, along, value=-1.0),
            torch.addcmul(cos_out * side, sin_out, up, value=-1.0),
        )

    def initial_state(self, parameters: Tensors, drive: Tensor, draws: Draws) -> State:
        along, outputs = self.fields(drive)[0], parameters["c"].shape[-1]
        quarter = math.pi / 2.0
        return (
            torch.full_like(along, quarter),
            along.new_full((*along.shape[:-1], outputs), quarter),
        )

    def readout(self, outputs: Tensor) -> Tensor:
        return outputs.cos()

    def output_force(self, outputs: Tensor, push: Tensor) -> Tensor:
        return -outputs.sin() * push

    def target_readout(self, target: Tensor) -> Tensor:
        return 2.0 * target - 1.0
