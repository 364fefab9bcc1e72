"""Confidence intervals: Wilson's for counts, bootstrap for statistics over chips, Student's for
paired differences of trainings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 95  # percent, of every interval
RESAMPLES = 1000
PERCENTILES = (1, 5, 50)
LEAST_BELOW = 5  # chips below a percentile: with fewer its resamples hardly differ

_Z = 1.959963984540054  # normal quantile of (1 + CONFIDENCE / 100) / 2
_AT_A_TIME = 2**24  # examples of chips unpacked at a time

Interval = tuple[float, float]


def wilson(count: int, trials: int) -> Interval:
    """Wilson's interval of a probability, in percent, from `count` successes in `trials`.

        (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n),   p = count / n

    Args:
        count: Number of successes.
        trials: n, at least 1.
    """
    share, square = count / trials, _Z**2 / trials
    centre = share + square / 2
    half = math.sqrt(share * (1 - share) * square + square**2 / 4)
    bounds = ((centre + sign * half) / (1 + square) for sign in (-1, 1))
    low, high = (100.0 * min(1.0, max(0.0, bound)) for bound in bounds)
    return (0.0 if count == 0 else low, 100.0 if count == trials else high)


@dataclass(frozen=True)
class Bootstrap:
    """Uncertainty of statistics over chips, in percent.

    Args:
        standard_error: Of the mean.
        mean: Interval of the mean.
        percentiles: Intervals of those of `PERCENTILES` that have `LEAST_BELOW` chips below them.
    """

    standard_error: float
    mean: Interval
    percentiles: dict[int, Interval]


def bootstrap(correct: Sequence[bytes], examples: int) -> Bootstrap:
    """Percentile intervals over chips, each with its draw of noise, and over test examples.

    Each of `RESAMPLES` resamples draws the chips with replacement and, independently, the test
    examples, which all chips share (Owen, The pigeonhole bootstrap, 2007). A chip has one draw of
    noise: to draw a chip is to draw its noise.

    Args:
        correct: For each chip the bits of the examples that it predicts correctly, see `pack`.
        examples: Number of test examples.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    weights = np.empty((RESAMPLES, examples), dtype=np.float32)
    for row in weights:
        row[:] = np.bincount(generator.integers(examples, size=examples), minlength=examples)
    accuracies = np.empty((RESAMPLES, len(correct)), dtype=np.float32)
    size = max(1, _AT_A_TIME // examples)
    for first in range(0, len(correct), size):
        bits = unpack(correct[first : first + size], examples).astype(np.float32)
        accuracies[:, first : first + size] = 100.0 * (weights @ bits.T) / examples
    statistics = np.empty((RESAMPLES, 1 + len(PERCENTILES)))
    for resample, values in zip(statistics, accuracies, strict=True):
        chips = values[generator.integers(len(values), size=len(values))]
        resample[:] = chips.mean(dtype=np.float64), *np.percentile(chips, PERCENTILES)
    tail = (100 - CONFIDENCE) / 2
    low, high = np.percentile(statistics, (tail, 100 - tail), axis=0).tolist()
    mean, *percentiles = zip(low, high, strict=True)
    known = {
        share: interval
        for share, interval in zip(PERCENTILES, percentiles, strict=True)
        if share * len(correct) >= 100 * LEAST_BELOW
    }
    return Bootstrap(float(statistics[:, 0].std(ddof=1)), mean, known)


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of two kinds of trainings, and its interval.

    Args:
        mean: Mean over runs of the first less the second.
        half_width: Half of the interval, mean - half_width to mean + half_width.
    """

    mean: float
    half_width: float


def paired_difference(
    values: Sequence[float],
    others: Sequence[float],
    resampled: Sequence[float],
    others_resampled: Sequence[float],
) -> PairedDifference:
    """The mean difference of paired runs, with an interval over runs and test examples.

        d +- sqrt(t(n - 1)^2 s^2 / n + z^2 b^2),

    with the standard deviation s of the differences of n runs, the standard error b of their mean
    over resamples of the test examples, which all runs share, and the quantiles t of Student and z
    of the normal distribution. What depends on a run and an example counts in both terms, so that
    the interval is rather too wide than too narrow.

    Args:
        values: A metric of each run, at least two.
        others: The same of the other kind, in the order of the runs.
        resampled: The mean over runs on resamples of the test examples.
        others_resampled: The same of the other kind, on the same resamples.

    Examples:
        >>> draws = np.random.default_rng(0).normal(size=(2, 1000))
        >>> from entrain.evaluation.intervals import paired_difference
        >>> resampled = 0.1 * draws[0] + 97.1, 0.1 * draws[1] + 96.3
        >>> difference = paired_difference([97.0, 97.2], [96.1, 96.5], *resampled)
        >>> round(difference.mean, 2)
        0.8
    """
    differences = np.array(values) - np.array(others)
    runs = len(differences)
    quantile = float(stdtrit(runs - 1, (1 + CONFIDENCE / 100) / 2))
    by_runs = quantile * float(differences.std(ddof=1)) / math.sqrt(runs)
    by_examples = _Z * float((np.array(resampled) - np.array(others_resampled)).std(ddof=1))
    return PairedDifference(float(differences.mean()), math.hypot(by_runs, by_examples))


def pack(correct: np.ndarray) -> list[bytes]:
    """The rows of booleans (C, M), eight to a byte.

    Args:
        correct: True for each example that a chip predicts correctly.
    """
    return [row.tobytes() for row in np.packbits(correct, axis=1)]


def unpack(correct: Sequence[bytes], examples: int) -> np.ndarray:
    """The booleans (C, M) of `pack`, as 0 and 1.

    Args:
        correct: Rows of `pack`.
        examples: M.
    """
    rows = np.stack([np.frombuffer(row, dtype=np.uint8) for row in correct])
    return np.unpackbits(rows, axis=1, count=examples)


def accuracy(correct: bytes, examples: int) -> float:
    """Percentage of correct examples of one chip.

    Args:
        correct: A row of `pack`.
        examples: M.
    """
    return 100.0 * (int.from_bytes(correct, "big").bit_count() / examples)
