"""Effect of the teacher: its seed, its selection rule, and training without it."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any

from entrain.plots.style import COLUMN
from entrain_paper.figures.panels import (
    METRIC_LABELS,
    PAPER_KEYS,
    TOP1,
    Results,
    Values,
    by_dataset,
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
    run_key,
    runs,
)
from entrain_paper.figures.style import MAIN_METHODS, METHOD_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Range = tuple[float, float]

_RULES = {"top1": "top-1", "cross-entropy": "cross-\nentropy"}
_POINTS: dict[str, Any] = {"markersize": 5.5, "alpha": 0.55}
_OBJECTIVES = {"labels": "DIRECT", "teacher's outputs": "teacher"}  # and their looks
_EXACT_ZERO, _LEVEL = "exact zero", "96"


def teacher_sweep(results: Results) -> Figure:
    """Metrics as rows; a column for each dataset and method; a point for each teacher."""
    datasets = by_dataset(results["teacher-sweep"]["rows"])
    columns = [(dataset, method) for dataset in datasets for method in MAIN_METHODS.values()]
    figure, axes = panels(len(METRIC_LABELS), len(columns), (COLUMN, 7.6))
    letters = iter("abcdefghijklmnopqrstuvwx")
    for metric, line in zip(METRIC_LABELS, axes, strict=True):
        for axis, (dataset, method) in zip(line, columns, strict=True):
            _teacher_points(axis, datasets[dataset], metric, method)
            printed = paper_row("multiseed", dataset=dataset, method=method)
            rules = len({row["rule"] for row in datasets[dataset]})
            paper = printed.get(f"{PAPER_KEYS[metric]}_mean")
            paper_marks(axis, [rules], [paper], method, markersize=6.0)
            heading(axis, "", next(letters))
            axis.set_title(method, fontsize=8, loc="right")
        line[0].set_ylabel(METRIC_LABELS[metric])
    for axis, (dataset, _) in zip(axes[-1], columns, strict=True):
        axis.set_xlabel(dataset)
    grey = "#555555"
    point = key("one teacher", color=grey, marker=".", linestyle="none", **_POINTS)
    line_key = key("mean of the teachers", color=grey, linewidth=1.6)
    legend_below(figure, [point, line_key, paper_key()])
    return figure


def _teacher_points(axis: Axes, rows: list[Values], metric: str, method: str) -> None:
    """A metric of every teacher by its selection rule, with means, and room for the paper's."""
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    colour = METHOD_COLOURS[method]
    for x, rule in enumerate(rules):
        values = [number(row[method][metric]) for row in rows if row["rule"] == rule]
        runs(axis, x, values, 0.6, color=colour, **_POINTS)
        axis.hlines(sum(values) / len(values), x - 0.4, x + 0.4, color=colour, linewidth=1.6)
    labels = [*(_RULES.get(rule, rule) for rule in rules), "paper"]
    axis.set_xticks(range(len(labels)), labels, fontsize=7.5)
    axis.set_xlim(-0.6, len(rules) + 0.6)
    axis.margins(y=0.12)
    axis.grid(False, axis="x")


def teacher_needed(results: Results) -> Figure:
    """Starts on the x axis, objectives side by side; the y axis is broken if exact zero is far
    below the other starts."""
    values = results["teacher-needed"]
    rows = values["rows"]
    ranges = _accuracy_ranges(rows)
    options: dict[str, Any] = {"sharex": True}
    if len(ranges) > 1:
        options["gridspec_kw"] = {"height_ratios": (1.6, 1.0)}
    figure, axes = panels(len(ranges), 1, (7.0, 4.6), **options)
    starts = list(dict.fromkeys(row["start"] for row in rows))
    for axis, (low, high) in zip(axes[:, 0], ranges, strict=True):
        for row in rows:
            extent = _extent(row)
            if extent and low <= extent[0] <= high:
                side = -0.2 if row["objective"] == "labels" else 0.2
                _start_marks(axis, starts.index(row["start"]) + side, row, extent[1])
        room = (high - low) or 1.0
        axis.set_ylim(low - 0.12 * room, high + 0.2 * room)
        axis.set_xlim(-0.6, len(starts) - 0.4)
        axis.grid(False, axis="x")
    axes[-1, 0].set_xticks(range(len(starts)), starts)
    axes[-1, 0].set_xlabel("start of training")
    figure.supylabel("test top-1 accuracy (%)", fontsize=9)
    heading(
        axes[0, 0],
        f"{values['dataset']}; above each marker: median epoch of {_LEVEL} % validation accuracy",
    )
    if len(ranges) > 1:
        _break_axis(*axes[:, 0])
    keys = [method_key(look, label=f"trained on {name}") for name, look in _OBJECTIVES.items()]
    legend_below(figure, [*keys, run_key()])
    return figure


def _extent(row: Values) -> Range | None:
    """The lowest and the highest mark of a row; None if it has no finite value."""
    mean, sd = number(row["mean"][TOP1]), row["sd"][TOP1] or 0.0
    marks = [mean - sd, mean + sd, *(number(run[TOP1]) for run in row["runs"])]
    finite = [mark for mark in marks if math.isfinite(mark)]
    return (min(finite), max(finite)) if finite else None


def _accuracy_ranges(rows: list[Values]) -> list[Range]:
    """Limits of the panels, upper first: two if exact zero lies below all other starts."""
    extents = [(row["start"] == _EXACT_ZERO, _extent(row)) for row in rows]
    zero = [extent for is_zero, extent in extents if is_zero and extent]
    other = [extent for is_zero, extent in extents if not is_zero and extent]
    ranges = [
        (min(low for low, _ in group), max(high for _, high in group))
        for group in (other, zero)
        if group
    ]
    if len(ranges) == 2 and ranges[1][1] >= ranges[0][0]:
        return [(min(low for low, _ in ranges), max(high for _, high in ranges))]
    return ranges or [(0.0, 100.0)]


def _start_marks(axis: Axes, x: float, row: Values, top: float) -> None:
    look = _OBJECTIVES.get(row["objective"], "teacher")
    means(axis, [x], [row["mean"][TOP1]], [row["sd"][TOP1]], look)
    runs(axis, x + 0.12, [run[TOP1] for run in row["runs"]], 0.1)
    axis.annotate(
        _median_epoch(row["reached"].get(_LEVEL, [])),
        (x, top),
        (0, 6),
        textcoords="offset points",
        ha="center",
        fontsize=8,
    )


def _median_epoch(epochs: list[int | None]) -> str:
    """Median epoch over runs; runs that never reach the level count as infinitely late."""
    middle = median([math.inf if epoch is None else epoch for epoch in epochs] or [math.inf])
    return f"epoch {middle:g}" if math.isfinite(middle) else "never"


def _break_axis(upper: Axes, lower: Axes) -> None:
    """Marks of a broken axis between two panels."""
    upper.spines["bottom"].set_visible(False)
    upper.tick_params(bottom=False)
    look: dict[str, Any] = {
        "marker": [(-1.0, -0.6), (1.0, 0.6)],
        "markersize": 9,
        "linestyle": "none",
        "color": "#222222",
        "clip_on": False,
    }
    upper.plot(0, 0, transform=upper.transAxes, **look)
    lower.plot(0, 1, transform=lower.transAxes, **look)
