"""How rounding tells oscillators apart that began alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain.figures.panels import Results, panels
from entrain.figures.style import CLASS_COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS: dict[str, dict[str, Any]] = {
    "float32": {"color": CLASS_COLOURS[3], "linestyle": "-"},
    "float64": {"color": CLASS_COLOURS[0], "linestyle": "--"},
}


def from_zero_symmetry(results: Results) -> Figure:
    """The largest difference between two rows of W, as a share of the largest weight."""
    figure, axes = panels(1, 1, (5.6, 3.6))
    axis = axes[0, 0]
    for row in results["from-zero-symmetry"]["rows"]:
        share = [
            s / z if s and z else None for s, z in zip(row["spread"], row["size"], strict=True)
        ]
        steps = [index + 1 for index, each in enumerate(share) if each is not None]
        known = [each for each in share if each is not None]
        axis.plot(steps, known, linewidth=1.4, label=row["arithmetic"], **_LOOKS[row["arithmetic"]])
    axis.set_yscale("log")
    axis.axhline(1.0, color="#555555", linewidth=0.8, linestyle=":")
    axis.set_xlim(left=0)
    axis.set_xlabel("step of training from exact zero")
    axis.set_ylabel("spread of rows of $W$ / largest weight")
    axis.legend(fontsize=8.5, frameon=False, handlelength=3)
    return figure
