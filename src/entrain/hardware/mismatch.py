"""Gains that differ from part to part."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised, relative_spread, symmetric


@dataclass(frozen=True)
class Mismatch(Effect):
    """x (1 + sd g), g standard normal: gains that differ from part to part, fixed for a chip.

    A coupler is one part: J_ij and J_ji have the same g. The g of a field belongs to its
    oscillator.

    Args:
        couplings: Relative standard deviation of the couplings.
        input_weights: Relative standard deviation of the input weights.
        biases: Relative standard deviation of the biases.
        fields: Relative standard deviation of the local fields.

    Examples:
        >>> from entrain.hardware import Hardware, Mismatch
        >>> Hardware(mismatch=Mismatch(couplings=0.1)).to_json()
        {'mismatch': {'couplings': 0.1}}
    """

    couplings: float = 0.0
    input_weights: float = 0.0
    biases: float = 0.0
    fields: float = 0.0
    _check = staticmethod(relative_spread)

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        changed: dict[str, Tensor] = {}
        tags = {"couplings": "mism", "input_weights": "misw", "biases": "misb"}
        for name, tag in tags.items():
            if sd := getattr(self, name):
                values = getattr(p, name)
                gains = draws.normal(tag, *values.shape[1:])
                gains = symmetric(gains) if name == "couplings" else gains
                changed[name] = values * (1.0 + sd * gains)
        network = network.with_parameters(**changed)
        if self.fields:
            scale = 1.0 + self.fields * draws.normal("misf", *p.biases.shape[1:])
            network = network.with_fields(lambda b: b * scale[:, None])
        return network
