"""Couplings that act late."""

from __future__ import annotations

from dataclasses import dataclass, replace

from entrain.hardware.effect import Draws, Effect, Realised


@dataclass(frozen=True)
class Delay(Effect):
    """J_ij g(theta_i(t) - theta_j(t - time)): couplings that act late.

    The time is rounded to whole Euler steps; phases before t = 0 are those of the start. Only plain
    PyTorch operations compute a delay: it is slow, and training stores every step of every sample.
    Timing errors of the readout take the velocity at t_f without the delay.

    Args:
        time: Delay tau, in the same unit as the observation time.

    Examples:
        >>> from entrain.hardware import Hardware, Delay
        >>> Hardware(delay=Delay(time=0.01)).to_json()
        {'delay': {'time': 0.01}}
    """

    time: float = 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        return replace(network, delay=self.time)
