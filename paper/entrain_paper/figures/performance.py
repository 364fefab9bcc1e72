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
    run_key,
    runs,
)
from entrain_paper.figures.reference import paper_row
from entrain_paper.figures.style import METHOD_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_APART = 0.38  # from our mark to the paper's


def main_performance(results: Results) -> Figure:
    """One column per metric with both datasets. Top: as measured. Middle: differences from the
    paper's mean. Bottom: SDs, most of which are smaller than any mark above."""
    datasets = by_dataset(results["multiseed"]["rows"])
    methods = list(dict.fromkeys(row["method"] for row in results["multiseed"]["rows"]))
    figure, axes = panels(3, 3, (7.2, 6.6), sharex=True)
    group = len(methods) + 0.8
    for column, metric in enumerate(METRIC_LABELS):
        above, between, below = axes[:, column]
        for place, rows in enumerate(datasets.values()):
            for row in rows:
                x = place * group + methods.index(row["method"])
                _measured(above, x, row, metric)
                _difference(between, x, row, metric)
                _spread(below, x, row, metric)
        middle = (len(methods) - 1) / 2
        below.set_xticks([place * group + middle for place in range(len(datasets))], list(datasets))
        below.set_xlim(-0.7, len(datasets) * group - 0.7)
        _decimals(below)
        between.axhline(0.0, color="#555555", linewidth=1.0, linestyle="--", zorder=1)
        above.set_ylabel(METRIC_LABELS[metric])
        unit = "" if metric == RMSE else " (points)"
        between.set_ylabel(f"difference from paper{unit}")
        below.set_ylabel(f"sample SD{unit}")
        heading(above, "lower is better" if metric == RMSE else "", "abc"[column])
        heading(between, "", "def"[column])
        heading(below, "", "ghi"[column])
        for axis in axes[:, column]:
            axis.grid(False, axis="x")
            axis.margins(y=0.1)
    legend_below(figure, [*(method_key(method) for method in methods), run_key(), paper_key()])
    return figure


def _decimals(axis: Axes) -> None:
    """A logarithmic axis with two labels to a decade, written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6f}".rstrip("0")))
    axis.yaxis.set_minor_formatter(NullFormatter())


def _printed(row: Values, metric: str) -> tuple[float | None, float | None]:
    """Mean and SD of the paper."""
    found = paper_row("multiseed", dataset=row["dataset"], method=row["method"])
    name = PAPER_KEYS[metric]
    return found.get(f"{name}_mean"), found.get(f"{name}_sd")


def _measured(axis: Axes, x: float, row: Values, metric: str) -> None:
    means(axis, [x], [row["mean"][metric]], [None], row["method"], markersize=5.0)
    paper_marks(axis, [x + _APART], [_printed(row, metric)[0]], row["method"])


def _difference(axis: Axes, x: float, row: Values, metric: str) -> None:
    mean, sd = _printed(row, metric)
    if mean is None:
        return
    own = number(row["mean"][metric]) - mean
    means(axis, [x], [own], [row["sd"][metric]], row["method"], markersize=3.5)
    runs(axis, x - 0.27, [number(run[metric]) - mean for run in row["runs"]], 0.2)
    paper_marks(axis, [x + _APART], [0.0], row["method"])
    if sd:
        colour = METHOD_COLOURS[row["method"]]
        axis.errorbar(x + _APART, 0.0, yerr=sd, fmt="none", ecolor=colour, capsize=4, zorder=5)


def _spread(axis: Axes, x: float, row: Values, metric: str) -> None:
    means(axis, [x], [row["sd"][metric]], [None], row["method"], markersize=5.0)
    paper_marks(axis, [x + _APART], [_printed(row, metric)[1]], row["method"])
