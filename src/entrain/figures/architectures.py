"""PATH and TWO-STAGE-END across teacher architectures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.figures.labels import label_points
from entrain.figures.panels import (
    AGREEMENT,
    METRIC_LABELS,
    PAPER_KEYS,
    RMSE,
    TOP1,
    Results,
    Values,
    heading,
    legend_below,
    number,
    panels,
    paper_key,
    paper_marks,
)
from entrain.figures.reference import paper_row
from entrain.figures.style import DEPTH_COLOURS, DEPTH_MARKERS, MAIN_METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_FAINT = "#AAAAAA"
_COUNTS = ("no", "one", "two", "three", "four")


def architectures_scatter(results: Results) -> Figure:
    """A point per teacher: PATH across, TWO-STAGE-END up; dashed lines are equal gains."""
    rows = results["architectures"]["rows"]
    figure, axes = panels(1, 2, (11.0, 4.9))
    todo = []
    for letter, axis, metric in zip("ab", axes[0], (TOP1, AGREEMENT), strict=True):
        ours, theirs = [], []
        for row in rows:
            here, there = _pair(row, metric), _printed(row, metric)
            axis.plot(*here, **_look(row), markersize=_size(row), zorder=4)
            ours.append(here)
            if there:
                theirs.append(there)
                both = zip(here, there, strict=True)
                axis.plot(*both, color=_FAINT, linewidth=0.7, zorder=1)
                paper_marks(axis, there[:1], there[1:], markersize=4.5)
        every = np.array(ours + theirs)
        axis.set_xlim(*_limits(every[:, 0]))
        axis.set_ylim(*_limits(every[:, 1]))
        _equal_gains(axis)
        label = METRIC_LABELS[metric]
        axis.set_xlabel(f"PATH: {label}")
        axis.set_ylabel(f"TWO-STAGE-END: {label}")
        heading(axis, "", letter)
        todo.append((axis, ours, every))
    legend_below(figure, [*_depth_keys(rows), paper_key(), _gain_key()])
    figure.draw_without_rendering()  # settles the layout, which the labels go by
    for axis, ours, every in todo:
        label_points(axis, [row["identifier"] for row in rows], ours, every)
    return figure


def architectures_pairs(results: Results) -> Figure:
    """One line per teacher from PATH to TWO-STAGE-END, ours and the paper's, a panel per metric."""
    rows = results["architectures"]["rows"]
    figure, axes = panels(1, 3, (10.5, 3.9))
    for letter, axis, metric in zip("abc", axes[0], (TOP1, AGREEMENT, RMSE), strict=True):
        for row in rows:
            look = _look(row) | {"linestyle": "-", "linewidth": 1.0, "alpha": 0.85}
            size = _size(row) - 1.5
            axis.plot((0, 1), _pair(row, metric), **look, markersize=size)
            printed = _printed(row, metric)
            if printed:
                open_marks = {"markerfacecolor": "white", "markersize": size - 1.0}
                axis.plot((1.7, 2.7), printed, **(look | open_marks))
        axis.set_xticks((0, 1, 1.7, 2.7), ("PATH", "TWO-\nSTAGE-\nEND") * 2, fontsize=7.5)
        axis.set_xlim(-0.3, 3.0)
        axis.axvline(1.35, color="#AAAAAA", linewidth=0.8)
        for x, name in ((0.5, "ours"), (2.2, "paper")):
            axis.text(x, 1.0, name, transform=axis.get_xaxis_transform(), ha="center", fontsize=8.5)
        axis.grid(False, axis="x")
        axis.set_ylabel(METRIC_LABELS[metric] + (", lower is better" if metric == RMSE else ""))
        heading(axis, "", letter)
    legend_below(figure, _depth_keys(rows, line="-"))
    return figure


def _equal_gains(axis: Axes) -> None:
    """Lines y = x + gain through the panel, with the gain where each leaves it."""
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    step = 1 if top - left - (bottom - right) < 8 else 2
    first = step * np.ceil((bottom - right) / step)
    for gain in np.arange(first, top - left, step):
        low, high = max(left, bottom - gain), min(right, top - gain)
        axis.plot((low, high), (low + gain, high + gain), "--", color=_FAINT, linewidth=0.8)
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


def _pair(row: Values, metric: str) -> tuple[float, float]:
    before, after = (number(row[method][metric]) for method in MAIN_METHODS)
    return before, after


def _printed(row: Values, metric: str) -> tuple[float, float] | None:
    """What the paper prints of an architecture of this name and these widths."""
    identifier = row["identifier"]
    known = paper_row("teacher_architectures", identifier=identifier, widths=row["widths"])
    found = paper_row("architecture_sweep", identifier=identifier)
    if not known or not found:
        return None
    before, after = (found[f"{method}_{PAPER_KEYS[metric]}"] for method in MAIN_METHODS)
    return before, after


def _depth(row: Values) -> int:
    return min(len(row["widths"]), max(DEPTH_MARKERS))


def _look(row: Values) -> dict[str, Any]:
    depth = _depth(row)
    return {"marker": DEPTH_MARKERS[depth], "color": DEPTH_COLOURS[depth], "linestyle": "none"}


def _size(row: Values) -> float:
    return 10.0 if DEPTH_MARKERS[_depth(row)] == "*" else 6.5


def _limits(values: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.14 * (high - low or 1.0)
    return low - room, high + room


def _depth_keys(rows: list[Values], line: str = "none") -> list[Line2D]:
    from matplotlib.lines import Line2D

    known = {_depth(row): row for row in sorted(rows, key=_depth)}
    return [
        Line2D(
            [],
            [],
            **(_look(row) | {"linestyle": line}),
            markersize=_size(row),
            label=f"{_COUNTS[depth]} hidden layer{'s' if depth > 1 else ''}",
        )
        for depth, row in known.items()
    ]


def _gain_key() -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=_FAINT, linestyle="--", linewidth=0.8, label="equal gain (points)")
