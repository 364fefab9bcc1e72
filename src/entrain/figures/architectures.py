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
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_COUNTS = ("no", "one", "two", "three", "four")


def architectures_scatter(results: Results) -> Figure:
    """A point per teacher: PATH across, TWO-STAGE-END up; above the dashed line is better."""
    rows = results["architectures"]["rows"]
    figure, axes = panels(1, 2, (11.0, 5.8))
    todo = []
    for letter, axis, metric in zip("ab", axes[0], (TOP1, AGREEMENT), strict=True):
        ours = [_pair(row, metric) for row in rows]
        theirs = [pair for pair in (_printed(row, metric) for row in rows) if pair]
        for row, (x, y) in zip(rows, ours, strict=True):
            axis.plot(x, y, **_look(row), markersize=_size(row), zorder=4)
        across, up = zip(*theirs, strict=True) if theirs else ((), ())
        paper_marks(axis, across, up, markersize=4.0, alpha=0.55)
        every = np.array(ours + theirs)
        low, high = _limits(every[:, 0])
        bottom, top = _limits(every[:, 1])
        axis.plot((low, high), (low, high), "--", color="#555555", linewidth=1.0, zorder=1)
        axis.set_xlim(low, high)
        axis.set_ylim(min(low, bottom), max(top, high))
        label = METRIC_LABELS[metric]
        axis.set_xlabel(f"PATH: {label}")
        axis.set_ylabel(f"TWO-STAGE-END: {label}")
        heading(axis, "", letter)
        todo.append((axis, ours, every))
    legend_below(figure, [*_depth_keys(rows), paper_key(), _identity_key()])
    figure.draw_without_rendering()  # settles the layout, which the labels go by
    for axis, ours, every in todo:
        label_points(axis, [row["identifier"] for row in rows], ours, every)
    return figure


def architectures_pairs(results: Results) -> Figure:
    """One line per teacher from PATH to TWO-STAGE-END, a panel per metric."""
    rows = results["architectures"]["rows"]
    figure, axes = panels(1, 3, (10.0, 3.9))
    for letter, axis, metric in zip("abc", axes[0], (TOP1, AGREEMENT, RMSE), strict=True):
        for row in rows:
            look = _look(row)
            axis.plot(
                (0, 1),
                _pair(row, metric),
                **(look | {"linestyle": "-", "markersize": _size(row) - 1.5}),
                linewidth=1.0,
                alpha=0.85,
            )
            paper_marks(axis, (-0.14, 1.14), _printed(row, metric) or (None, None), markersize=4.0)
        axis.set_xticks((0, 1), ("PATH", "TWO-STAGE-END"))
        axis.set_xlim(-0.35, 1.35)
        axis.grid(False, axis="x")
        axis.set_ylabel(METRIC_LABELS[metric])
        heading(axis, "lower is better" if metric == RMSE else "", letter)
    legend_below(figure, [*_depth_keys(rows, line="-"), paper_key()])
    return figure


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


def _identity_key() -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], color="#555555", linestyle="--", linewidth=1.0, label="equal")
