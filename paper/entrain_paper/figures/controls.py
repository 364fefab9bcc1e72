"""Networks trained with one change: another training order, or a part of the model removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain_paper.figures.error_scale import error_scale
from entrain_paper.figures.panels import (
    TOP1,
    Results,
    Values,
    by_dataset,
    heading,
    key,
    legend_below,
    number,
    panels,
    paper_key,
    paper_marks,
    row_axis,
    run_key,
)
from entrain_paper.figures.style import METHOD_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMES = {"TWO-STAGE-END from it": "TWO-STAGE-END from PATH, exact"}
_TICK: dict[str, Any] = {"marker": "|", "markersize": 7.0, "markeredgewidth": 1.4}  # of a mean


def single_runs(results: Results) -> Figure:
    """One panel per dataset; rows are branches, points are training orders and the paper's run."""
    return _rows(results["single-runs"]["rows"], "what", "PATH")


def recurrence(results: Results) -> Figure:
    """One panel per dataset; rows are the removed parts."""
    figure = _rows(results["recurrence"]["rows"], "without", "DIRECT")
    figure.axes[0].set_ylabel("removed from the network")
    return figure


def _rows(rows: list[Values], label: str, method: str) -> Figure:
    datasets = by_dataset(rows)
    names = list(dict.fromkeys(row[label] for row in rows))
    size = (2.0 + 2.6 * len(datasets), 0.36 * len(names) + 1.3)
    figure, axes = panels(1, len(datasets), size, sharey=True)
    printed = False
    for letter, axis, (dataset, members) in zip("abcd", axes[0], datasets.items(), strict=False):
        accuracies = []
        for row in members:
            y, tops = names.index(row[label]), [number(run[TOP1]) for run in row["runs"]]
            _plot_row(axis, y, row, tops, row[label] if row[label] in METHOD_COLOURS else method)
            paper = row.get("paper")
            if paper is not None:
                paper_marks(axis, [paper], [y + 0.28])
                printed = True
            accuracies += [*tops, *([] if paper is None else [paper])]
        row_axis(axis, [_NAMES.get(name, name) for name in names])
        _scale(axis, accuracies, members, label, names)
        axis.set_xlabel("test top-1 accuracy (%)")
        heading(axis, dataset, letter)
    mean_key = key("mean and range of the runs", color="#777777", linewidth=4.0, **_TICK)
    legend_below(figure, [mean_key, run_key(), *([paper_key()] if printed else [])])
    return figure


def _plot_row(axis: Axes, y: float, row: Values, tops: list[float], method: str) -> None:
    colour = METHOD_COLOURS[method]
    axis.hlines(y, min(tops), max(tops), color=colour, linewidth=4.0, alpha=0.4, zorder=2)
    axis.plot([number(row["mean"][TOP1])], [y], color=colour, zorder=4, **_TICK)
    axis.plot(tops, [y - 0.22] * len(tops), ".", color="#222222", markersize=4, alpha=0.7)


def _scale(
    axis: Axes, accuracies: list[float], rows: list[Values], label: str, names: list[str]
) -> None:
    """The accuracy axis. Rows at chance would squeeze all others: they stay outside, as numbers."""
    chance = [row for row in rows if number(row["mean"][TOP1]) < _CHANCE and "paper" not in row]
    far = {number(run[TOP1]) for row in chance for run in row["runs"]}
    within = [accuracy for accuracy in accuracies if accuracy not in far]
    if not within:
        chance, within = [], accuracies
    error_scale(axis, "x", within, apart=0.12)
    left = axis.get_xlim()[0]
    for row in chance:
        text = f"\u2190 {number(row['mean'][TOP1]):.1f} % (chance)"
        at = (left, names.index(row[label]))
        axis.annotate(text, at, (3, 0), textcoords="offset points", va="center", fontsize=8)


_CHANCE = 15.0  # percent; nearer to the 10 % of ten classes than to any trained network
