"""Compared systems: accuracy against cost, and measured against cited accuracy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import COLUMN
from entrain_paper.experiments.bake_off_entrain import ENTRAIN_SYSTEMS
from entrain_paper.figures.error_scale import error_scale, spans
from entrain_paper.figures.panels import (
    Results,
    Values,
    by_dataset,
    heading,
    key,
    legend_below,
    log_scale,
    number,
    panels,
)
from entrain_paper.figures.point_labels import label_points
from entrain_paper.figures.style import METHOD_COLOURS, PUBLISHED_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Look = dict[str, Any]
Point = tuple[float, float]

COSTS = {
    "variables": "dynamical variables",
    "parameters": "trained parameters",
}
KINDS: dict[str, Look] = {
    "published": {"color": PUBLISHED_COLOUR, "marker": "o", "label": "published system"},
    "ours": {"color": METHOD_COLOURS["DIRECT"], "marker": "s", "label": "our oscillators"},
    "baseline": {"color": "#555555", "marker": "^", "label": "baseline without dynamics"},
}
_FRONT: Look = {"color": "#555555", "linewidth": 1.0, "linestyle": "-", "alpha": 0.7, "zorder": 1}
_EQUAL: Look = {"color": "#555555", "linewidth": 1.0, "linestyle": "--", "zorder": 1}
_OURS = {system.name for system in ENTRAIN_SYSTEMS}
_SIZE = 6.0
_LABEL_SIZE = 7.5  # points
_STEPS = 100  # points along each segment of a line
_ALONG_BAR = 9  # points of an error bar that labels must not cover
_ROOM = 0.13  # margin beside the extreme systems, as a fraction of the axis
_CITED_ROOM = 0.1  # the same where both axes are accuracies
_NARROW = 150.0  # ratio of costs below which ticks are at 1, 2 and 5


def bake_off(cost: str) -> Callable[[Results], Figure]:
    """The function that draws accuracy against a cost with its Pareto front, by dataset."""

    def draw(results: Results) -> Figure:
        rows = [row for row in results["bake-off"]["rows"] if _is_drawable(row, cost)]
        datasets = by_dataset(rows)
        figure, axes = _stacked(len(datasets))
        labels = []
        for letter, axis, (dataset, rows) in zip("abcd", axes, datasets.items(), strict=False):
            points = [(number(row[cost]), number(row["measured_mean"])) for row in rows]
            for row, (x, y) in zip(rows, points, strict=True):
                _mark(axis, x, y, row)
            front = pareto_front(points)
            line = _stairs(front, max(x for x, _ in points))
            axis.plot(*zip(*line, strict=True), **_FRONT)
            _log_axis(axis, [x for x, _ in points])
            error_scale(axis, "y", _spread(rows))
            axis.set_xlabel(COSTS[cost])
            axis.set_ylabel("test top-1 accuracy (%)")
            heading(axis, dataset, letter)
            labels.append((axis, rows, points, _along(line)))
        drawn = [row for rows in datasets.values() for row in rows]
        legend_below(figure, [*_kind_keys(drawn), key("Pareto front", **_FRONT)])
        _label_systems(figure, labels)
        return figure

    return draw


def _stacked(count: int) -> tuple[Figure, np.ndarray]:
    """Wide panels one above another: many systems have nearly the same cost."""
    figure, axes = panels(max(1, count), 1, (7.6, 4.7 * max(1, count)))
    return figure, axes[:, 0]


def cited_and_measured(results: Results) -> Figure:
    """One point per system: cited accuracy on the x axis, measured accuracy on the y axis."""
    datasets = by_dataset(
        [row for row in results["bake-off"]["rows"] if _is_drawable(row, "cited")]
    )
    figure, axes = panels(1, max(1, len(datasets)), (COLUMN / 2 * max(1, len(datasets)), 4.6))
    labels = []
    for letter, axis, (dataset, rows) in zip("abcd", axes[0], datasets.items(), strict=False):
        points = [(number(row["cited"]), number(row["measured_mean"])) for row in rows]
        for row, (x, y) in zip(rows, points, strict=True):
            _mark(axis, x, y, row)
        ends = [x for x, _ in points] + _spread(rows)
        error_scale(axis, "x", ends, apart=0.08, room=_CITED_ROOM)
        error_scale(axis, "y", ends, room=_CITED_ROOM)
        low, high = axis.get_xlim()
        line = [(accuracy, accuracy) for accuracy in np.linspace(low, high, _STEPS)]
        axis.plot(*zip(*line, strict=True), **_EQUAL)
        axis.set_xlabel("cited test top-1 accuracy (%)")
        heading(axis, dataset, letter)
        labels.append((axis, rows, points, line))
    axes[0, 0].set_ylabel("measured test top-1 accuracy (%)")
    drawn = [row for rows in datasets.values() for row in rows]
    legend_below(figure, [*_kind_keys(drawn), key("equal", **_EQUAL)])
    _label_systems(figure, labels)
    return figure


def pareto_front(points: list[Point]) -> list[Point]:
    """The points (cost, accuracy) that no other point beats in both, sorted by cost."""
    front: list[Point] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front


def kind(row: Values) -> str:
    """`ours`, `published`, or `baseline` for a system without dynamics."""
    if row["system"] in _OURS:
        return "ours"
    return "published" if row["variables"] else "baseline"


def _is_drawable(row: Values, cost: str) -> bool:
    """True if accuracy and cost exist and the cost is not 0, for a logarithmic axis."""
    return bool(row[cost]) and row["measured_mean"] is not None


def _stairs(front: list[Point], end: float) -> list[Point]:
    """The front as a step line, constant until the next better system."""
    line = [front[0]]
    for x, y in front[1:]:
        line += [(x, line[-1][1]), (x, y)]
    return [*line, (end, line[-1][1])]


def _along(line: list[Point]) -> list[Point]:
    """Closely spaced points along a line, which labels must not cover."""
    points: list[Point] = []
    for (x, y), (x_next, y_next) in itertools.pairwise(line):
        across = np.geomspace(x, x_next, _STEPS)
        points += list(zip(across, np.linspace(y, y_next, _STEPS), strict=True))
    return points


def _log_axis(axis: Axes, costs: list[float]) -> None:
    """Costs on a logarithmic axis with room for labels; ticks at powers of ten, or more."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if not log_scale(axis, "x", costs):
        return
    low, high = min(costs), max(costs)
    room = (high / low) ** _ROOM if high > low else 2.0
    axis.set_xlim(low / room, high * room)
    subs = (1.0, 2.0, 5.0) if high < _NARROW * low else (1.0,)
    axis.xaxis.set_major_locator(LogLocator(subs=subs))
    axis.xaxis.set_major_formatter(FuncFormatter(_tick))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _tick(value: float, _: object) -> str:
    return f"{value:,.0f}" if value >= 1.0 else f"{value:g}"


def _mark(axis: Axes, x: float, y: float, row: Values) -> None:
    look = {name: value for name, value in KINDS[kind(row)].items() if name != "label"}
    if row["measured_sd"]:
        sd = row["measured_sd"]
        axis.errorbar(x, y, yerr=sd, fmt="none", ecolor=look["color"], capsize=2, elinewidth=0.9)
    axis.plot(x, y, linestyle="none", markersize=_SIZE, zorder=4, **look)


def _spread(rows: list[Values]) -> list[float]:
    """Ends of the accuracy bars."""
    return spans({"mean": row["measured_mean"], "sd": row["measured_sd"]} for row in rows)


def _kind_keys(rows: list[Values]) -> list[Line2D]:
    present = {kind(row) for row in rows}
    return [
        key(**look, linestyle="none", markersize=_SIZE)
        for name, look in KINDS.items()
        if name in present
    ]


def _label_systems(
    figure: Figure, labels: list[tuple[Axes, list[Values], list[Point], list[Point]]]
) -> None:
    """Write the name of every system beside its point, clear of points and lines."""
    figure.draw_without_rendering()  # fixes the layout before labels are placed
    for axis, rows, points, line in labels:
        names = [row["system"] for row in rows]
        bars = [
            (x, y + part * (row["measured_sd"] or 0.0))
            for row, (x, y) in zip(rows, points, strict=True)
            for part in np.linspace(-1.0, 1.0, _ALONG_BAR)
        ]
        label_points(axis, names, points, np.array([*bars, *line]), size=_LABEL_SIZE)
