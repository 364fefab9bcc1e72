"""The figure of benchmarks/circuits.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import CLASS_COLOURS, COLUMN, STYLE, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_circuits(path: Path, results: dict[str, Any]) -> None:
    """Draw the error of LC oscillators against cycles, and the accuracy of the integer model
    against word lengths."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN, 3.8), layout="constrained")
    with rc_context(STYLE):
        left, right = figure.subplots(1, 2)
    for axis, letter in ((left, "(a)"), (right, "(b)")):
        axis.set_title(letter, loc="left", fontsize=9.5, fontweight="bold")
    if "cycles" in results:
        _against_cycles(left, results["cycles"]["rows"])
    if "words" in results:
        _against_words(right, results["words"]["rows"])
    save(figure, path)


def _against_cycles(axis: Axes, rows: list[dict[str, Any]]) -> None:
    cycles = [row["target"]["cycles"] for row in rows]
    for row, count in zip(rows, cycles, strict=True):
        largest = row["largest_of_each_image"]
        axis.plot([count] * len(largest), largest, ".", color=CLASS_COLOURS[0], ms=5)
    medians = [float(np.median(row["largest_of_each_image"])) for row in rows]
    axis.plot(cycles, medians, "-", color=CLASS_COLOURS[0], label="largest of each image, median")
    axis.plot(
        cycles,
        [row["median_difference"] for row in rows],
        "--s",
        color=CLASS_COLOURS[3],
        markerfacecolor="none",
        label="all cosines, median",
    )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(cycles, [f"{count:g}" for count in cycles])
    axis.set_xticks([], minor=True)
    axis.set_xlabel("cycles of the LC oscillators before the reading")
    axis.set_ylabel("difference of cosines from the phase model")
    axis.set_title("LC oscillators in ngspice", fontsize=9.5)
    axis.legend(fontsize=8, frameon=False)


def _against_words(axis: Axes, rows: list[dict[str, Any]]) -> None:
    names = {"phase": "o-", "coupling": "s--", "sine": "^-.", "address": "d:"}
    model = rows[0]["model"]
    swept = [row for row in rows if row["model"] == model]
    for index, (name, style) in enumerate(names.items()):
        line = sorted((row[name], row["top1"]) for row in swept if row["swept"] == name)
        colour = CLASS_COLOURS[(0, 3, 2, 5)[index]]
        axis.plot(
            *zip(*line, strict=True), style, color=colour, markerfacecolor="none", label=name, ms=5
        )
    exact = swept[0]["float"]
    axis.axhline(exact, color="#555555", lw=0.8, ls=":", label="floating point")
    axis.axhline(exact - 0.1, color="#aaaaaa", lw=0.8, ls=":", label="0.1 points below")
    axis.set_ylim(swept[0]["float"] - 2.0, swept[0]["float"] + 0.15)
    axis.set_xlabel("bits")
    axis.set_ylabel("test top-1 accuracy (%)")
    axis.set_title(f"{model} in integers", fontsize=9.5)
    axis.legend(fontsize=8, frameon=False, title="bits of", title_fontsize=8)
