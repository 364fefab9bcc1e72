"""The Langevin computer: units in quartic wells that are watched at a given time.

S. Whitelam, "Training thermodynamic computers by gradient descent", arXiv:2509.15324 (2025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers.interface import Peer


@dataclass(frozen=True)
class LangevinComputer(Peer):
    r"""Units x, hidden and outputs, in the potential

        V = sum_i (J2 x_i^2 + J4 x_i^4) - x K x / 2 - x (W u + b),   K symmetric,

    of an image u, with bonds within the hidden units, from hidden units to outputs, and from the
    input to all. They start at 0 and move by dx = -V'(x) dt + sqrt(2 kT) dB until t_f; the scores
    are the outputs then, averaged over `trajectories`.

    A perceptron with as many tanh units is trained beside it and teaches: its activations a give
    the path x(t) = a t / t_f, whose improbability (Onsager and Machlup)

        sum over times of |a / t_f + V'(x(t))|^2 dt / (4 kT)

    is minimised. Shapes: inputs (R, B, D), units (R, B, hidden + O).
    """

    title: ClassVar[str] = "Whitelam 2025, Langevin computer"
    cited: ClassVar[dict[str, float]] = {"MNIST": 92.0, "Fashion-MNIST": 77.3}
    why: ClassVar[str] = (
        "the cited text leaves the teacher's outputs and the rates open; here the teacher learns "
        "beside the computer, and its scores are bounded by tanh"
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
    hidden_amplitude: float = 2.2  # of the activations that are taught
    output_amplitude: float = 2.6
    output_range: float = 7.0  # of the teacher's centred scores, which tanh bounds
    path_times: int = 5

    def search_space(self) -> dict[str, tuple[float, float]]:
        """Also what the cited text leaves open of the teacher's activations."""
        amplitudes = {"hidden_amplitude": (0.5, 4.0), "output_amplitude": (1.0, 5.0)}
        return super().search_space() | amplitudes | {"output_range": (1.5, 12.0)}

    def quick(self) -> Peer:
        """Fewer epochs, larger steps of time."""
        return replace(self, epochs=5, step=0.02, rate=3e-3)

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
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

    def adaptive(self, numbers: Tensors) -> int:
        """Without the teacher, and each bond once."""
        own = sum(numbers[name][0].numel() for name in ("W", "b"))
        return own + self.couplers(numbers)

    def couplers(self, numbers: Tensors) -> int:
        within = self.hidden * (self.hidden - 1) // 2
        return within + (numbers["b"].shape[-1] - self.hidden) * self.hidden

    def scores(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        field, bonds = self._field(numbers, inputs), self.bonds(numbers)
        mean = torch.zeros_like(field[..., self.hidden :])
        for _ in range(self.trajectories):
            mean += self.settled(field, bonds)[..., self.hidden :]
        return mean / self.trajectories

    def dissipated(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        """The mean drop (R,) of V over one trajectory, in units of kT at temperature 1."""
        field, bonds = self._field(numbers, inputs), self.bonds(numbers)
        end = self.potential(self.settled(field, bonds), field, bonds)  # V is 0 at the start
        return -end.mean(-1)

    def loss(self, numbers: Tensors, inputs: Tensor, target: Tensor) -> Tensor:
        """The teacher's cross-entropy and the improbability of its path, each per unit."""
        field = inputs @ numbers["teacher_W"].mT + numbers["teacher_b"][:, None]
        hidden = torch.tanh(field)
        answer = hidden @ numbers["teacher_V"].mT + numbers["teacher_c"][:, None]
        taught = -(target * answer.log_softmax(-1)).sum(-1).mean(-1)
        centred = answer - answer.mean(-1, keepdim=True)
        outputs = self.output_amplitude * torch.tanh(centred / self.output_range)
        aims = torch.cat([self.hidden_amplitude * hidden, outputs], dim=-1).detach()
        velocity = aims / self.observation_time
        bonds, drive = self.bonds(numbers), self._field(numbers, inputs)
        improbable = torch.zeros_like(taught)
        for index in range(self.path_times):
            x = aims * (index + 0.5) / self.path_times
            miss = velocity - self.force(x, drive, bonds)
            improbable = improbable + miss.square().mean((-2, -1))
        scale = self.observation_time / self.path_times / (4.0 * self.temperature)
        return taught + scale * improbable

    def potential(self, x: Tensor, field: Tensor, bonds: Tensor) -> Tensor:
        """V (R, B) of units (R, B, N) under fields (R, B, N) and bonds (R, N, N)."""
        wells = self.quadratic * x**2 + self.quartic * x**4
        return (wells - x * (field + 0.5 * x @ bonds)).sum(-1)

    def force(self, x: Tensor, field: Tensor, bonds: Tensor) -> Tensor:
        """-V'(x) of units (R, B, N) under fields (R, B, N) and bonds (R, N, N)."""
        wells = -2.0 * self.quadratic * x - 4.0 * self.quartic * x**3
        return torch.baddbmm(wells + field, x, bonds)

    def settled(self, field: Tensor, bonds: Tensor) -> Tensor:
        """Units (R, B, N) at the observation time of one noisy trajectory each."""
        x = torch.zeros_like(field)
        noise = math.sqrt(2.0 * self.temperature * self.step)
        for _ in range(round(self.observation_time / self.step)):
            x = x + self.step * self.force(x, field, bonds) + noise * torch.randn_like(x)
        return x

    def _field(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        return inputs @ numbers["W"].mT + numbers["b"][:, None]

    def bonds(self, numbers: Tensors) -> Tensor:
        """K (R, N, N): symmetric, without a bond of a unit with itself or between outputs."""
        half = torch.nn.functional.pad(numbers["K"], (0, numbers["b"].shape[-1] - self.hidden))
        return torch.tril(half, diagonal=-1) + torch.tril(half, diagonal=-1).mT
