"""The teacher: a tanh network whose activations the oscillators learn to reproduce."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.utils.summary import Summary


def layer_sizes(inputs: int, widths: Sequence[int], outputs: int) -> list[tuple[int, int]]:
    """(fan in, fan out) of each affine layer of an inputs-widths-outputs network."""
    return list(itertools.pairwise([inputs, *widths, outputs]))


@dataclass(frozen=True, repr=False)
class Teacher(Summary):
    """Affine layers with tanh between them.

    Args:
        weights: Of each layer, (out, in).
        biases: Of each layer, (out,).
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        sizes = [self.weights[0].shape[-1], *self.widths, self.outputs]
        return {"layers": "-".join(map(str, sizes))}

    @property
    def widths(self) -> tuple[int, ...]:
        """Hidden widths; their sum is the number of hidden oscillators."""
        return tuple(len(bias) for bias in self.biases[:-1])

    @property
    def outputs(self) -> int:
        """O, the number of classes."""
        return len(self.biases[-1])

    def activations(self, inputs: Tensor) -> Tensor:
        """Target activations of the oscillators (M, H + O) in [-1, 1], float64.

        All hidden activations in network order, then the signed softmax 2 softmax(logits) - 1.
        Evaluated in float64 from the float32 weights: in float32 the outputs saturate at -1 and
        the teacher path changes.

        Args:
            inputs: Network inputs (M, D).
        """
        state = inputs.double()
        layers: list[Tensor] = []
        for weight, bias in zip(self.weights, self.biases, strict=True):
            state = state @ weight.to(state).T + bias.to(state)
            if len(layers) < len(self.widths):
                state = state.tanh()
            layers.append(state)
        layers[-1] = 2.0 * torch.softmax(layers[-1], dim=-1) - 1.0
        return torch.cat(layers, dim=-1)

    def targets(self, inputs: Tensor) -> Tensor:
        """Signed softmax outputs (M, O), float64.

        Args:
            inputs: Network inputs (M, D).
        """
        return self.activations(inputs)[:, -self.outputs :]
