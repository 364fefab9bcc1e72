"""Accuracy axes on which each halving of the error has the same length, so that 97 and 98.5 % stay
distinct beside 40 %."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from entrain_paper.figures.panels import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TICKS = (0, 20, 40, 60, 70, 80, 85, 88, 90, 93, 95, 97, 98, 98.5, 99, 99.3, 99.5, 99.7, 99.9)
_STEPS = (5.0, 2.0, 1.0, 0.5, 0.2, 0.1)  # between ticks if these are too few
_MIN_TICKS = 4
_MIN_ERROR = 0.05  # percent; an error of 0 would be infinitely far away


def _position(accuracy: np.ndarray) -> np.ndarray:
    errors = np.maximum(100.0 - np.asarray(accuracy, dtype=float), _MIN_ERROR)
    return np.asarray(-np.log2(errors))


def _accuracy(position: np.ndarray) -> np.ndarray:
    return np.asarray(100.0 - np.exp2(-np.asarray(position, dtype=float)))


def error_scale(
    axis: Axes,
    which: Literal["x", "y"],
    accuracies: Iterable[float],
    *,
    apart: float = 0.05,
    room: float = 0.06,
) -> None:
    """Make an axis logarithmic in 100 % - accuracy, increasing up or right, around `accuracies`.

    The distance of neighbouring ticks is at least the fraction `apart` of the axis, and the margin
    beside the extreme values `room`.
    """
    known = np.array([accuracy for accuracy in accuracies if np.isfinite(accuracy)] or [0.0, 99.0])
    low, high = _position(np.array([known.min(), known.max()]))
    margin = max(room * (high - low), 0.05)
    low, high = low - margin, high + margin
    ends, ticks = _accuracy(np.array([low, high])), _ticks(low, high, apart)
    labels = [f"{tick:g}" for tick in ticks]
    if which == "x":
        axis.set_xscale("function", functions=(_position, _accuracy))
        axis.set_xlim(*ends)
        axis.set_xticks(ticks, labels)
    else:
        axis.set_yscale("function", functions=(_position, _accuracy))
        axis.set_ylim(*ends)
        axis.set_yticks(ticks, labels)


def spans(scores: Iterable[Mapping[str, Any]]) -> list[float]:
    """Mean - SD and mean + SD of every score, at most half way from the mean to 100 %."""
    ends = []
    for score in scores:
        mean, sd = number(score["mean"]), score.get("sd") or 0.0
        ends += [mean - sd, mean + min(sd, (100.0 - mean) / 2)]
    return ends


def _ticks(low: float, high: float, apart: float) -> list[float]:
    """Round accuracies between two positions, from the highest down, at least `apart`."""
    ticks: list[float] = []
    for candidates in (_TICKS, *(np.arange(0.0, 99.95, step).round(1) for step in _STEPS)):
        ticks = []
        for tick in np.flip(np.asarray(candidates, dtype=float)):
            position = _position(tick)
            close = ticks and _position(np.asarray(ticks[-1])) - position < apart * (high - low)
            if low <= position <= high and not close:
                ticks.append(float(tick))
        if len(ticks) >= _MIN_TICKS:
            break
    return ticks[::-1]
