"""Distance of the autonomous trajectories from the teacher's path over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from entrain_paper.figures.panels import (
    Results,
    by_dataset,
    heading,
    legend_below,
    method_key,
    panels,
)
from entrain_paper.figures.style import MAIN_METHODS, METHOD_COLOURS, METHOD_LINES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def time_resolved(results: Results) -> Figure:
    """Datasets as rows, output and hidden oscillators as columns."""
    datasets = by_dataset(results["time-resolved"]["rows"])
    figure, axes = panels(
        len(datasets), 2, (8.0, 2.4 * len(datasets) + 0.7), sharex=True, sharey="col"
    )
    for line, (dataset, rows) in zip(axes, datasets.items(), strict=True):
        for axis, row in zip(line, rows, strict=True):
            for key, method in MAIN_METHODS.items():
                axis.plot(
                    np.linspace(0.0, 1.0, len(row[key])),
                    row[key],
                    color=METHOD_COLOURS[method],
                    linestyle=METHOD_LINES[method],
                    linewidth=1.7,
                )
            heading(axis, f"{dataset}, {row['nodes']} oscillators")
            axis.set_ylim(bottom=0.0)
            axis.set_xlim(0.0, 1.0)
        line[0].set_ylabel(r"RMSE of $\cos\theta(t)$")
    for axis in axes[-1]:
        axis.set_xlabel("time $t / t_f$")
    legend_below(figure, [method_key(m, line=True, marker="none") for m in MAIN_METHODS.values()])
    return figure
