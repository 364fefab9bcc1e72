"""Every number of the reproduction on one axis: its difference over its scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from entrain_paper.figures.panels import key, legend_below, panels, row_axis
from entrain_paper.figures.style import DATASET_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 3.0  # half-width of the axis; farther numbers are at its edge, as arrows


class Place(NamedTuple):
    """A number: the row it belongs to, its dataset, its place, and whether it is judged."""

    row: str
    dataset: str
    position: float
    judged: bool


def deviations(places: Sequence[Place]) -> Figure:
    """A row for each experiment, a mark for each number. Within -1 and 1 they agree."""
    rows = list(dict.fromkeys(place.row for place in places))
    figure, axes = panels(1, 1, (7.6, 1.5 + 0.36 * len(rows)))
    axis = axes[0, 0]
    axis.axvspan(-1.0, 1.0, color="#eef3ee", zorder=0)
    for edge in (-1.0, 1.0):
        axis.axvline(edge, color="#777777", linewidth=0.9, linestyle="--", zorder=1)
    axis.axvline(0.0, color="#bbbbbb", linewidth=0.8, zorder=1)
    for index, row in enumerate(rows):
        _row(axis, index, [place for place in places if place.row == row])
    row_axis(axis, rows)
    largest = max(abs(place.position) for place in places)
    half = min(_MOST, max(1.5, largest)) + 0.15
    axis.set_xlim(-half, half)
    axis.set_xlabel("(ours - paper) / scale: between the dashed lines the numbers agree")
    looks = [
        key(f"{name}, judged", color=colour, marker="o", linestyle="none")
        for name, colour in DATASET_COLOURS.items()
    ]
    if not all(place.judged for place in places):
        hollow = {"color": "#555555", "markerfacecolor": "none", "linestyle": "none"}
        looks.append(key("no scale of its own: not judged", marker="o", **hollow))
    if largest > _MOST:
        looks.append(key(f"beyond {_MOST:g}", color="#555555", marker=">", linestyle="none"))
    legend_below(figure, looks, columns=4)
    return figure


def _row(axis: Axes, index: int, places: Sequence[Place]) -> None:
    """The marks of a row; marks at nearly the same place lie one above another."""
    positions = [max(-_MOST, min(_MOST, place.position)) for place in places]
    for place, x, lift in zip(places, positions, _lifts(positions), strict=True):
        colour = DATASET_COLOURS.get(place.dataset, "#555555")
        beyond = abs(place.position) > _MOST
        marker = (">" if place.position > 0 else "<") if beyond else "o"
        axis.plot(
            [x],
            [index + lift],
            marker=marker,
            markersize=4.4,
            color=colour,
            markerfacecolor=colour if place.judged else "white",
            markeredgewidth=0.9,
            linestyle="none",
            zorder=4 if place.judged else 3,
        )


def _lifts(positions: Sequence[float]) -> list[float]:
    """Vertical offsets that separate marks of nearly the same position, within a row."""
    order = np.argsort(positions, kind="stable")
    lifts, cluster = [0.0] * len(positions), list[int]()
    for index in order:
        if cluster and positions[index] - positions[cluster[-1]] > 0.055:
            cluster = []
        cluster.append(int(index))
        levels = (0.0, -0.18, 0.18, -0.34, 0.34)
        lifts[int(index)] = levels[(len(cluster) - 1) % len(levels)]
    return lifts
