"""How rounding separates oscillators that start equal."""

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


_ZERO = 1e-9  # where rows that do not differ in any bit are drawn, on a logarithmic scale
_MARKS = {"ZERO-END-ONLY": "o", "Z-END": "s"}


def from_zero_symmetry(results: Results) -> Figure:
    """The largest difference between two rows of W: over steps, and at the end of every order."""
    figure, axes = panels(1, 2, (10.4, 3.8))
    over_steps, ends = axes[0]
    values = results["from-zero-symmetry"]
    for row in values["rows"]:
        share = [
            s / z if s and z else _ZERO for s, z in zip(row["spread"], row["size"], strict=True)
        ]
        look = _LOOKS[row["arithmetic"]]
        over_steps.plot(row["step"], share, linewidth=1.4, label=row["arithmetic"], **look)
    over_steps.set_xlim(left=0)
    over_steps.set_xlabel("training step of ZERO-END-ONLY, order 0")
    over_steps.set_ylabel("spread of rows of $W$ / largest weight")
    for index, (method, mark) in enumerate(_MARKS.items()):
        runs = [run for run in values["runs"] if run["method"] == method]
        ends.plot(
            [run["top1"] for run in runs],
            [max(run["spread"], _ZERO) for run in runs],
            mark,
            color=CLASS_COLOURS[(3, 0)[index]],
            markerfacecolor="none",
            label=f"{method}, {len(runs)} training orders",
        )
    ends.set_xlabel("test top-1 accuracy (%)")
    ends.set_ylabel("spread of rows of $W$, selected epoch")
    for axis in (over_steps, ends):
        axis.set_yscale("log")
        axis.axhline(_ZERO, color="#555555", linewidth=0.8, linestyle=":")
        axis.set_ylim(_ZERO / 4, 30.0)
        axis.text(0.98, _ZERO * 1.6, "equal in every bit", ha="right", fontsize=8,
                  transform=axis.get_yaxis_transform())  # fmt: skip
        axis.legend(fontsize=8.5, frameon=False, handlelength=3)
    return figure
