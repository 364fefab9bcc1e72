"""Statistics across training-order runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loads what is used of it at its first use

from entrain.utils.errors import InputError

BOOTSTRAP_RESAMPLES = 10_000  # the paper does not state its number


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (NaN for one run) of `runs` values."""

    mean: float
    sd: float
    runs: int


@dataclass(frozen=True)
class PairedEffect:
    """Differences a - b of matched runs: mean, sample SD, 95 % intervals and sign counts."""

    mean: float
    sd: float
    t_interval: tuple[float, float]
    bootstrap_interval: tuple[float, float]
    positive: int
    zero: int
    negative: int


def summarise(values: Sequence[float]) -> Summary:
    """Mean and sample standard deviation of one value per run."""
    if len(values) == 0:
        raise InputError("there must be at least one run to summarise, got none")
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    return Summary(float(np.mean(values)), sd, len(values))


def paired_effect(
    a: Sequence[float], b: Sequence[float], *, level: float = 0.95, seed: int = 0
) -> PairedEffect:
    """The effect of a over b, run by run: mean(d) -+ t_{R-1} sd(d) / sqrt(R), d = a - b.

    The bootstrap interval takes percentiles of the mean over resampled runs.
    """
    if len(a) != len(b) or len(a) < 2:
        raise InputError(f"paired runs must match, at least two; got {len(a)} and {len(b)}")
    d = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    mean, sd = float(d.mean()), float(d.std(ddof=1))
    half = float(scipy.stats.t.ppf(0.5 + level / 2, len(d) - 1)) * sd / math.sqrt(len(d))
    if sd == 0.0:  # every resample is the same: scipy would warn and return NaN
        bootstrap = (mean, mean)
    else:
        found = scipy.stats.bootstrap(
            (d,),
            np.mean,
            n_resamples=BOOTSTRAP_RESAMPLES,
            confidence_level=level,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval
        bootstrap = (float(found.low), float(found.high))
    return PairedEffect(
        mean=mean,
        sd=sd,
        t_interval=(mean - half, mean + half),
        bootstrap_interval=bootstrap,
        positive=int((d > 0).sum()),
        zero=int((d == 0).sum()),
        negative=int((d < 0).sum()),
    )
