"""PATH and TWO-STAGE-END across teacher architectures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain_paper.experiments.architectures import MAIN
from entrain_paper.figures.panels import (
    AGREEMENT,
    METRIC_LABELS,
    PAPER_KEYS,
    RMSE,
    TOP1,
    Results,
    Values,
    heading,
    key,
    legend_below,
    means,
    method_key,
    number,
    panels,
    paper_key,
    paper_marks,
    paper_row,
)
from entrain_paper.figures.point_labels import label_points
from entrain_paper.figures.style import DEPTH_COLOURS, DEPTH_MARKERS, MAIN_METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Point = tuple[float, float]

_FAINT = "#AAAAAA"
_HOLLOW: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 0.9, "alpha": 0.75}
_COUNTS = ("no", "one", "two", "three", "four")


def architectures_scatter(results: Results) -> Figure:
    """One point per teacher: PATH on the x axis, TWO-STAGE-END on the y axis, dashed lines of equal
    gain. The main teacher and the extreme ones have labels."""
    rows = results["architectures"]["rows"]
    figure, axes = panels(1, 2, (7.0, 4.1))
    labels = []
    for letter, axis, metric in zip("ab", axes[0], (TOP1, AGREEMENT), strict=True):
        measured, published = [], []
        for row in rows:
            ours, paper = _pair(row, metric), _printed(row, metric)
            axis.plot(*ours, **_look(row), zorder=4)
            measured.append(ours)
            if paper:
                published.append(paper)
                axis.plot(*paper, **(_look(row) | _HOLLOW), zorder=3)
        points = np.array(measured + published)
        axis.set_xlim(*_limits(points[:, 0]))
        axis.set_ylim(*_limits(points[:, 1]))
        lines = [*_equal_gains(axis), *((point, point) for point in published)]
        label = METRIC_LABELS[metric]
        axis.set_xlabel(f"PATH: {label}")
        axis.set_ylabel(f"TWO-STAGE-END: {label}")
        heading(axis, "", letter)
        along = np.concatenate([np.linspace(*line, 40) for line in lines])
        labels.append((axis, measured, along))
    gain_key = key("equal gain (points)", color=_FAINT, linestyle="--", linewidth=0.8)
    hollow = key("paper", linestyle="none", marker="o", color="#555555", **_HOLLOW)
    legend_below(figure, [*_depth_keys(rows), hollow, gain_key], columns=3)
    figure.draw_without_rendering()  # fixes the layout before labels are placed
    for axis, measured, along in labels:
        before, after = np.transpose(measured)
        labelled = _labelled(rows, before, after, after - before)
        names = [rows[index]["identifier"] for index in labelled]
        at = [measured[index] for index in labelled]
        label_points(axis, names, at, np.concatenate([measured, along]))
    return figure


def architectures_pairs(results: Results) -> Figure:
    """One row per teacher, one panel per metric: lines from PATH to TWO-STAGE-END."""
    rows = results["architectures"]["rows"]
    figure, axes = panels(1, 3, (7.0, 0.26 * len(rows) + 1.2), sharey=True)
    for letter, axis, metric in zip("abc", axes[0], (TOP1, AGREEMENT, RMSE), strict=True):
        for y, row in enumerate(rows):
            ours, printed = _pair(row, metric), _printed(row, metric)
            axis.plot(ours, (y - 0.15, y - 0.15), color="#777777", linewidth=1.2)
            for end, method in zip(ours, MAIN_METHODS.values(), strict=True):
                means(axis, [end], [y - 0.15], [None], method, markersize=4.5)
            if printed:
                axis.plot(printed, (y + 0.2, y + 0.2), ":", color="#777777", linewidth=1.0)
                for end, method in zip(printed, MAIN_METHODS.values(), strict=True):
                    paper_marks(axis, [end], [y + 0.2], method, markersize=3.2)
        axis.set_yticks(range(len(rows)), [row["identifier"] for row in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_xlabel(METRIC_LABELS[metric])
        heading(axis, "lower is better" if metric == RMSE else "", letter)
    legend_below(figure, [*map(method_key, MAIN_METHODS.values()), paper_key()])
    return figure


def _labelled(rows: list[Values], *values: np.ndarray) -> list[int]:
    """Indices of the main teacher, and of the minimum and the maximum of each of `values`."""
    main = [index for index, row in enumerate(rows) if row["identifier"] == MAIN]
    ends = [int(arg(value)) for value in values for arg in (np.nanargmin, np.nanargmax)]
    return sorted({*main, *ends})


def _equal_gains(axis: Axes) -> list[tuple[Point, Point]]:
    """Ends of the lines y = x + gain, drawn with the gain at the edge of the panel."""
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    span = top - left - (bottom - right)
    step = 1 if span < 8 else 2 if span < 40 else math.ceil(span / 10)
    first = step * np.ceil((bottom - right) / step)
    lines = []
    for gain in np.arange(first, top - left, step):
        low, high = max(left, bottom - gain), min(right, top - gain)
        axis.plot((low, high), (low + gain, high + gain), "--", color=_FAINT, linewidth=0.8)
        lines.append(((low, low + gain), (high, high + gain)))
        if high - low > 0.25 * (right - left):
            axis.annotate(
                f"{gain:+.0f}",
                (high, high + gain),
                xytext=(-5, -6),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=7,
                color="#777777",
            )
    return lines


def _pair(row: Values, metric: str) -> Point:
    before, after = (number(row[method][metric]) for method in MAIN_METHODS)
    return before, after


def _printed(row: Values, metric: str) -> Point | None:
    """The paper's numbers of an architecture of this name and these widths."""
    identifier = row["identifier"]
    architecture = paper_row("teacher_architectures", identifier=identifier, widths=row["widths"])
    printed = paper_row("architecture_sweep", identifier=identifier)
    if not architecture or not printed:
        return None
    before, after = (printed[f"{method}_{PAPER_KEYS[metric]}"] for method in MAIN_METHODS)
    return before, after


def _depth(row: Values) -> int:
    return min(len(row["widths"]), max(DEPTH_MARKERS))


def _look(row: Values) -> dict[str, Any]:
    depth = _depth(row)
    return {
        "marker": DEPTH_MARKERS[depth],
        "color": DEPTH_COLOURS[depth],
        "linestyle": "none",
        "markersize": 7.5 if DEPTH_MARKERS[depth] == "*" else 4.5,
    }


def _limits(values: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.14 * (high - low or 1.0)
    return low - room, high + room


def _depth_keys(rows: list[Values]) -> list[Line2D]:
    by_depth = {_depth(row): row for row in sorted(rows, key=_depth)}
    return [
        key(f"{_COUNTS[depth]} hidden layer{'s' if depth > 1 else ''}", **_look(row))
        for depth, row in by_depth.items()
    ]
