"""Digit accuracy against the number of oscillators, among published networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from entrain_paper.figures.labels import label_points
from entrain_paper.figures.others import (
    others_keys,
    paper_widths,
    paper_widths_key,
    published_networks,
    size_axis,
)
from entrain_paper.figures.panels import (
    TOP1,
    Results,
    means,
    method_key,
    number,
    panels,
    run_key,
    runs,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OURS, _DATASET = "TWO-STAGE-END", "MNIST"
_ASIDE = 0.91  # times the size, where runs are drawn
_BLACK = "#222222"
_PAPER = {"linestyle": "--", "color": _BLACK, "markeredgecolor": _BLACK, "markerfacecolor": "none"}


def oscillator_scale(results: Results) -> Figure:
    """Ours and the paper's at every width, and the networks of others."""
    rows = [row for row in results["widths"]["rows"] if row["dataset"] == _DATASET]
    rows = sorted(rows, key=lambda row: row["N"])
    figure, axes = panels(1, 1, (5.6, 3.6))
    axis = axes[0, 0]
    printed = paper_widths(axis, _DATASET, **_PAPER)
    names, cited = published_networks(axis, _DATASET)
    of = [row["two_stage_end"] for row in rows]
    counts = [row["N"] for row in rows]
    tops, sds = [each["mean"][TOP1] for each in of], [each["sd"][TOP1] for each in of]
    means(axis, counts, tops, sds, _OURS, markersize=4.0)
    for count, each in zip(counts, of, strict=True):
        runs(axis, count * _ASIDE, [run[TOP1] for run in each["runs"]], 0.06 * count)
    size_axis(axis, sorted({x for x, _ in [*printed, *cited]} | set(counts)))
    axis.set_ylabel("test top-1 accuracy (%)")
    keys = [
        method_key(_OURS, line=True, label=f"ours, {_OURS}", markersize=4.0),
        run_key(),
        paper_widths_key(**_PAPER),
        *others_keys(),
    ]
    axis.legend(handles=keys, loc="lower right", fontsize=8.5, frameon=False, handlelength=2.6)
    figure.draw_without_rendering()  # settles the layout, which the labels go by
    ours = [(count, number(top)) for count, top in zip(counts, tops, strict=True)]
    label_points(axis, names, cited, np.array([*ours, *printed, *cited]), size=8.5)
    return figure
