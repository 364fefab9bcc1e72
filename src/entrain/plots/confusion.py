"""The confusion matrix of a model: true classes as rows, predicted ones as columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from entrain.plots.style import label, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from entrain.evaluation.class_report import ClassReport

_MOST_COUNTS = 20  # classes whose cells have numbers and whose names are all drawn
_DARK = 0.6  # of the darkest cell, on which numbers are white


def confusion_matrix(
    report: ClassReport, path: Path | str | None = None, title: str = ""
) -> Figure:
    """A figure of the counts, shaded by their share of the true class.

    Args:
        report: Result of `Model.report`.
        path: File to write as well: .png, .pdf or .svg.
        title: Title of the figure.

    Examples:
        >>> test = entrain.load_test_split("mnist").rows(slice(500))
        >>> report = entrain.load("mnist-74").report(test.features, test.labels)
        >>> figure = entrain.plots.confusion_matrix(report)
        >>> len(figure.axes)
        2
    """
    from matplotlib.figure import Figure

    counts, names = report.confusion, [label(name) for name in report.class_names]
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    size = min(9.0, 2.2 + 0.42 * len(names))
    figure = Figure(figsize=(size + 0.8, size), layout="constrained")
    axis = figure.subplots()
    image = axis.imshow(shares, "Blues", vmin=0.0, vmax=1.0)
    figure.colorbar(image, label="share of the true class", shrink=0.8)
    if len(names) <= _MOST_COUNTS:
        ticks = range(len(names))
        for row, column in np.argwhere(counts > 0).tolist():
            colour = "white" if shares[row, column] > _DARK else "black"
            text = f"{counts[row, column]}"
            axis.text(column, row, text, ha="center", va="center", color=colour, fontsize=7.5)
    else:
        ticks = range(0, len(names), -(-len(names) // _MOST_COUNTS))
    axis.set_xticks(ticks, [names[i] for i in ticks], rotation=45, ha="right", fontsize=8)
    axis.set_yticks(ticks, [names[i] for i in ticks], fontsize=8)
    axis.set(xlabel="predicted class", ylabel="true class")
    axis.set_title(title or f"{counts.sum():,} examples, {report.accuracy:.2%} right", fontsize=10)
    if path is not None:
        save(figure, Path(path))
    return figure
