"""Digit accuracy against the number of oscillators, among published networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from entrain.figures.labels import label_points
from entrain.figures.panels import Results, number, panels
from entrain.figures.style import METHOD_COLOURS, METHOD_MARKERS, published_look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "o^Dv<>pP"
_OURS = "TWO-STAGE-END"


def oscillator_scale(results: Results) -> Figure:
    """Filled markers on standard MNIST, open ones on other digit tasks."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullLocator

    values = results["oscillator-scale"]
    figure, axes = panels(1, 1, (6.2, 4.0))
    axis = axes[0, 0]
    axis.plot(
        [row["oscillators"] for row in values["ours"]],
        [number(row["top1"]) for row in values["ours"]],
        color=METHOD_COLOURS[_OURS],
        marker=METHOD_MARKERS[_OURS],
        markersize=7,
        linewidth=1.4,
        label=f"ours, {_OURS}",
    )
    for index, row in enumerate(values["others"]):
        look = published_look(row["standard"], _MARKERS[index % len(_MARKERS)])
        axis.plot(row["oscillators"], number(row["top1"]), **look)
    counts = sorted({row["oscillators"] for row in [*values["ours"], *values["others"]]})
    axis.set_xscale("log")
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.2, y=0.12)
    axis.set_xlabel("oscillators that evolve in inference")
    axis.set_ylabel("test top-1 accuracy (%)")
    keys = [
        axis.lines[0],
        Line2D([], [], label="published, MNIST", **published_look(True)),
        Line2D([], [], label="published, other digit tasks", **published_look(False)),
    ]
    axis.legend(handles=keys, fontsize=8.5, frameon=False, loc="lower right")
    figure.draw_without_rendering()  # settles the layout, which the labels go by
    points = [(row["oscillators"], number(row["top1"])) for row in values["others"]]
    names = [
        row["system"] if row["standard"] else f"{row['system']} ({row['task']})"
        for row in values["others"]
    ]
    label_points(axis, names, points, np.array(points), size=9.0)
    return figure
