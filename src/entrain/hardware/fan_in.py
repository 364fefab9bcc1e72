"""How many inputs reach an oscillator."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.hardware.wiring import first_largest
from entrain.utils.errors import positive_int


@dataclass(frozen=True)
class FanIn(Effect):
    """Each hidden oscillator feels at most so many `inputs`, those with its largest weights.

    A network that was trained with as few has zeros elsewhere already, and does not change.
    """

    inputs: int | None = None

    def __post_init__(self) -> None:
        if self.inputs is not None:
            positive_int("inputs of an oscillator", self.inputs)

    @property
    def is_identity(self) -> bool:
        return self.inputs is None

    def times(self, factor: float) -> FanIn:
        """Stronger by `factor`: so many times fewer inputs."""
        if self.inputs is None:
            return self
        return FanIn(max(1, round(self.inputs / factor)))

    def change(self, network: Realised, draws: Draws) -> Realised:
        assert self.inputs is not None
        weights = network.parameters.input_weights
        return network.with_numbers(input_weights=weights * largest_inputs(weights, self.inputs))


def largest_inputs(weights: Tensor, inputs: int) -> Tensor:
    """(L, H, D) booleans: the `inputs` largest |W_ij| of each hidden oscillator i."""
    count = min(inputs, weights.shape[-1])
    chosen = first_largest(weights.detach().abs(), count)
    mask = torch.zeros_like(weights, dtype=torch.bool)
    return mask.scatter_(-1, chosen, True)
