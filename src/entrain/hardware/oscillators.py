"""How the oscillators themselves differ: frequencies, coupling function, thermal noise."""

from __future__ import annotations

from dataclasses import dataclass

from entrain.errors import finite_float, positive_float
from entrain.hardware.effect import Draws, Effect, Realised


@dataclass(frozen=True)
class FrequencySpread(Effect):
    """Natural frequencies that differ: w_i + sd g_i, in rad per unit of time, fixed for a chip.

    The common frequency does not matter: phases are measured against it.
    """

    sd: float = 0.0

    def __post_init__(self) -> None:
        positive_float("sd of the frequencies", self.sd, zero=True)

    @property
    def is_nothing(self) -> bool:
        return self.sd == 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        spread = self.sd * draws.normal("freq", *parameters.biases.shape[1:])
        if network.moving is not None:
            spread = spread * network.moving
        known = parameters.frequencies
        return network.with_numbers(frequencies=spread if known is None else known + spread)


@dataclass(frozen=True)
class CouplingFunction(Effect):
    r"""A coupling function with an even part: J sin(phi + lag) in place of J sin(phi).

    sin(phi + a) = cos(a) sin(phi) + sin(a) cos(phi): ring oscillators have such an even part, and
    are no gradient flow. `lag` (rad) is added to the network's own.
    """

    lag: float = 0.0

    def __post_init__(self) -> None:
        finite_float("lag", self.lag)

    @property
    def is_nothing(self) -> bool:
        return self.lag == 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        known = parameters.lag
        added = parameters.biases.new_full(parameters.biases.shape[:1], self.lag)
        return network.with_numbers(lag=added if known is None else known + added)


@dataclass(frozen=True)
class PhaseNoise(Effect):
    """Thermal noise of temperature kT on every phase while the network runs: other each run."""

    temperature: float = 0.0

    def __post_init__(self) -> None:
        positive_float("temperature", self.temperature, zero=True)

    @property
    def is_nothing(self) -> bool:
        return self.temperature == 0.0
