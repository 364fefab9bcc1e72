"""Accuracy, agreement and endpoint error of the main methods over training orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain_paper.figures.panels import (
    METRIC_LABELS,
    PAPER_KEYS,
    RMSE,
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


def main_performance(results: Results) -> Figure:
    """One column per metric with both datasets. Top: means. Middle: differences from the paper's
    mean. Bottom: SDs, most of which are too small to see above."""
    datasets = by_dataset(results["multiseed"]["rows"])
    methods = list(dict.fromkeys(row["method"] for row in results["multiseed"]["rows"]))
    figure, axes = panels(3, 3, (7.2, 6.6), sharex=True)
    group = len(methods) + 0.8
    for column, metric in enumerate(METRIC_LABELS):
        top, centre, bottom = axes[:, column]
        for index, rows in enumerate(datasets.values()):
            for row in rows:
                x = index * group + methods.index(row["method"])
                _measured(top, x, row, metric)
                _difference(centre, x, row, metric)
                _spread(bottom, x, row, metric)
        ticks = [index * group + (len(methods) - 1) / 2 for index in range(len(datasets))]
        bottom.set_xticks(ticks, list(datasets))
        bottom.set_xlim(-0.7, len(datasets) * group - 0.7)
        _decimals(bottom)
        centre.axhline(0.0, color="#555555", linewidth=1.0, linestyle="--", zorder=1)
        top.set_ylabel(METRIC_LABELS[metric])
        unit = "" if metric == RMSE else " (points)"
        centre.set_ylabel(f"difference from paper{unit}")
        bottom.set_ylabel(f"sample SD{unit}")
        heading(top, "lower is better" if metric == RMSE else "", "abc"[column])
        heading(centre, "", "def"[column])
        heading(bottom, "", "ghi"[column])
        for axis in axes[:, column]:
            axis.grid(False, axis="x")
            axis.margins(y=0.1)
    legend_below(figure, [*(method_key(method) for method in methods), run_key(), paper_key()])
    return figure


def _decimals(axis: Axes) -> None:
    """Make the y axis logarithmic with two decimal labels per decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6f}".rstrip("0")))
    axis.yaxis.set_minor_formatter(NullFormatter())


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


def _spread(axis: Axes, x: float, row: Values, metric: str) -> None:
    means(axis, [x], [row["sd"][metric]], [None], row["method"], markersize=5.0)
    paper_marks(axis, [x + _PAPER_OFFSET], [_printed(row, metric)[1]], row["method"])
