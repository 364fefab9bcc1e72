"""Baselines: classifiers without dynamics, of about as many parameters as the network of 74
oscillators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Direct, Tensors
from entrain.rules.direct import tuned
from entrain_paper.peers.interface import Peer
from entrain_paper.peers.layers import glorot, glorot_layers, linear, uniform


@dataclass(frozen=True)
class Static(Peer):
    """A classifier without a state that evolves."""

    cited: ClassVar[dict[str, float]] = {}

    @property
    def variables(self) -> int:
        return 0


@dataclass(frozen=True)
class Logistic(Static):
    """Logistic regression, scores V x + c: V (O, D), c (O,)."""

    title: ClassVar[str] = "Logistic regression"

    name: str = "logistic"
    decay: float = 0.02

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return {"V": torch.zeros(classes, inputs), "c": torch.zeros(classes)}

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        return linear(inputs, parameters["V"], parameters["c"])


@dataclass(frozen=True)
class Perceptron(Static):
    """One hidden layer: scores V relu(W x + b) + c, W (H, D), V (O, H).

    66 hidden units have 52,480 parameters, as 74 oscillators have 52,906.
    """

    title: ClassVar[str] = "Multilayer perceptron, one hidden layer"

    name: str = "mlp"
    epochs: int = 30
    rate: float = 3e-3
    decay: float = 0.3
    averaging: float = 0.998
    hidden: int = 66

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return glorot_layers(inputs, self.hidden, classes, generator)

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        hidden = linear(inputs, parameters["W"], parameters["b"]).relu()
        return linear(hidden, parameters["V"], parameters["c"])


@dataclass(frozen=True)
class DistortedPerceptron(Perceptron):
    """The perceptron trained for longer, with the image distortions of DIRECT."""

    title: ClassVar[str] = "Multilayer perceptron, distorted images"

    name: str = "mlp-augmented"
    epochs: int = 40
    decay: float = 0.0

    def for_dataset(self, dataset: str) -> Peer:
        """This system with the distortions that DIRECT uses for a dataset."""
        return replace(self, augmentation=tuned(Direct(), dataset.lower()).augmentation)


@dataclass(frozen=True)
class RadialBasis(Static):
    r"""A support vector machine with K learned centres in place of support vectors:

        scores_o = c_o + sum_k V_ok exp(-exp(g_k) |x - m_k|^2 / D),

    centres m (K, D), g (K,), V (O, K), c (O,), with the squared hinge loss of each class against
    the rest. With training images as support vectors there would be thousands of them.
    """

    title: ClassVar[str] = "RBF support vector machine with learned centres"
    rates: ClassVar[dict[str, float]] = {"V": 5.0, "c": 5.0}

    name: str = "rbf"
    epochs: int = 30
    rate: float = 1e-2
    averaging: float = 0.999
    centres: int = 66

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        return {
            "m": 0.15 + uniform((self.centres, inputs), 0.15, generator),
            "g": torch.full((self.centres,), 3.0),
            "V": glorot(classes, self.centres, generator),
            "c": torch.zeros(classes),
        }

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        centres = parameters["m"]
        squares = inputs.square().sum(-1, keepdim=True) + centres.square().sum(-1)[:, None]
        distance = (squares - 2.0 * linear(inputs, centres)).relu() / inputs.shape[-1]
        kernel = (-parameters["g"].exp()[:, None] * distance).exp()
        return linear(kernel, parameters["V"], parameters["c"])

    def loss(self, parameters: Tensors, inputs: Tensor, target: Tensor, draws: Draws) -> Tensor:
        margins = (2.0 * target - 1.0) * self.scores(parameters, inputs, draws)
        return (1.0 - margins).relu().square().sum(-1).mean(-1)
