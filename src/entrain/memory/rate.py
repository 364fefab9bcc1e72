"""The share of corrupted patterns that memories recall, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from scipy import stats
from torch import Tensor

from entrain.evaluation.chips import check_chips
from entrain.evaluation.intervals import CONFIDENCE, Interval, wilson
from entrain.hardware import Hardware, find
from entrain.memory.memory import SPREAD, STEPS, TIME, Memory
from entrain.memory.patterns import corrupt
from entrain.utils.errors import finite_float, positive_int, seed_number
from entrain.utils.summary import Summary

_ROUNDING = 1e-9  # of an overlap of 1


@dataclass(frozen=True, eq=False, repr=False)
class RecallRate(Summary):
    """Overlaps of recalled patterns with those that the cues were made from.

    Intervals are of 95 %. Those of several systems are Student's over systems, limited to possible
    values; those of one are over its cues, of the rate Wilson's.

    Args:
        overlaps: Overlaps (S, M) of M cues of S systems: memories, or chips of one.
        least: Overlap from which a pattern counts as recalled.
    """

    overlaps: Tensor
    least: float = 1.0

    @property
    def rates(self) -> Tensor:
        """Share of the cues that every system recalls (S,)."""
        return (self.overlaps >= self.least - _ROUNDING).double().mean(1)

    @property
    def rate(self) -> float:
        """Share of the cues from which the pattern is recalled."""
        return float(self.rates.mean())

    @property
    def rate_interval(self) -> Interval:
        """Interval of the rate."""
        if len(self.overlaps) > 1:
            return _student(self.rates, 0.0)
        trials = self.overlaps.shape[1]
        low, high = wilson(round(self.rate * trials), trials)
        return low / 100, high / 100

    @property
    def overlap(self) -> float:
        """Mean overlap."""
        return float(self.overlaps.mean())

    @property
    def overlap_interval(self) -> Interval:
        """Interval of the mean overlap."""
        several = len(self.overlaps) > 1
        return _student(self.overlaps.mean(1) if several else self.overlaps[0], -1.0)

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        systems, cues = self.overlaps.shape
        low, high = self.rate_interval
        return {
            "systems": str(systems),
            "cues of each": str(cues),
            "recalled": f"{100 * self.rate:.1f} % ({100 * low:.1f} to {100 * high:.1f})",
            "mean overlap": f"{self.overlap:.3f}",
        }


def recall_rate(
    memory: Memory,
    corruption: float = 0.2,
    *,
    cues: int = 100,
    time: float = TIME,
    steps: int = STEPS,
    spread: float = SPREAD,
    temperature: float = 0.0,
    seed: int = 0,
    least: float | None = None,
    hardware: Hardware | str | Path | None = None,
    chips: int = 20,
    first_seed: int = 0,
) -> RecallRate:
    """Overlaps of what a memory recalls with the patterns that its cues were made from.

    Args:
        memory: The memory.
        corruption: Share of flipped spins, or of phases that are replaced.
        cues: M, taken from the patterns in turn.
        time: See `Memory.recall`.
        steps: See `Memory.recall`.
        spread: See `Memory.recall`.
        temperature: See `Memory.recall`.
        seed: Seed of corruption, start phases and noise.
        least: Overlap from which a pattern counts as recalled; 1 by default, 0.95 of phases.
        hardware: Imperfect chips to recall on, ideal oscillators by default.
        chips: Number of chips.
        first_seed: Seed of the first chip.

    Examples:
        >>> patterns = entrain.memory.random_patterns(2, 60)
        >>> memory = entrain.Memory.store(patterns)
        >>> entrain.memory.recall_rate(memory, corruption=0.1, cues=10).rate
        1.0
    """
    indices = torch.arange(positive_int("cues", cues)) % len(memory.patterns)
    targets = memory.patterns[indices]
    damaged = corrupt(targets, corruption, phases=memory.phases, seed=seed_number("seed", seed))
    settings = {"time": time, "steps": steps, "spread": spread, "temperature": temperature}
    found = None if hardware is None else find(hardware)
    samples = [None] if found is None else [found.sample(s) for s in check_chips(chips, first_seed)]
    rows = [
        memory.recall(damaged, chip=chip, seed=seed, **settings).overlaps.gather(  # type: ignore[arg-type]
            1, indices[:, None]
        )[:, 0]
        for chip in samples
    ]
    threshold = (0.95 if memory.phases else 1.0) if least is None else finite_float("least", least)
    return RecallRate(torch.stack(rows), threshold)


def _student(values: Tensor, lowest: float) -> Interval:
    """Student's interval of a mean, within [lowest, 1]."""
    if len(values) < 2:
        return lowest, 1.0
    quantile = stats.t.ppf(0.5 + CONFIDENCE / 200, len(values) - 1)
    half = float(quantile * values.std() / math.sqrt(len(values)))
    mean = float(values.mean())
    return max(lowest, mean - half), min(1.0, mean + half)
