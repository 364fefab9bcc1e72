"""How the oscillators themselves differ: frequencies, coupling function, delay, thermal noise."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.utils.errors import finite_float, positive_float


@dataclass(frozen=True)
class FrequencySpread(Effect):
    """Natural frequencies that differ: w_i + sd g_i, in rad per unit of time, fixed for a chip.

    The common frequency does not matter: phases are measured against it.
    """

    sd: float = 0.0

    def __post_init__(self) -> None:
        positive_float("sd of the frequencies", self.sd, zero=True)

    @property
    def is_identity(self) -> bool:
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
    r"""The coupling function g of the oscillators, J g(phi) in place of J sin(phi):

        g(phi) = sin(phi + lag) + second sin(2 phi) + second_even cos(2 phi).

    With symmetric couplings its odd part, cos(lag) sin(phi) + second sin(2 phi), makes a gradient
    flow. Its even part, sin(lag) cos(phi) + second_even cos(2 phi), changes the mean frequency of
    two coupled oscillators, and has no energy: ring oscillators have such a part. `lag` is in rad;
    all three are added to the network's own.
    """

    lag: float = 0.0
    second: float = 0.0
    second_even: float = 0.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            finite_float(entry.name, getattr(self, entry.name))

    @property
    def is_identity(self) -> bool:
        return self.lag == self.second == self.second_even == 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        known, biases = network.parameters, network.parameters.biases
        changed = {}
        if self.lag:
            lag = biases.new_full(biases.shape[:1], self.lag)
            changed["lag"] = lag if known.lag is None else known.lag + lag
        if self.second or self.second_even:
            # Filled, not copied from the host: a captured graph of CUDA allows that.
            both = biases.new_zeros(len(biases), 2)
            both[:, 0].fill_(self.second)
            both[:, 1].fill_(self.second_even)
            changed["harmonic"] = both if known.harmonic is None else known.harmonic + both
        return network.with_numbers(**changed)


@dataclass(frozen=True)
class Delay(Effect):
    """Couplings that take `time`, in the unit of the observation time: theta_j(t - time).

    In whole Euler steps, from the start phases before t = 0. Only the plain PyTorch operations
    compute it: it is slow, and training keeps every step of every sample in memory. Errors of the
    readout's timing take the velocity at t_f without it.
    """

    time: float = 0.0

    def __post_init__(self) -> None:
        positive_float("time of the delay", self.time, zero=True)

    @property
    def is_identity(self) -> bool:
        return self.time == 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        return replace(network, delay=self.time)


@dataclass(frozen=True)
class PhaseNoise(Effect):
    """Thermal noise of temperature kT on every phase while the network runs: other each run."""

    temperature: float = 0.0

    def __post_init__(self) -> None:
        positive_float("temperature", self.temperature, zero=True)

    @property
    def is_identity(self) -> bool:
        return self.temperature == 0.0
