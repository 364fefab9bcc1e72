"""Offsets of couplings, input weights and fields."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised, relative_spread, rms, symmetric


@dataclass(frozen=True)
class Offset(Effect):
    """x + sd rms(x) g, g standard normal: values that are added, fixed for a chip.

    The root mean square is over parts that are not zero. A coupler that is not used (J_ij = 0) has
    no offset.

    Args:
        couplings: Standard deviation, in units of the rms coupling.
        input_weights: Standard deviation, in units of the rms input weight.
        fields: Standard deviation, in units of the rms coupling.

    Examples:
        >>> from entrain.hardware import Hardware, Offset
        >>> Hardware(offset=Offset(couplings=0.05)).to_json()
        {'offset': {'couplings': 0.05}}
    """

    couplings: float = 0.0
    input_weights: float = 0.0
    fields: float = 0.0
    _check = staticmethod(relative_spread)

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        changed: dict[str, Tensor] = {}
        unit = rms(p.couplings)[:, None, None]
        if self.couplings:
            added = symmetric(draws.normal("offs", *p.couplings.shape[1:])) * unit
            changed["couplings"] = p.couplings + self.couplings * added * (p.couplings != 0)
        if self.input_weights:
            added = draws.normal("offw", *p.input_weights.shape[1:])
            added = added * rms(p.input_weights)[:, None, None]
            used = p.input_weights != 0
            changed["input_weights"] = p.input_weights + self.input_weights * added * used
        network = network.with_parameters(**changed)
        if self.fields:
            shift = self.fields * unit[:, 0] * draws.normal("offf", *p.biases.shape[1:])
            network = network.with_fields(lambda b: b + shift[:, None])
        return network
