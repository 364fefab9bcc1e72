"""Inputs that reach an oscillator."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.hardware.sparsity import first_largest
from entrain.utils.errors import positive_int


@dataclass(frozen=True)
class FanIn(Effect):
    """W_ij -> 0 except for the `inputs` largest |W_ij| of each hidden oscillator i.

    A network that was trained with the same number has zeros elsewhere already, and does not
    change.

    Args:
        inputs: Inputs of an oscillator, at most; None is no limit.

    Examples:
        >>> from entrain.hardware import Hardware, FanIn
        >>> Hardware(fan_in=FanIn(inputs=16)).to_json()
        {'fan_in': {'inputs': 16}}
    """

    inputs: int | None = None

    def __post_init__(self) -> None:
        if self.inputs is not None:
            positive_int("inputs of an oscillator", self.inputs)

    def times(self, factor: float) -> FanIn:
        return FanIn(None if self.inputs is None else max(1, round(self.inputs / factor)))

    def change(self, network: Realised, draws: Draws) -> Realised:
        assert self.inputs is not None
        weights = network.parameters.input_weights
        mask = largest_inputs(weights, self.inputs)
        return network.with_parameters(input_weights=weights * mask)


def largest_inputs(weights: Tensor, inputs: int) -> Tensor:
    """(L, H, D) booleans: the `inputs` largest |W_ij| of each hidden oscillator i."""
    count = min(inputs, weights.shape[-1])
    chosen = first_largest(weights.detach().abs(), count)
    mask = torch.zeros_like(weights, dtype=torch.bool)
    return mask.scatter_(-1, chosen, True)
