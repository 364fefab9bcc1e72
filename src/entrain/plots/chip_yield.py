"""The yield of a model: accuracies of chips as a histogram, and the cost of each effect."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.plots.style import CLASS_COLOURS, COLUMN, label, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 4  # per row of strengths


def draw_yield(path: Path, result: dict[str, Any]) -> None:
    """Draw the accuracies of chips and, if measured, the cost of each effect and the accuracy
    against its strength.

    Args:
        path: Figure to write.
        result: What `entrain yield --json` prints.
    """
    from matplotlib.figure import Figure

    effects, strengths = result.get("effects"), result.get("strengths") or {}
    rows = -(-len(strengths) // _PANELS)
    heights = [3.8] + ([2.4 * rows] if rows else [])
    width = COLUMN if effects or strengths else 4.6
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    axes = parts[0].subplots(1, 2 if effects else 1, squeeze=False)[0]
    _histogram(axes[0], result)
    if effects:
        _costs(axes[1], result)
    if rows:
        panels = parts[1].subplots(rows, _PANELS, squeeze=False, sharey=True)
        _strengths(panels, strengths)
        title = "mean and 5th to 95th percentile of chips, against the strength of one effect"
        parts[1].suptitle(title, fontsize=9)
    save(figure, path)


def _histogram(axis: Axes, result: dict[str, Any]) -> None:
    axis.hist(result["accuracies"], bins="auto", color=CLASS_COLOURS[5], edgecolor="white")
    low, high = result["intervals"]["mean"]
    axis.axvspan(low, high, color="black", alpha=0.15, linewidth=0)
    mean = f"mean {result['mean']:.2f} ({result['confidence']} %: {low:.2f} to {high:.2f})"
    for value, line, name in (
        (result["mean"], "-", mean),
        (result["p5"], "--", f"5th percentile {result['p5']:.2f}"),
        (result["ideal"], ":", f"ideal network {result['ideal']:.2f}"),
    ):
        axis.axvline(value, linestyle=line, color="black", linewidth=1.2, label=name)
    axis.set(xlabel="test top-1 accuracy of a chip (%)", ylabel="chips")
    name = result["hardware"].get("name")
    axis.set_title(f"{result['chips']} chips{f' of {label(name)}' if name else ''}", fontsize=10)
    # Below the axes: above them a line at a low accuracy would cross the legend.
    axis.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17))


def _costs(axis: Axes, result: dict[str, Any]) -> None:
    """A tornado plot: the cost of each effect alone to the left, the gain of its removal to the
    right."""
    rows = sorted(
        (
            (result["ideal"] - means["alone"], means["without"] - result["mean"], name)
            for name, means in result["effects"].items()
        ),
        key=lambda row: max(row[:2]),
    )
    positions = range(len(rows))
    upper, lower = ([position + shift for position in positions] for shift in (0.2, -0.2))
    # Side by side: either bar may have the other sign.
    axis.barh(upper, [-row[0] for row in rows], 0.4, color=CLASS_COLOURS[3], label="cost alone")
    axis.barh(lower, [row[1] for row in rows], 0.4, color=CLASS_COLOURS[2], label="gain without it")
    axis.set_yticks(positions, [row[2].replace("_", " ") for row in rows], fontsize=8)
    axis.axvline(0.0, color="black", linewidth=0.8)
    axis.set_xlabel("points of mean accuracy")
    axis.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def _strengths(panels: Any, strengths: dict[str, list[dict[str, Any]]]) -> None:
    """One panel per effect: mean accuracy and the 5th to 95th percentile against its strength, on
    a logarithmic axis. The marker at the strength of the hardware itself is filled."""
    for index, axis in enumerate(panels.flat):
        axis.set_axis_off() if index >= len(strengths) else axis.grid(alpha=0.3)
    for axis, (name, around) in zip(panels.flat, strengths.items(), strict=False):
        octaves = [math.log2(row["factor"]) for row in around]
        means = [row["mean"] for row in around]
        low, high = ([row[key] for row in around] for key in ("p5", "p95"))
        colour = CLASS_COLOURS[0]
        axis.fill_between(octaves, low, high, color=colour, alpha=0.2, linewidth=0)
        axis.plot(octaves, means, color=colour, marker="o", markerfacecolor="white", markersize=4)
        nominal = octaves.index(0.0)
        axis.plot(0.0, means[nominal], color=colour, marker="o", markersize=6)
        axis.axvline(0.0, color="black", linestyle=":", linewidth=0.8)
        axis.set_xlim(-2.3, 2.3)
        axis.set_xticks(octaves, [row["strength"] for row in around], rotation=35, ha="right")
        axis.tick_params(labelsize=7)
        axis.set_title(name.replace("_", " "), fontsize=9)
    for axis in panels[:, 0]:
        axis.set_ylabel("top-1 (%)", fontsize=8)
