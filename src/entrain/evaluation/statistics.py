"""Statistics over runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (NaN for one run) of `runs` values."""

    mean: float
    sd: float
    runs: int


def summarise(values: Sequence[float]) -> Summary:
    """Mean and sample standard deviation of one value per run."""
    if len(values) == 0:
        raise InputError("there must be at least one run to summarise, got none")
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    return Summary(float(np.mean(values)), sd, len(values))
