"""Accuracy, agreement and endpoint error of the main methods over training orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.plots.style import COLUMN
from entrain_paper.figures.panels import (
    AGREEMENT,
    METRIC_LABELS,
    PAPER_KEYS,
    RMSE,
    TOP1,
    Results,
    Values,
    by_dataset,
    heading,
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
from entrain_paper.figures.style import METHOD_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAPER_OFFSET = 0.38  # from our mark to the paper's
_TITLES = {TOP1: "accuracy", AGREEMENT: "teacher agreement", RMSE: "RMSE (lower is better)"}


def main_performance(results: Results) -> Figure:
    """One column per metric with both datasets. Top: means. Bottom: differences from the paper's
    mean, where single runs can be seen."""
    datasets = by_dataset(results["multiseed"]["rows"])
    methods = list(dict.fromkeys(row["method"] for row in results["multiseed"]["rows"]))
    figure, axes = panels(2, 3, (COLUMN, 5.4), sharex=True)
    group = len(methods) + 0.8
    for column, metric in enumerate(METRIC_LABELS):
        top, bottom = axes[:, column]
        for index, rows in enumerate(datasets.values()):
            for row in rows:
                x = index * group + methods.index(row["method"])
                _measured(top, x, row, metric)
                _difference(bottom, x, row, metric)
        ticks = [index * group + (len(methods) - 1) / 2 for index in range(len(datasets))]
        bottom.set_xticks(ticks, list(datasets))
        bottom.set_xlim(-0.7, len(datasets) * group - 0.7)
        bottom.axhline(0.0, color="#555555", linewidth=1.0, linestyle="--", zorder=1)
        unit = "" if metric == RMSE else " (points)"
        top.set_ylabel(METRIC_LABELS[metric])
        bottom.set_ylabel(f"difference from paper{unit}")
        heading(top, _TITLES[metric], "abc"[column])
        heading(bottom, "ours - paper", "def"[column])
        for axis in (top, bottom):
            axis.grid(False, axis="x")
            axis.margins(y=0.1)
    legend_below(figure, [*(method_key(method) for method in methods), run_key(), paper_key()])
    return figure


def _printed(row: Values, metric: str) -> tuple[float | None, float | None]:
    """Mean and SD of the paper."""
    printed = paper_row("multiseed", dataset=row["dataset"], method=row["method"])
    name = PAPER_KEYS[metric]
    return printed.get(f"{name}_mean"), printed.get(f"{name}_sd")


def _measured(axis: Axes, x: float, row: Values, metric: str) -> None:
    means(axis, [x], [row["mean"][metric]], [None], row["method"], markersize=5.0)
    paper_marks(axis, [x + _PAPER_OFFSET], [_printed(row, metric)[0]], row["method"])


def _difference(axis: Axes, x: float, row: Values, metric: str) -> None:
    mean, sd = _printed(row, metric)
    if mean is None:
        return
    difference = number(row["mean"][metric]) - mean
    means(axis, [x], [difference], [row["sd"][metric]], row["method"], markersize=3.5)
    runs(axis, x - 0.27, [number(run[metric]) - mean for run in row["runs"]], 0.2)
    paper_marks(axis, [x + _PAPER_OFFSET], [0.0], row["method"])
    if sd:
        colour = METHOD_COLOURS[row["method"]]
        axis.errorbar(
            x + _PAPER_OFFSET, 0.0, yerr=sd, fmt="none", ecolor=colour, capsize=4, zorder=5
        )
