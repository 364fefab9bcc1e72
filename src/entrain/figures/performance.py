"""Accuracy, agreement and endpoint error of the main methods over training orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.figures.panels import (
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
from entrain.figures.reference import paper_row
from entrain.figures.style import METHOD_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_APART = 0.42  # from our mark to the paper's


def main_performance(results: Results) -> Figure:
    """One column per metric with both datasets. Top: as measured. Bottom: differences from the
    paper's mean, which show the SDs."""
    datasets = by_dataset(results["multiseed"]["rows"])
    methods = list(dict.fromkeys(row["method"] for row in results["multiseed"]["rows"]))
    shape = {"height_ratios": (1.0, 0.85)}
    figure, axes = panels(2, 3, (10.0, 5.8), sharex=True, gridspec_kw=shape)
    group = len(methods) + 0.8
    for column, metric in enumerate(METRIC_LABELS):
        above, below = axes[:, column]
        for place, rows in enumerate(datasets.values()):
            for row in rows:
                x = place * group + methods.index(row["method"])
                _measured(above, x, row, metric)
                _difference(below, x, row, metric)
        middle = (len(methods) - 1) / 2
        below.set_xticks([place * group + middle for place in range(len(datasets))], list(datasets))
        below.set_xlim(-0.7, len(datasets) * group - 0.7)
        below.axhline(0.0, color="#555555", linewidth=1.0, linestyle="--", zorder=1)
        above.set_ylabel(METRIC_LABELS[metric])
        unit = "" if metric == RMSE else " (points)"
        below.set_ylabel(f"difference from paper{unit}")
        heading(above, "lower is better" if metric == RMSE else "", "abc"[column])
        heading(below, "", "def"[column])
        for axis in (above, below):
            axis.grid(False, axis="x")
            axis.margins(y=0.1)
    legend_below(figure, [*(method_key(method) for method in methods), run_key(), paper_key()])
    return figure


def _printed(row: Values, metric: str) -> tuple[float | None, float | None]:
    """Mean and SD of the paper."""
    found = paper_row("multiseed", dataset=row["dataset"], method=row["method"])
    name = PAPER_KEYS[metric]
    return found.get(f"{name}_mean"), found.get(f"{name}_sd")


def _measured(axis: Axes, x: float, row: Values, metric: str) -> None:
    means(axis, [x], [row["mean"][metric]], [row["sd"][metric]], row["method"], markersize=6.0)
    paper_marks(axis, [x + _APART], [_printed(row, metric)[0]], row["method"])


def _difference(axis: Axes, x: float, row: Values, metric: str) -> None:
    mean, sd = _printed(row, metric)
    if mean is None:
        return
    own = number(row["mean"][metric]) - mean
    means(axis, [x], [own], [row["sd"][metric]], row["method"], markersize=5.0)
    runs(axis, x, [number(run[metric]) - mean for run in row["runs"]], 0.5)
    paper_marks(axis, [x + _APART], [0.0], row["method"])
    if sd:
        colour = METHOD_COLOURS[row["method"]]
        axis.errorbar(x + _APART, 0.0, yerr=sd, fmt="none", ecolor=colour, capsize=4, zorder=5)
