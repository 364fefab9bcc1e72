"""Natural frequencies that differ."""

from __future__ import annotations

from dataclasses import dataclass

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.utils.errors import positive_float


@dataclass(frozen=True)
class FrequencySpread(Effect):
    """w_i + sd g_i, g standard normal: natural frequencies that differ, fixed for a chip.

    The common frequency does not matter: phases are measured against it.

    Args:
        sd: Standard deviation, in rad per unit of time.
    """

    sd: float = 0.0

    def __post_init__(self) -> None:
        positive_float("sd of the frequencies", self.sd, zero=True)

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        spread = self.sd * draws.normal("freq", *parameters.biases.shape[1:])
        if network.moving is not None:
            spread = spread * network.moving
        w = parameters.frequencies
        return network.with_parameters(frequencies=spread if w is None else w + spread)
