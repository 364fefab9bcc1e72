"""Four starts and two objectives with one optimiser: is the teacher needed?"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any

from entrain_paper.figures.panels import (
    TOP1,
    Results,
    Values,
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

Range = tuple[float, float]

_LOOKS = {"labels": "DIRECT", "teacher's outputs": "teacher"}  # looks of the objectives
_APART, _LEVEL = "exact zero", "96"


def teacher_needed(results: Results) -> Figure:
    """Starts across, objectives side by side; the axis is broken where exact zero is far below."""
    values = results["teacher-needed"]
    rows = values["rows"]
    ranges = _ranges(rows)
    options: dict[str, Any] = {"sharex": True}
    if len(ranges) > 1:
        options["gridspec_kw"] = {"height_ratios": (1.6, 1.0)}
    figure, axes = panels(len(ranges), 1, (7.0, 4.6), **options)
    starts = list(dict.fromkeys(row["start"] for row in rows))
    for axis, (low, high) in zip(axes[:, 0], ranges, strict=True):
        for row in rows:
            span = _span(row)
            if span and low <= span[0] <= high:
                side = -0.2 if row["objective"] == "labels" else 0.2
                _mark(axis, starts.index(row["start"]) + side, row, span[1])
        room = (high - low) or 1.0
        axis.set_ylim(low - 0.12 * room, high + 0.2 * room)
        axis.set_xlim(-0.6, len(starts) - 0.4)
        axis.grid(False, axis="x")
    axes[-1, 0].set_xticks(range(len(starts)), starts)
    axes[-1, 0].set_xlabel("start of training")
    figure.supylabel("test top-1 accuracy (%)", fontsize=9)
    heading(
        axes[0, 0],
        f"{values['dataset']}; above each marker: median epoch of {_LEVEL} % validation accuracy",
    )
    if len(ranges) > 1:
        _break(*axes[:, 0])
    keys = [method_key(look, label=f"trained on {objective}") for objective, look in _LOOKS.items()]
    legend_below(figure, [*keys, run_key()])
    return figure


def _span(row: Values) -> Range | None:
    """From the lowest to the highest mark of a row; None if there is none."""
    mean, sd = number(row["mean"][TOP1]), row["sd"][TOP1] or 0.0
    found = [mean - sd, mean + sd, *(number(run[TOP1]) for run in row["runs"])]
    known = [value for value in found if math.isfinite(value)]
    return (min(known), max(known)) if known else None


def _ranges(rows: list[Values]) -> list[Range]:
    """Limits of the axes, upper first. There are two if exact zero lies below all others."""
    spans = [(row["start"] == _APART, _span(row)) for row in rows]
    below = [span for apart, span in spans if apart and span]
    above = [span for apart, span in spans if not apart and span]
    found = [
        (min(low for low, _ in each), max(high for _, high in each))
        for each in (above, below)
        if each
    ]
    if len(found) == 2 and found[1][1] >= found[0][0]:
        return [(min(low for low, _ in found), max(high for _, high in found))]
    return found or [(0.0, 100.0)]


def _mark(axis: Axes, x: float, row: Values, top: float) -> None:
    look = _LOOKS.get(row["objective"], "teacher")
    means(axis, [x], [row["mean"][TOP1]], [row["sd"][TOP1]], look)
    runs(axis, x + 0.12, [run[TOP1] for run in row["runs"]], 0.1)
    axis.annotate(
        _reached(row["reached"].get(_LEVEL, [])),
        (x, top),
        (0, 6),
        textcoords="offset points",
        ha="center",
        fontsize=8,
    )


def _reached(epochs: list[int | None]) -> str:
    """The median epoch over runs. Runs that never reached the level count as later than all."""
    middle = (
        median(math.inf if epoch is None else epoch for epoch in epochs) if epochs else math.inf
    )
    return f"epoch {middle:g}" if math.isfinite(middle) else "never"


def _break(upper: Axes, lower: Axes) -> None:
    """The marks of a broken axis."""
    upper.spines["bottom"].set_visible(False)
    upper.tick_params(bottom=False)
    look: dict[str, Any] = {
        "marker": [(-1.0, -0.6), (1.0, 0.6)],
        "markersize": 9,
        "linestyle": "none",
        "color": "#222222",
        "clip_on": False,
    }
    upper.plot(0, 0, transform=upper.transAxes, **look)
    lower.plot(0, 1, transform=lower.transAxes, **look)
