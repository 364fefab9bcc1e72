"""How a chip reads its outputs: phases of a few bits, comparators, and when they are read."""

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
    r"""Output activations as a chip reads them.

        theta = theta(t_f) + theta'(t_f) t_f (spread g_chip + jitter g_run)
        score = cos(theta at 2^bits places of the circle) + offset g_chip + noise g_run

    `jitter` and `spread` are standard deviations of the observation time, relative to t_f and to
    first order; `offset` and `noise` those of the comparators, in units of the cosine. Of outputs
    read alike the first is the answer, as argmax has it.
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
    def is_identity(self) -> bool:
        return self.bits is None and not (self.noise or self.offset or self.timing)

    @property
    def timing(self) -> bool:
        """Whether the time of reading varies, so that the phases' velocity is needed."""
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
        """Activations (L, B, O) of output phases (L, B, O) whose velocity matters where the time
        of reading varies; `draws` are the chips', `runs` one run's."""
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
        """The cosine at the nearest of 2^bits places; places with the same cosine give it exactly,
        so that a tie is one."""
        assert self.bits is not None
        places = 1 << self.bits
        place: Tensor = torch.floor(phases * (places / (2.0 * math.pi)) + 0.5) % places
        return (torch.minimum(place, places - place) * (2.0 * math.pi / places)).cos()
