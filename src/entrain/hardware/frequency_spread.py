"""Natural frequencies that differ."""

from __future__ import annotations

from dataclasses import dataclass

from entrain.hardware.effect import Draws, Effect, Realised


@dataclass(frozen=True)
class FrequencySpread(Effect):
    """w_i + sd g_i, g standard normal: natural frequencies that differ, fixed for a chip.

    The common frequency does not matter: phases are measured against it.

    Args:
        sd: Standard deviation, in rad per unit of time.

    Examples:
        >>> from entrain.hardware import Hardware, FrequencySpread
        >>> Hardware(frequency_spread=FrequencySpread(sd=1.0)).to_json()
        {'frequency_spread': {'sd': 1.0}}
    """

    sd: float = 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        spread = self.sd * draws.normal("freq", *network.parameters.biases.shape[1:])
        if network.moving is not None:
            spread = spread * network.moving
        return network.with_added(frequencies=spread)
