"""The most accurate networks of each size, among published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from entrain_paper.figures.labels import label_points
from entrain_paper.figures.others import (
    Point,
    others_keys,
    paper_widths,
    paper_widths_key,
    published_networks,
    size_axis,
)
from entrain_paper.figures.panels import (
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
    run_key,
    runs,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_OURS = "DIRECT"
_ASIDE = 1.06  # times the size, so that error bars stay apart


def records(results: Results) -> Figure:
    """A panel per dataset: ours, the paper's and other published networks, by size."""
    datasets = by_dataset(results["records"]["rows"])
    figure, axes = panels(1, len(datasets), (5.0 * len(datasets), 4.2))
    drawn = []
    for letter, axis, (dataset, rows) in zip("abcd", axes[0], datasets.items(), strict=False):
        printed = paper_widths(axis, dataset)
        names, cited = published_networks(axis, dataset)
        ours = _ours(axis, rows)
        counts = sorted({x for x, _ in [*ours, *printed, *cited]})
        size_axis(axis, counts)
        heading(axis, dataset, letter)
        drawn.append((axis, names, cited, [*ours, *printed, *cited]))
    axes[0, 0].set_ylabel("test top-1 accuracy (%)")
    legend_below(figure, _keys(), columns=3)
    figure.draw_without_rendering()  # settles the layout, which the labels go by
    for axis, names, cited, points in drawn:
        label_points(axis, names, cited, np.array(points), size=8.5)
    return figure


def _ours(axis: Axes, rows: list[Values]) -> list[Point]:
    """Draw a line with augmentation, and open markers to its side without. Return the means."""
    for augmented in (True, False):
        members = sorted(
            (row for row in rows if row["augmented"] is augmented), key=lambda row: row["N"]
        )
        side = -1 if augmented else 1
        aside = 1.0 if augmented else _ASIDE
        means(
            axis,
            [aside * row["N"] for row in members],
            [row["mean"][TOP1] for row in members],
            [row["sd"][TOP1] for row in members],
            _OURS,
            **({} if augmented else _OPEN),
        )
        for row in members:
            tops = [run[TOP1] for run in row["runs"]]
            runs(axis, (aside + 0.11 * side) * row["N"], tops, 0.1 * row["N"])
    return [(row["N"], number(row["mean"][TOP1])) for row in rows]


def _keys() -> list[Line2D]:
    return [
        method_key(_OURS, line=True, label=f"ours, {_OURS} with augmentation"),
        method_key(_OURS, label=f"ours, {_OURS} without augmentation", **_OPEN),
        run_key(),
        paper_widths_key(),
        *others_keys(),
    ]


_OPEN: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "markeredgewidth": 1.4}
