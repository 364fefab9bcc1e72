"""Output activations of chosen test examples, by dataset and kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from entrain.plots.trajectories import AMID, Bounds, trajectories
from entrain_paper.figures.panels import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {
    "correct": "{}: correctly classified examples",
    "misclassified": "{}: misclassified examples, predicted class (true class)",
}
# To the upper left: no output rises soon, and a wrong winner rises little.
_ABOVE: Bounds = (0.03, 0.62, 0.36, 0.36)


def examples(dataset: str, kind: str) -> Callable[[Results], Figure]:
    """The function that draws one row of `output-dynamics`."""

    def draw(results: Results) -> Figure:
        title = _TITLES[kind].format(dataset)
        for row in results["output-dynamics"]["rows"]:
            if (row["dataset"], row["kind"]) == (dataset, kind) and row["labels"]:
                return trajectories(
                    np.asarray(row["images"]),
                    np.asarray(row["outputs"]).transpose(2, 0, 1),  # (n, O, times) before
                    np.asarray(row["labels"]),
                    tuple(row["class_names"]),
                    title,
                    bounds=AMID if kind == "correct" else _ABOVE,
                )
        return _nothing(title)

    return draw


def _nothing(title: str) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 1.2), layout="constrained")
    figure.suptitle(title, fontsize=11)
    figure.text(0.5, 0.35, "no such example", ha="center", fontsize=10)
    return figure
