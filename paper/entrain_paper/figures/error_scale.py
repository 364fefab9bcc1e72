"""Accuracy axes on which each halving of the error has the same length, so that 98.5 and 97 % stay
apart beside 40 %."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from entrain_paper.figures.panels import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TICKS = (0, 20, 40, 60, 70, 80, 85, 88, 90, 93, 95, 97, 98, 98.5, 99, 99.3, 99.5, 99.7, 99.9)
_STEPS = (5.0, 2.0, 1.0, 0.5, 0.2, 0.1)  # between ticks, where these are too few
_FEWEST = 4  # ticks
_LEAST = 0.05  # percent of errors that is drawn: no error at all would be infinitely far
_ROOM = 0.06  # beside the outermost values, in parts of the axis


def _place(accuracy: np.ndarray) -> np.ndarray:
    errors = np.maximum(100.0 - np.asarray(accuracy, dtype=float), _LEAST)
    return np.asarray(-np.log2(errors))


def _accuracy(place: np.ndarray) -> np.ndarray:
    return np.asarray(100.0 - np.exp2(-np.asarray(place, dtype=float)))


def error_scale(
    axis: Axes, which: Literal["x", "y"], accuracies: Iterable[float], *, apart: float = 0.05
) -> None:
    """Make an axis logarithmic in 100 % - accuracy, increasing up or right, around `accuracies`.

    Neighbouring ticks are at least `apart`, as a fraction of the axis.
    """
    known = np.array([each for each in accuracies if np.isfinite(each)] or [0.0, 99.0])
    low, high = _place(np.array([known.min(), known.max()]))
    room = max(_ROOM * (high - low), 0.05)
    low, high = low - room, high + room
    ends, ticks = _accuracy(np.array([low, high])), _ticks(low, high, apart)
    labels = [f"{tick:g}" for tick in ticks]
    if which == "x":
        axis.set_xscale("function", functions=(_place, _accuracy))
        axis.set_xlim(*ends)
        axis.set_xticks(ticks, labels)
    else:
        axis.set_yscale("function", functions=(_place, _accuracy))
        axis.set_ylim(*ends)
        axis.set_yticks(ticks, labels)


def spans(scores: Iterable[Mapping[str, Any]]) -> list[float]:
    """Mean - SD and mean + SD of each; a bar that would pass 100 % stops half way to it."""
    found = []
    for score in scores:
        mean, sd = number(score["mean"]), score.get("sd") or 0.0
        found += [mean - sd, mean + min(sd, (100.0 - mean) / 2)]
    return found


def _ticks(low: float, high: float, apart: float) -> list[float]:
    """Round accuracies between two places, chosen from the best down and not too close."""
    shown: list[float] = []
    for candidates in (_TICKS, *(np.arange(0.0, 99.95, step).round(1) for step in _STEPS)):
        shown = []
        for tick in np.flip(np.asarray(candidates, dtype=float)):
            place = _place(tick)
            near = shown and _place(np.asarray(shown[-1])) - place < apart * (high - low)
            if low <= place <= high and not near:
                shown.append(float(tick))
        if len(shown) >= _FEWEST:
            break
    return shown[::-1]
