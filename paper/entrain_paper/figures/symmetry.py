"""Differences between oscillators with the same start, which only rounding can cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain.plots.style import CLASS_COLOURS
from entrain_paper.figures.panels import Results, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS: dict[str, dict[str, Any]] = {
    "float32": {"color": CLASS_COLOURS[3], "linestyle": "-"},
    "float64": {"color": CLASS_COLOURS[0], "linestyle": "--"},
}
_MARKS = {"ZERO-END-ONLY": "o", "Z-END": "s"}


def from_zero_symmetry(results: Results) -> Figure:
    """Largest difference between two rows of W, over steps and after every training order."""
    figure, axes = panels(1, 2, (10.4, 3.8))
    over_steps, ends = axes[0]
    values = results["from-zero-symmetry"]
    shares = [
        [s / z if z else 0.0 for s, z in zip(row["spread"], row["size"], strict=True)]
        for row in values["rows"]
    ]
    zero = _zero_level([value for share in shares for value in share])
    for row, share in zip(values["rows"], shares, strict=True):
        look, heights = _LOOKS[row["arithmetic"]], [max(value, zero) for value in share]
        over_steps.plot(row["step"], heights, linewidth=1.4, label=row["arithmetic"], **look)
    _logarithmic(over_steps, zero)
    over_steps.set_xlim(left=0)
    over_steps.set_xlabel("training step of ZERO-END-ONLY, order 0")
    over_steps.set_ylabel("spread of rows of $W$ / largest weight")
    zero = _zero_level([run["spread"] for run in values["runs"]])
    for index, (method, mark) in enumerate(_MARKS.items()):
        runs = [run for run in values["runs"] if run["method"] == method]
        ends.plot(
            [run["top1"] for run in runs],
            [max(run["spread"], zero) for run in runs],
            mark,
            color=CLASS_COLOURS[(3, 0)[index]],
            markerfacecolor="none",
            label=f"{method}, {len(runs)} training orders",
        )
    ends.set_xlabel("test top-1 accuracy (%)")
    ends.set_ylabel("spread of rows of $W$, selected epoch")
    _logarithmic(ends, zero)
    return figure


def _zero_level(spreads: list[float]) -> float:
    """Position of a spread of 0 on a logarithmic scale, two decades below the smallest other."""
    return min((spread for spread in spreads if spread > 0.0), default=1.0) / 100.0


def _logarithmic(axis: Axes, zero: float) -> None:
    axis.set_yscale("log")
    axis.axhline(zero, color="#555555", linewidth=0.8, linestyle=":")
    axis.set_ylim(zero / 4, 30.0)
    text: dict[str, Any] = {
        "ha": "right",
        "va": "bottom",
        "fontsize": 8,
        "transform": axis.get_yaxis_transform(),
    }
    axis.text(0.98, zero * 1.6, "equal in every bit", **text)
    axis.legend(fontsize=8.5, frameon=False, handlelength=3)
