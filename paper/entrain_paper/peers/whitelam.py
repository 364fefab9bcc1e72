"""The Langevin computer: units in quartic wells, read at a fixed time.

S. Whitelam, "Training thermodynamic computers by gradient descent", arXiv:2509.15324 (2025).
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


@dataclass(frozen=True)
class LangevinComputer(Peer):
    r"""Units x, hidden and outputs, in the potential

        V = sum_i (J2 x_i^2 + J4 x_i^4) - x K x / 2 - x (W u + b),   K symmetric,

    of an image u, with bonds between hidden units, from hidden units to outputs, and from the input
    to all units. Units start at 0 and follow dx = -V'(x) dt + sqrt(2 kT) dB until t_f; the scores
    are the final outputs, averaged over `trajectories`.

    The teacher is a perceptron with as many tanh units, trained at the same time. Its activations a
    define the path x(t) = a t / t_f, whose Onsager-Machlup action

        sum over times of |a / t_f + V'(x(t))|^2 dt / (4 kT)

    is minimised. Shapes: inputs (R, B, D), units (R, B, hidden + O).
    """

    title: ClassVar[str] = "Whitelam 2025, Langevin computer"
    cited: ClassVar[dict[str, float]] = {"MNIST": 92.0, "Fashion-MNIST": 77.3}
    why: ClassVar[str] = (
        "The teacher's outputs and the rates are not published; here the teacher trains at the "
        "same time as the computer, and tanh bounds its scores."
    )
    rates: ClassVar[dict[str, float]] = {"W": 10.0, "K": 10.0, "b": 10.0}

    name: str = "whitelam"
    epochs: int = 20
    batch_size: int = 128
    rate: float = 6e-4
    hidden: int = 64
    quadratic: float = 1.0
    quartic: float = 1.0
    temperature: float = 1.0
    observation_time: float = 0.2
    step: float = 0.01
    trajectories: int = 10
    hidden_amplitude: float = 2.2  # of the teacher's activations
    output_amplitude: float = 2.6
    output_range: float = 7.0  # scale of the teacher's centred scores in tanh
    path_times: int = 5

    def search_space(self) -> dict[str, tuple[float, float]]:
        """Adds the teacher's amplitudes, which the cited paper does not give."""
        amplitudes = {"hidden_amplitude": (0.5, 4.0), "output_amplitude": (1.0, 5.0)}
        return super().search_space() | amplitudes | {"output_range": (1.5, 12.0)}

    def quick(self) -> Peer:
        """This system with few epochs and large time steps."""
        return replace(self, epochs=5, step=0.02, rate=3e-3)

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        def normal(rows: int, columns: int) -> Tensor:
            return torch.randn(rows, columns, generator=generator) / math.sqrt(columns)

        units = self.hidden + classes
        return {
            "W": torch.zeros(units, inputs),
            "K": torch.zeros(units, self.hidden),
            "b": torch.zeros(units),
            "teacher_W": normal(self.hidden, inputs),
            "teacher_b": torch.zeros(self.hidden),
            "teacher_V": normal(classes, self.hidden),
            "teacher_c": torch.zeros(classes),
        }

    @property
    def variables(self) -> int:
        return self.hidden + 10

    def parameter_count(self, parameters: Tensors) -> int:
        """Trained parameters of one run without the teacher's, each bond counted once."""
        return sum(parameters[name][0].numel() for name in ("W", "b")) + self.couplers(parameters)

    def couplers(self, parameters: Tensors) -> int:
        within = self.hidden * (self.hidden - 1) // 2
        return within + (parameters["b"].shape[-1] - self.hidden) * self.hidden

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        field, bonds = self._field(parameters, inputs), self.bonds(parameters)
        mean = torch.zeros_like(field[..., self.hidden :])
        for number in range(self.trajectories):
            mean += self.final_state(field, bonds, draws, number)[..., self.hidden :]
        return mean / self.trajectories

    def dissipated_energy(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        """Mean decrease (R,) of V over one trajectory, in units of kT at temperature 1."""
        field, bonds = self._field(parameters, inputs), self.bonds(parameters)
        end = self.potential(self.final_state(field, bonds, draws), field, bonds)  # V starts at 0
        return -end.mean(-1)

    def loss(self, parameters: Tensors, inputs: Tensor, target: Tensor, draws: Draws) -> Tensor:
        """The teacher's cross-entropy plus the action of its path, each per unit."""
        field = inputs @ parameters["teacher_W"].mT + parameters["teacher_b"][:, None]
        hidden = torch.tanh(field)
        logits = hidden @ parameters["teacher_V"].mT + parameters["teacher_c"][:, None]
        entropy = -(target * logits.log_softmax(-1)).sum(-1).mean(-1)
        centred = logits - logits.mean(-1, keepdim=True)
        outputs = self.output_amplitude * torch.tanh(centred / self.output_range)
        targets = torch.cat([self.hidden_amplitude * hidden, outputs], dim=-1).detach()
        velocity = targets / self.observation_time
        bonds, drive = self.bonds(parameters), self._field(parameters, inputs)
        action = torch.zeros_like(entropy)
        for index in range(self.path_times):
            x = targets * (index + 0.5) / self.path_times
            residual = velocity - self.force(x, drive, bonds)
            action = action + residual.square().mean((-2, -1))
        scale = self.observation_time / self.path_times / (4.0 * self.temperature)
        return entropy + scale * action

    def potential(self, x: Tensor, field: Tensor, bonds: Tensor) -> Tensor:
        """V (R, B) of units (R, B, N) under fields (R, B, N) and bonds (R, N, N)."""
        wells = self.quadratic * x**2 + self.quartic * x**4
        return (wells - x * (field + 0.5 * x @ bonds)).sum(-1)

    def force(self, x: Tensor, field: Tensor, bonds: Tensor) -> Tensor:
        """-V'(x) of units (R, B, N) under fields (R, B, N) and bonds (R, N, N)."""
        wells = -2.0 * self.quadratic * x - 4.0 * self.quartic * x**3
        return torch.baddbmm(wells + field, x, bonds)

    def final_state(
        self, field: Tensor, bonds: Tensor, draws: Draws, trajectory: int = 0
    ) -> Tensor:
        """Units (R, B, N) at the observation time, one noisy trajectory per example."""
        x = torch.zeros_like(field)
        noise = math.sqrt(2.0 * self.temperature * self.step)
        for step in range(round(self.observation_time / self.step)):
            kick = draws.normal(f"{trajectory}.{step}", *x.shape[1:])
            x = x + self.step * self.force(x, field, bonds) + noise * kick
        return x

    def _field(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        return inputs @ parameters["W"].mT + parameters["b"][:, None]

    def bonds(self, parameters: Tensors) -> Tensor:
        """Symmetric K (R, N, N) without self-couplings and bonds between outputs."""
        half = torch.nn.functional.pad(
            parameters["K"], (0, parameters["b"].shape[-1] - self.hidden)
        )
        return torch.tril(half, diagonal=-1) + torch.tril(half, diagonal=-1).mT
