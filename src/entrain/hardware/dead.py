"""Couplers and oscillators that do not work."""

from __future__ import annotations

from dataclasses import dataclass

from entrain.hardware.effect import Draws, Effect, Realised, share_below_one, symmetric


@dataclass(frozen=True)
class Dead(Effect):
    """J_ij -> 0 for parts that are missing at random.

    No torque acts on a dead oscillator, and it acts on no other: it stays at its start, cos 0 by
    default, except for thermal noise, which acts on every phase.

    Args:
        couplers: Probability that a coupler is dead.
        oscillators: Probability that an oscillator is dead.

    Examples:
        >>> from entrain.hardware import Hardware, Dead
        >>> Hardware(dead=Dead(couplers=0.02)).to_json()
        {'dead': {'couplers': 0.02}}
    """

    couplers: float = 0.0
    oscillators: float = 0.0
    _check = staticmethod(share_below_one)

    def change(self, network: Realised, draws: Draws) -> Realised:
        couplings = network.parameters.couplings
        n = couplings.shape[-1]
        if self.couplers:
            alive = symmetric(draws.uniform("dead", n, n)) >= self.couplers
            couplings = couplings * alive
            network = network.with_parameters(couplings=couplings)
        if self.oscillators:
            alive = draws.uniform("deao", n) >= self.oscillators
            couplings = couplings * alive[:, :, None] * alive[:, None, :]
            network = network.with_parameters(couplings=couplings).with_moving(alive)
        return network
