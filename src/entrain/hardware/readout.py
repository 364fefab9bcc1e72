"""Readout of the outputs: phases of a few bits, comparators, timing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect
from entrain.hardware.levels import coarser, straight_through
from entrain.utils.errors import InputError, positive_float, positive_int

_LATEST = 0.5  # of t_f


@dataclass(frozen=True)
class Readout(Effect):
    """Output activations as a chip reads them:

        theta = theta(t_f) + theta'(t_f) t_f (spread g_chip + jitter g_run)
        score = cos(theta rounded to 2^bits phases) + offset g_chip + noise g_run

    with standard normal g of each chip and of each run. Of equal scores the first is the answer.

    Args:
        bits: Word length of a phase; None is no rounding.
        noise: Standard deviation of the comparators in each run, in units of the cosine.
        offset: Standard deviation of the comparators of a chip, in units of the cosine.
        jitter: Relative standard deviation of the observation time in each run, to first order.
        spread: Relative standard deviation of the observation time of a chip, to first order.

    Examples:
        >>> from entrain.hardware import Hardware, Readout
        >>> Hardware(readout=Readout(bits=4)).to_json()
        {'readout': {'bits': 4}}
    """

    bits: int | None = None
    noise: float = 0.0
    offset: float = 0.0
    jitter: float = 0.0
    spread: float = 0.0

    def __post_init__(self) -> None:
        if self.bits is not None:
            positive_int("bits of the phase", self.bits, most=24)
        for name in ("noise", "offset", "jitter", "spread"):
            positive_float(name, getattr(self, name), zero=True)
        if max(self.jitter, self.spread) > _LATEST:
            raise InputError(
                f"jitter and spread of t_f must be at most {_LATEST} of it: first order only"
            )

    @property
    def timing(self) -> bool:
        """True if the time of reading varies, so that the velocity of the phases is needed."""
        return bool(self.jitter or self.spread)

    def times(self, factor: float) -> Readout:
        return Readout(
            bits=None if self.bits is None else coarser(self.bits, factor, least=1),
            noise=factor * self.noise,
            offset=factor * self.offset,
            jitter=min(_LATEST, factor * self.jitter),
            spread=min(_LATEST, factor * self.spread),
        )

    def scores(
        self, phases: Tensor, velocity: Tensor | None, time: float, draws: Draws, runs: Draws
    ) -> Tensor:
        """Activations (L, B, O).

        Args:
            phases: Output phases (L, B, O) at t_f.
            velocity: d theta / dt (L, B, O); needed if the time of reading varies.
            time: t_f.
            draws: Random variates of the chips.
            runs: Random variates of a run of the chips.
        """
        outputs = phases.shape[-1]
        if self.timing:
            assert velocity is not None
            late = phases.new_zeros(len(phases), 1, 1)
            if self.spread:
                late = late + self.spread * draws.normal("tfsp", 1)[:, None]
            if self.jitter:
                late = late + self.jitter * runs.normal("tfji", phases.shape[1], 1)
            phases = phases + velocity * time * late
        scores = phases.cos()
        if self.bits is not None:
            scores = straight_through(self._coarse(phases), scores)
        if self.offset:
            scores = scores + self.offset * draws.normal("roff", outputs)[:, None]
        if self.noise:
            scores = scores + self.noise * runs.normal("rnoi", phases.shape[1], outputs)
        return scores

    @torch.no_grad()
    def _coarse(self, phases: Tensor) -> Tensor:
        """The cosine at the nearest of 2^bits phases; by symmetry, so that ties are exact."""
        assert self.bits is not None
        count = 1 << self.bits
        index: Tensor = torch.floor(phases * (count / (2.0 * math.pi)) + 0.5) % count
        return (torch.minimum(index, count - index) * (2.0 * math.pi / count)).cos()
