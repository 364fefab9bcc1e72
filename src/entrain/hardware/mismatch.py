"""Gains that differ from part to part."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from entrain.hardware.effect import Draws, Realised, Spread, symmetric


@dataclass(frozen=True)
class Mismatch(Spread):
    """x (1 + sd g), g standard normal: gains that differ from part to part, fixed for a chip.

    A coupler is one part: J_ij and J_ji have the same g. The g of a field belongs to its
    oscillator.

    Args:
        couplings: Relative standard deviation of the couplings.
        input_weights: Relative standard deviation of the input weights.
        biases: Relative standard deviation of the biases.
        fields: Relative standard deviation of the local fields.
    """

    couplings: float = 0.0
    input_weights: float = 0.0
    biases: float = 0.0
    fields: float = 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        changed: dict[str, Tensor] = {}
        if self.couplings:
            gains = symmetric(draws.normal("mism", *p.couplings.shape[1:]))
            changed["couplings"] = p.couplings * (1.0 + self.couplings * gains)
        if self.input_weights:
            gains = draws.normal("misw", *p.input_weights.shape[1:])
            changed["input_weights"] = p.input_weights * (1.0 + self.input_weights * gains)
        if self.biases:
            gains = draws.normal("misb", *p.biases.shape[1:])
            changed["biases"] = p.biases * (1.0 + self.biases * gains)
        network = network.with_parameters(**changed)
        if self.fields:
            scale = 1.0 + self.fields * draws.normal("misf", *p.biases.shape[1:])
            network = network.with_fields(lambda b: b * scale[:, None])
        return network
