# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
"""AdamW on rows of tensors, compiled by Numba: the arithmetic of `rules.adamw`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from entrain.kernels.compiled import inner

_FIRST, _SECOND = 0.9, 0.999
_EPSILON = np.float32(1e-8)


class Parameter(NamedTuple):
    """A trained tensor (R, rows, columns) and what AdamW keeps of it, float32."""

    raw: Any
    first: Any  # moment
    second: Any  # moment
    mean: Any  # running mean of `raw`
    gradient: Any  # of a step of one run (rows, columns or more)


@inner
def clip_factor(squares, limit):
    """Factor that reduces the norm of a gradient to `limit` if it is larger."""
    total = 0.0
    for value in squares:
        total += value
    factor = limit / (math.sqrt(total) + 1e-12)
    return np.float32(1.0 if factor > 1.0 else factor)  # NaN stays NaN


@inner
def moment_biases(count):
    """1 - beta^k of both moments after k steps."""
    return np.float32(1.0 - _FIRST**count), np.float32(1.0 - _SECOND**count)


@inner
def update_row(parameter, run, row, clip, rate, decay, biases, weight):
    """One step of AdamW on a row, multiplied by `decay` before; its running mean by `weight`."""
    raw, mean = parameter.raw[run, row], parameter.mean[run, row]
    first, second = parameter.first[run, row], parameter.second[run, row]
    gradient = parameter.gradient[row]
    by_first, by_second = np.float32(1.0 - _FIRST), np.float32(1.0 - _SECOND)
    for i in range(len(raw)):
        slope = gradient[i] * clip
        first[i] += by_first * (slope - first[i])
        second[i] += by_second * (slope * slope - second[i])
        root = np.sqrt(second[i] / biases[1]) + _EPSILON
        raw[i] = raw[i] * decay - rate * ((first[i] / biases[0]) / root)
        mean[i] += (raw[i] - mean[i]) * weight
