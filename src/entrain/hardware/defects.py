"""Parts that do not work: couplers and oscillators that are dead, oscillators that are stuck."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.hardware.mismatch import symmetric
from entrain.physics import INITIAL_PHASE
from entrain.utils.errors import InputError, finite_float


@dataclass(frozen=True)
class Dead(Effect):
    """Parts that are missing at random: each coupler and each oscillator with a probability.

    A dead oscillator feels nothing and nobody feels it: it stays at its start, cos 0 by default,
    but for thermal noise, which acts on every phase.
    """

    couplers: float = 0.0
    oscillators: float = 0.0

    def __post_init__(self) -> None:
        for name in ("couplers", "oscillators"):
            _some_left(f"dead {name}", getattr(self, name))

    @property
    def is_identity(self) -> bool:
        return self.couplers == self.oscillators == 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        couplings = network.parameters.couplings
        n = couplings.shape[-1]
        if self.couplers:
            alive = symmetric(draws.uniform("dead", n, n)) >= self.couplers
            couplings = couplings * alive
            network = network.with_numbers(couplings=couplings)
        if self.oscillators:
            alive = draws.uniform("deao", n) >= self.oscillators
            couplings = couplings * alive[:, :, None] * alive[:, None, :]
            network = network.with_numbers(couplings=couplings).stopped(alive)
        return network

    def times(self, factor: float) -> Dead | None:
        """None where nothing would be left."""
        shares = factor * self.couplers, factor * self.oscillators
        return Dead(*shares) if max(shares) < 1.0 else None


@dataclass(frozen=True)
class Stuck(Effect):
    """Oscillators that stand still at a random phase, each with a probability: others feel them.

    Thermal noise acts on every phase, theirs too.
    """

    oscillators: float = 0.0

    def __post_init__(self) -> None:
        _some_left("stuck oscillators", self.oscillators)

    @property
    def is_identity(self) -> bool:
        return self.oscillators == 0.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        n = parameters.couplings.shape[-1]
        free = draws.uniform("stuc", n) >= self.oscillators
        places = 2.0 * math.pi * draws.uniform("stup", n) - math.pi
        start = parameters.start_phases
        if start is None:
            start = torch.full_like(parameters.biases, INITIAL_PHASE)
        return network.with_numbers(
            couplings=parameters.couplings * free[:, :, None],  # row i acts on oscillator i
            start_phases=torch.where(free, start, places.to(start)),
        ).stopped(free)

    def times(self, factor: float) -> Stuck | None:
        """None where nothing would move."""
        share = factor * self.oscillators
        return Stuck(share) if share < 1.0 else None


def _some_left(name: str, value: object) -> None:
    if probability(name, value) == 1.0:
        raise InputError(f"{name} must be a share below 1: with 100 % nothing would be left")


def probability(name: str, value: object) -> float:
    """`value` as a number from 0 to 1, or an `InputError` that names it."""
    found = finite_float(name, value)
    if not 0.0 <= found <= 1.0:
        raise InputError(f"{name} must be a share from 0 to 1, got {value!r}")
    return found
