"""Six combinations of initialisation and objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.plots.style import COLUMN
from entrain_paper.figures.panels import (
    AGREEMENT,
    METRIC_LABELS,
    TOP1,
    Results,
    by_dataset,
    heading,
    legend_below,
    number,
    panels,
    paper_key,
    paper_marks,
    paper_row,
)
from entrain_paper.figures.style import METHOD_COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HATCHES = ("", "////", "....")
_HEIGHT = 0.36


def protocol_ablation(results: Results) -> Figure:
    """Protocols as rows, one bar per dataset, values at the right."""
    from matplotlib.patches import Patch

    rows = results["ablation"]["rows"]
    datasets = by_dataset(rows)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, axes = panels(1, 2, (COLUMN, 4.2), sharey=True)
    for letter, axis, metric in zip("ab", axes[0], (TOP1, AGREEMENT), strict=True):
        for index, (dataset, members) in enumerate(datasets.items()):
            for row in members:
                method, value = row["method"], number(row[metric])
                y = methods.index(method) + (index - (len(datasets) - 1) / 2) * (_HEIGHT + 0.04)
                axis.barh(
                    y,
                    value,
                    _HEIGHT,
                    color=METHOD_COLOURS[method],
                    alpha=0.55 if index else 0.95,
                    hatch=_HATCHES[index % len(_HATCHES)],
                    edgecolor="white" if not index else "#333333",
                    linewidth=0.5,
                )
                axis.text(102.5, y, f"{value:.2f}", fontsize=8, va="center")
                printed = paper_row("protocol_ablation", dataset=dataset, method=method)
                if printed:
                    paper_marks(
                        axis, [printed[metric]], [y], markersize=5.5, markerfacecolor="white"
                    )
        axis.set_yticks(range(len(methods)), methods)
        axis.set_xlim(0, 113)
        axis.set_xticks(range(0, 101, 20))
        axis.set_xlabel(METRIC_LABELS[metric])
        axis.grid(False, axis="y")
        heading(axis, "", letter)
    axes[0, 0].invert_yaxis()
    keys = [
        Patch(
            facecolor="#555555" if not index else "#BBBBBB",
            hatch=_HATCHES[index % len(_HATCHES)],
            edgecolor="white" if not index else "#333333",
            label=dataset,
        )
        for index, dataset in enumerate(datasets)
    ]
    legend_below(figure, [*keys, paper_key()])
    return figure
