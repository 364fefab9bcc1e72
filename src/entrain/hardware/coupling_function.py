"""The coupling function of the oscillators."""

from __future__ import annotations

from dataclasses import dataclass

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.utils.errors import finite_float


@dataclass(frozen=True)
class CouplingFunction(Effect):
    """g(phi) = sin(phi + lag) + second sin(2 phi) + second_even cos(2 phi), instead of sin(phi).

    With symmetric couplings its odd part, cos(lag) sin(phi) + second sin(2 phi), makes a gradient
    flow. Its even part, sin(lag) cos(phi) + second_even cos(2 phi), changes the mean frequency of
    two coupled oscillators and has no energy: ring oscillators have such a part. All three entries
    are added to those of the network.

    Args:
        lag: Phase lag, in rad.
        second: Factor of the odd second harmonic.
        second_even: Factor of the even second harmonic.

    Examples:
        >>> from entrain.hardware import Hardware, CouplingFunction
        >>> Hardware(coupling_function=CouplingFunction(lag=0.2)).to_json()
        {'coupling_function': {'lag': 0.2}}
    """

    lag: float = 0.0
    second: float = 0.0
    second_even: float = 0.0
    _check = staticmethod(finite_float)

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        added = {}
        if self.lag:
            added["lag"] = p.biases.new_full(p.biases.shape[:1], self.lag)
        if self.second or self.second_even:
            # Filled, not copied from the host: a captured graph of CUDA allows that.
            added["harmonic"] = p.biases.new_zeros(len(p.biases), 2)
            added["harmonic"][:, 0].fill_(self.second)
            added["harmonic"][:, 1].fill_(self.second_even)
        return network.with_added(**added)
