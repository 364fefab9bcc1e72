"""Accuracy, agreement and endpoint error of the main methods over training orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.figures.panels import (
    METRIC_LABELS,
    PAPER_KEYS,
    RMSE,
    Results,
    by_dataset,
    heading,
    legend_below,
    means,
    method_key,
    panels,
    paper_key,
    paper_marks,
    run_key,
    runs,
)
from entrain.figures.reference import paper_row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def main_performance(results: Results) -> Figure:
    """One panel per metric, the datasets side by side in each."""
    datasets = by_dataset(results["multiseed"]["rows"])
    methods = list(dict.fromkeys(row["method"] for row in results["multiseed"]["rows"]))
    figure, axes = panels(1, 3, (10.0, 3.6))
    group = len(methods) + 0.8
    for letter, axis, metric in zip("abc", axes[0], METRIC_LABELS, strict=True):
        for place, (dataset, rows) in enumerate(datasets.items()):
            for row in rows:
                x = place * group + methods.index(row["method"])
                mean, sd = row["mean"][metric], row["sd"][metric]
                means(axis, [x], [mean], [sd], row["method"], markersize=7.5)
                runs(axis, x, [run[metric] for run in row["runs"]], 0.5)
                printed = paper_row("multiseed", dataset=dataset, method=row["method"])
                known = printed.get(f"{PAPER_KEYS[metric]}_mean")
                paper_marks(axis, [x + 0.42], [known], row["method"])
        middle = (len(methods) - 1) / 2
        axis.set_xticks([place * group + middle for place in range(len(datasets))], list(datasets))
        axis.set_xlim(-0.7, len(datasets) * group - 0.9)
        axis.grid(False, axis="x")
        axis.set_ylabel(METRIC_LABELS[metric])
        heading(axis, "lower is better" if metric == RMSE else "", letter)
        axis.margins(y=0.1)
    legend_below(figure, [*(method_key(method) for method in methods), run_key(), paper_key()])
    return figure
