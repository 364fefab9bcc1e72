"""Time of a training step against batch, oscillators and steps, log-log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain.plots.style import COLUMN, class_colour
from entrain.utils import escape
from entrain_paper.figures.panels import log_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELS = {"batch": "samples $B$", "oscillators": "oscillators $N$", "steps": "steps $K$"}
_MARKERS = "osD^v"


def growth_figure(axes: dict[str, Any], title: str) -> Figure:
    """One panel per axis of `bench.growth`, with the fitted exponents in their legends."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    figure = Figure(figsize=(COLUMN, 3.2), layout="constrained")
    panels = figure.subplots(1, max(1, len(axes)), sharey=True, squeeze=False)[0]
    for panel, (name, axis) in zip(panels, axes.items(), strict=False):
        for index, (backend, values) in enumerate(axis["ms"].items()):
            panel.plot(
                axis["sizes"],
                values,
                marker=_MARKERS[index % len(_MARKERS)],
                color=class_colour(index),
                label=f"{axis['exponent'][backend]:.2f}",
            )
        times = [time for values in axis["ms"].values() for time in values]
        log_scale(panel, "x", axis["sizes"])
        log_scale(panel, "y", times)
        panel.set_xlabel(_LABELS.get(name, name))
        panel.set_xticks(axis["sizes"])
        panel.xaxis.set_major_formatter(ScalarFormatter())
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.grid(True, which="major", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
        panel.xaxis.label.set_size(9)
        panel.legend(
            fontsize=8, title="exponent", title_fontsize=8, frameon=False, loc="upper left"
        )
        panel.margins(y=0.25)
    panels[0].set_ylabel("training step (ms)", fontsize=9)
    names = [backend for axis in list(axes.values())[:1] for backend in axis["ms"]]
    figure.legend(
        panels[0].lines, names, loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    figure.suptitle(escape.mathtext(title), fontsize=11)
    return figure
