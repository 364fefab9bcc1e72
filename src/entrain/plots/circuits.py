"""A circuit compared with the phase model: traces of the outputs, and scores of all images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import CLASS_COLOURS, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from entrain.export import Verification


def draw_verification(path: Path, found: Verification, class_names: tuple[str, ...]) -> None:
    """Output cosines of the first image over time, if there are traces, and all scores."""
    from matplotlib.figure import Figure

    traced = found.simulated_phases is not None
    figure = Figure(figsize=(9.6 if traced else 4.6, 3.9), layout="constrained")
    axes = figure.subplots(1, 2 if traced else 1, squeeze=False)[0]
    if traced:
        _traces(axes[0], found, class_names)
    _scores(axes[-1], found)
    save(figure, path)


def _traces(axis: Axes, found: Verification, class_names: tuple[str, ...]) -> None:
    assert found.simulated_phases is not None
    assert found.python_phases is not None
    outputs = len(class_names)
    class_names = tuple(name.replace("$", r"\$") for name in class_names)  # a word, no formula
    times = np.linspace(0.0, 1.0, len(found.simulated_phases))
    for k, name in enumerate(class_names):
        colour = CLASS_COLOURS[k % len(CLASS_COLOURS)]
        column = k - outputs
        axis.plot(times, np.cos(found.python_phases[:, column]), color=colour, alpha=0.45, lw=3.0)
        axis.plot(
            times, np.cos(found.simulated_phases[:, column]), color=colour, lw=1.1, label=name
        )
    axis.set_xlabel("time / observation time")
    axis.set_ylabel(r"$\cos\theta$ of the outputs")
    axis.set_title(
        f"image 0, {_labelled(found, class_names)}: {found.simulator} (thin), Python (wide)",
        fontsize=9.5,
    )
    axis.legend(fontsize=7, frameon=False, ncols=2, loc="center right")


def _labelled(found: Verification, class_names: tuple[str, ...]) -> str:
    label = found.labels[0]
    return "without a label" if label < 0 else f"a {class_names[label]}"


def _scores(axis: Axes, found: Verification) -> None:
    axis.plot([-1, 1], [-1, 1], color="#888888", lw=0.8)
    axis.plot(found.wanted.ravel(), found.scores.ravel(), ".", ms=3.5, color=CLASS_COLOURS[0])
    axis.set_aspect("equal")
    axis.set_xlabel(r"$\cos\theta$ at the end, Python")
    axis.set_ylabel(rf"{found.simulator}")
    axis.set_title(
        f"{found.agree} of {found.images} predictions agree; largest difference "
        f"{found.max_difference:.2g}",
        fontsize=9.5,
    )


def draw_circuits(path: Path, found: dict[str, Any]) -> None:
    """What `benchmarks/circuits.py` measured: LC oscillators against cycles, and accuracy of the
    integer model against word lengths."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    if "cycles" in found:
        _against_cycles(left, found["cycles"]["rows"])
    if "words" in found:
        _against_words(right, found["words"]["rows"])
    save(figure, path)


def _against_cycles(axis: Axes, rows: list[dict[str, Any]]) -> None:
    cycles = [row["target"]["cycles"] for row in rows]
    for row, each in zip(rows, cycles, strict=True):
        largest = row["largest_of_each_image"]
        axis.plot([each] * len(largest), largest, ".", color=CLASS_COLOURS[0], ms=5)
    middle = [float(np.median(row["largest_of_each_image"])) for row in rows]
    axis.plot(cycles, middle, "-", color=CLASS_COLOURS[0], label="largest of each image, median")
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
    axis.set_xticks(cycles, [f"{each:g}" for each in cycles])
    axis.set_xticks([], minor=True)
    axis.set_xlabel("cycles of the LC oscillators before the reading")
    axis.set_ylabel("difference of cosines from the phase model")
    axis.legend(fontsize=8, frameon=False)


def _against_words(axis: Axes, rows: list[dict[str, Any]]) -> None:
    names = {"phase": "o-", "coupling": "s--", "sine": "^-.", "address": "d:"}
    model = rows[0]["model"]
    ours = [row for row in rows if row["model"] == model]
    for index, (name, look) in enumerate(names.items()):
        line = sorted((row[name], row["top1"]) for row in ours if row["swept"] == name)
        colour = CLASS_COLOURS[(0, 3, 2, 5)[index]]
        axis.plot(
            *zip(*line, strict=True), look, color=colour, markerfacecolor="none", label=name, ms=5
        )
    axis.axhline(ours[0]["float"], color="#555555", lw=0.8, ls=":")
    axis.axhline(ours[0]["float"] - 0.1, color="#bbbbbb", lw=0.8, ls=":")
    axis.set_ylim(ours[0]["float"] - 2.0, ours[0]["float"] + 0.15)
    axis.set_xlabel("bits")
    axis.set_ylabel("test top-1 accuracy (%)")
    axis.set_title(f"{model} in integers; dotted: float, and 0.1 points below", fontsize=9.5)
    axis.legend(fontsize=8, frameon=False, title="bits of", title_fontsize=8)
