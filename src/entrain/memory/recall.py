"""Recalled patterns with their overlaps, and the phases that a recall starts at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from entrain.memory.patterns import complex_overlaps, overlaps
from entrain.physics.noise import random_phases
from entrain.utils.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class Recall(Summary):
    """Patterns that a memory recalled from cues, and what they agree with.

    Results of a single cue (N,) have no axis of samples B.

    Args:
        states: Spins (B, N), int8, or phases (B, N) at the end.
        stored: The stored patterns (P, N).
        phases: True for phases.
        is_batched: True if there is an axis of samples.
    """

    states: Tensor
    stored: Tensor
    phases: bool
    is_batched: bool

    @cached_property
    def _overlaps(self) -> Tensor:
        return overlaps(self.states, self.stored, phases=self.phases)

    @property
    def overlaps(self) -> Tensor:
        """Overlap with every stored pattern (B, P), see `entrain.memory.overlaps`."""
        return self._unbatched(self._overlaps)

    @property
    def best(self) -> Tensor:
        """Index of the stored pattern with the largest overlap in magnitude (B,)."""
        return self._unbatched(self._best)

    @property
    def _best(self) -> Tensor:
        return self._overlaps.abs().argmax(1)

    @property
    def is_inverted(self) -> Tensor:
        """True where the inverse of the best pattern was recalled (B,); False for phases."""
        return self._unbatched(self._overlaps.gather(1, self._best[:, None])[:, 0] < 0)

    @property
    def patterns(self) -> Tensor:
        """Spins (B, N) as they are read; phases rotated together to agree best with the best."""
        if not self.phases:
            return self._unbatched(self.states)
        angles = complex_overlaps(self.states, self.stored).angle()
        rotated = self.states.double() - angles.gather(1, self._best[:, None])
        return self._unbatched(torch.remainder(rotated + math.pi, 2 * math.pi) - math.pi)

    def _unbatched(self, tensor: Tensor) -> Tensor:
        return tensor if self.is_batched else tensor[0]

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        best = self._overlaps.abs().max(1).values
        return {
            "cues": str(len(self.states)),
            "patterns": str(len(self.stored)),
            "mean overlap with the best": f"{best.mean():.3f}",
        }


def start_phases(cues: Tensor, spread: float, seed: int) -> Tensor:
    """Phases (B, N) within `spread` of 0 for spins +1 and of pi for -1, anywhere for 0.

    They depend on seed, sample and oscillator alone. A spread is needed: at 0 and pi exactly there
    is no torque.

    Args:
        cues: Spins (B, N), 0 where unknown.
        spread: Largest deviation (rad).
        seed: Seed of the random numbers.

    Examples:
        >>> cues = entrain.memory.random_patterns(2, 60)
        >>> entrain.memory.start_phases(cues, spread=0.5, seed=0).shape
        torch.Size([2, 60])
    """
    samples = torch.arange(len(cues))
    uniform = random_phases(seed, samples, torch.zeros_like(samples), cues.shape[1])
    near = torch.where(cues < 0, math.pi, 0.0) + spread * uniform / math.pi
    return torch.where(cues == 0, uniform, near)
