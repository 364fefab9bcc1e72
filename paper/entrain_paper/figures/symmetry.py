"""Differences between oscillators with the same start, which only rounding can cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import CLASS_COLOURS, COLUMN
from entrain_paper.figures.panels import Results, heading, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS: dict[str, dict[str, Any]] = {
    "float32": {"color": CLASS_COLOURS[3], "linestyle": "-"},
    "float64": {"color": CLASS_COLOURS[0], "linestyle": "--"},
}
_MARKS = {"ZERO-END-ONLY": "o", "Z-END": "s"}


def from_zero_symmetry(results: Results) -> Figure:
    """Largest difference between two rows of W, over steps and after every training order. A strip
    of its own under each logarithmic axis is for zero."""
    figure, axes = panels(2, 2, (COLUMN, 4.0), sharex="col", height_ratios=[8, 1])
    values = results["from-zero-symmetry"]
    for row in values["rows"]:
        share = [s / z if z else 0.0 for s, z in zip(row["spread"], row["size"], strict=True)]
        look = {"linewidth": 1.4, "label": row["arithmetic"]} | _LOOKS[row["arithmetic"]]
        _with_zero(axes[:, 0], row["step"], share, **look)
    axes[0, 0].set_xlim(left=0)
    axes[1, 0].set_xlabel("training step of ZERO-END-ONLY, order 0")
    axes[0, 0].set_ylabel("spread of rows of $W$ / largest weight")
    for index, (method, mark) in enumerate(_MARKS.items()):
        runs = [run for run in values["runs"] if run["method"] == method]
        look = {
            "marker": mark,
            "linestyle": "none",
            "color": CLASS_COLOURS[(3, 0)[index]],
            "markerfacecolor": "none",
            "label": f"{method}, {len(runs)} training orders",
        }
        tops, spreads = [run["top1"] for run in runs], [run["spread"] for run in runs]
        _with_zero(axes[:, 1], tops, spreads, **look)
    axes[1, 1].set_xlabel("test top-1 accuracy (%)")
    axes[0, 1].set_ylabel("spread of rows of $W$, selected epoch")
    heading(axes[0, 0], "during training", "a")
    heading(axes[0, 1], "selected networks", "b")
    for above, below in axes.T:
        _break(above, below)
    return figure


def _with_zero(axes: Any, x: list[float], values: list[float], **look: Any) -> None:
    """Draw positive values above on a logarithmic axis, and zeros in the strip below."""
    above, below = axes
    positive = [value if value > 0.0 else float("nan") for value in values]
    zeros = [0.0 if value == 0.0 else float("nan") for value in values]
    above.plot(x, positive, **look)
    below.plot(x, zeros, **(look | {"label": "_"}))


def _break(above: Axes, below: Axes) -> None:
    """Join a logarithmic panel and its strip for zero."""
    heights = [np.asarray(line.get_ydata(), dtype=float) for line in above.get_lines()]
    drawn = np.concatenate(heights) if heights else np.empty(0)
    if (drawn > 0.0).any():
        above.set_yscale("log")
        above.set_ylim(top=30.0 * float(drawn[drawn > 0.0].max()))
    above.tick_params(bottom=False)
    above.spines["bottom"].set_visible(False)
    below.set_ylim(-1.0, 1.0)
    below.set_yticks([0.0], ["0"])
    text: dict[str, Any] = {"transform": below.transAxes, "ha": "right", "fontsize": 7.5}
    below.text(0.99, 0.1, "equal in every bit", **text)
    below.set_facecolor("#f4f4f4")
    above.legend(fontsize=8.5, frameon=False, handlelength=3)
