"""Oscillators that stand still."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from entrain.hardware.effect import Draws, Effect, Realised, share_below_one
from entrain.physics import INITIAL_PHASE


@dataclass(frozen=True)
class Stuck(Effect):
    """theta_i(t) = theta_i(0), random: oscillators that stand still, and act on the others.

    Thermal noise acts on every phase, also on theirs.

    Args:
        oscillators: Probability that an oscillator is stuck.

    Examples:
        >>> from entrain.hardware import Hardware, Stuck
        >>> Hardware(stuck=Stuck(oscillators=0.01)).to_json()
        {'stuck': {'oscillators': 0.01}}
    """

    oscillators: float = 0.0
    _check = staticmethod(share_below_one)

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        n = parameters.couplings.shape[-1]
        free = draws.uniform("stuc", n) >= self.oscillators
        phases = 2.0 * math.pi * draws.uniform("stup", n) - math.pi
        start = parameters.start_phases
        if start is None:
            start = torch.full_like(parameters.biases, INITIAL_PHASE)
        return network.with_parameters(
            couplings=parameters.couplings * free[:, :, None],  # row i acts on oscillator i
            start_phases=torch.where(free, start, phases.to(start)),
        ).with_moving(free)
