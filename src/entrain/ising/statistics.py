r"""Success probability and time to solution of independent runs.

With p the share of runs that reach a target, and t the time of a run, the time in which at least
one run reaches it with a probability of 99 % is

    TTS = t max(1, ln(1 - 0.99) / ln(1 - p)),

infinite for p = 0. Its interval is by bootstrap: p is drawn anew from as many runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from entrain.evaluation.intervals import CONFIDENCE, RESAMPLES, Interval, wilson

CERTAINTY = 0.99


@dataclass(frozen=True)
class TimeToSolution:
    """The time until a target is reached with a probability of 99 %.

    Args:
        target: The value to be reached.
        successes: Runs that reached it.
        runs: Runs of this kind.
        steps: Steps of a run.
        repetitions: Runs one after the other, max(1, ln(1 - 0.99) / ln(1 - p)).
        repetitions_interval: Their 95 % interval by bootstrap; infinite without a success.
        seconds_per_run: Seconds of this computer for a run, of many side by side.
        time_per_run: Time of a run in the unit of the phase model.
    """

    target: int | float
    successes: int
    runs: int
    steps: int
    repetitions: float
    repetitions_interval: Interval
    seconds_per_run: float
    time_per_run: float

    @property
    def probability(self) -> float:
        """p, the share of runs that reached the target."""
        return self.successes / self.runs

    @property
    def probability_interval(self) -> Interval:
        """Wilson's 95 % interval of p."""
        low, high = wilson(self.successes, self.runs)
        return low / 100, high / 100

    @property
    def seconds(self) -> float:
        """TTS in seconds of this computer."""
        return self.repetitions * self.seconds_per_run

    @property
    def seconds_interval(self) -> Interval:
        """95 % interval of `seconds`."""
        low, high = self.repetitions_interval
        return low * self.seconds_per_run, high * self.seconds_per_run

    @property
    def time(self) -> float:
        """TTS in the unit of the phase model, of one machine."""
        return self.repetitions * self.time_per_run

    def to_json(self) -> dict[str, Any]:
        """All of it by name; infinite values become null."""
        return {
            "target": self.target,
            "successes": self.successes,
            "runs": self.runs,
            "steps": self.steps,
            "probability": self.probability,
            "probability_interval": list(self.probability_interval),
            "repetitions": self.repetitions,
            "repetitions_interval": list(self.repetitions_interval),
            "seconds": self.seconds,
            "seconds_interval": list(self.seconds_interval),
            "time": self.time,
            "confidence": CONFIDENCE,
            "certainty": CERTAINTY,
        }


def repetitions(probability: float) -> float:
    """max(1, ln(1 - 0.99) / ln(1 - p)), infinite for p = 0.

    Args:
        probability: p of a run.
    """
    if probability <= 0:
        return math.inf
    if probability >= CERTAINTY:
        return 1.0
    return math.log(1 - CERTAINTY) / math.log(1 - probability)


def repetitions_interval(successes: int, runs: int) -> Interval:
    """The 95 % interval of `repetitions` by bootstrap over runs.

    Args:
        successes: Runs that reached the target.
        runs: All runs.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    counts = generator.binomial(runs, successes / runs, size=RESAMPLES)
    values = np.array([repetitions(count / runs) for count in counts])
    tail = (100 - CONFIDENCE) / 2
    low, high = np.percentile(values, (tail, 100 - tail), method="nearest").tolist()
    return low, high
