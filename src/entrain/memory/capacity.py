"""Recall of random patterns against the load of a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from entrain.memory.couplings import StorageRule
from entrain.memory.memory import Memory
from entrain.memory.patterns import random_patterns
from entrain.memory.rate import RecallRate, recall_rate
from entrain.memory.training import RecallTraining
from entrain.utils.errors import InputError, positive_float, positive_int


@dataclass(frozen=True)
class LoadedRate:
    """The recall of random patterns at one load and corruption.

    Args:
        load: P / N, of whole patterns.
        corruption: Share of corrupted spins or phases.
        rate: Overlaps of every set of patterns.
    """

    load: float
    corruption: float
    rate: RecallRate


def capacity(
    oscillators: int = 256,
    loads: Iterable[float] = (0.02, 0.05, 0.1, 0.15, 0.2, 0.4, 0.6, 0.8),
    corruption: Iterable[float] = (0.0, 0.1, 0.2, 0.3),
    *,
    rule: StorageRule = "hebbian",
    phases: bool = False,
    sets: int = 5,
    cues: int = 64,
    seed: int = 0,
    injection: float | None = None,
    training: RecallTraining | None = None,
    on_memory: Callable[[Memory], None] | None = None,
    **settings: Any,
) -> list[LoadedRate]:
    """Rates at which random patterns are recalled, for every load and corruption.

    The patterns of a set have seed, seed + 1, ... A load of Hebb's rule beyond 0.138 is above the
    capacity of a Hopfield network (Amit, Gutfreund and Sompolinsky, 1985); the pseudo-inverse ends
    below 1.

    Args:
        oscillators: N.
        loads: P / N; P is rounded to at least 1.
        corruption: Shares of flipped spins, or of phases that are replaced.
        rule: See `Memory.store`.
        phases: True for phases.
        sets: Number of sets of patterns.
        cues: Cues of a set.
        seed: Seed of the first set.
        injection: See `Memory.store`.
        training: See `Memory.store`.
        on_memory: Called with every memory.
        **settings: Further arguments of `recall_rate`, without those of chips.

    Examples:
        >>> rows = entrain.memory.capacity(60, loads=[0.05], corruption=[0.1], sets=1, cues=10)
        >>> rows[0].load
        0.05
    """
    if settings.get("hardware") is not None:
        raise InputError("hardware is for one memory: call memory.evaluate(hardware=...)")
    shares, rows = list(corruption), list[LoadedRate]()
    for load in loads:
        count = max(
            1, round(positive_float("loads", load) * positive_int("oscillators", oscillators))
        )
        overlaps = dict[float, list[torch.Tensor]]((share, []) for share in shares)
        least = 1.0
        for number in range(seed, seed + positive_int("sets", sets)):
            patterns = random_patterns(count, oscillators, phases=phases, seed=number)
            memory = Memory.store(
                patterns, rule, phases=phases, injection=injection, training=training
            )
            if on_memory is not None:
                on_memory(memory)
            for share in shares:
                rate = recall_rate(memory, share, cues=cues, seed=number, **settings)
                overlaps[share].append(rate.overlaps[0])
                least = rate.least
        rows += [
            LoadedRate(count / oscillators, share, RecallRate(torch.stack(of_sets), least))
            for share, of_sets in overlaps.items()
        ]
    return rows
