"""Couplers that differ by direction."""

from __future__ import annotations

from dataclasses import dataclass

from entrain.hardware.effect import Draws, Effect, Realised, relative_spread


@dataclass(frozen=True)
class Asymmetry(Effect):
    """J_ij (1 + sd g_ij), g_ij != g_ji: couplers that act differently on their two ends.

    Args:
        sd: Relative standard deviation.

    Examples:
        >>> from entrain.hardware import Hardware, Asymmetry
        >>> Hardware(asymmetry=Asymmetry(sd=0.05)).to_json()
        {'asymmetry': {'sd': 0.05}}
    """

    sd: float = 0.0
    _check = staticmethod(relative_spread)

    def change(self, network: Realised, draws: Draws) -> Realised:
        couplings = network.parameters.couplings
        gains = draws.normal("asym", *couplings.shape[1:])
        return network.with_parameters(couplings=couplings * (1.0 + self.sd * gains))
