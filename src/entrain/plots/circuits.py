"""A simulated circuit against the phase model: traces of the outputs, and scores of all images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from entrain.plots.style import CLASS_COLOURS, COLUMN, class_colour, label, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from entrain.export import Verification

_MOST_NAMES = 20  # in a legend


def draw_verification(path: Path, verification: Verification, class_names: tuple[str, ...]) -> None:
    """Draw the scores and, of a netlist, the output cosines of the first image over time.

    Args:
        path: Figure to write.
        verification: Result of `entrain.export.verify`.
        class_names: Names of the outputs.
    """
    from matplotlib.figure import Figure

    traced = verification.simulated_phases is not None
    figure = Figure(figsize=(COLUMN if traced else 4.6, 3.9), layout="constrained")
    axes = figure.subplots(1, 2 if traced else 1, squeeze=False)[0]
    if traced:
        _traces(axes[0], verification, class_names)
    _scores(axes[-1], verification)
    save(figure, path)


def _traces(axis: Axes, verification: Verification, class_names: tuple[str, ...]) -> None:
    simulated, expected = verification.simulated_phases, verification.python_phases
    assert simulated is not None
    assert expected is not None
    names = [label(name) for name in class_names]
    times = np.linspace(0.0, 1.0, len(simulated))
    for k, name in enumerate(names):
        colour, column = class_colour(k), k - len(names)
        axis.plot(times, np.cos(expected[:, column]), color=colour, alpha=0.45, lw=3.0)
        axis.plot(times, np.cos(simulated[:, column]), color=colour, lw=1.1, label=name)
    title = _title(verification, names)
    axis.set(xlabel="time / observation time", ylabel=r"$\cos\theta$ of the outputs")
    axis.set_title(f"{title}: {verification.simulator} (thin), Python (wide)", fontsize=9.5)
    if len(names) <= _MOST_NAMES:
        axis.legend(fontsize=7, frameon=False, ncols=2, loc="center right")


def _title(verification: Verification, names: list[str]) -> str:
    """The first image and its label, or the first run of an Ising machine and its value."""
    if measure := verification.details.get("measure"):
        return f"run 0, {measure} {verification.verdicts[0]:,}"
    true = verification.labels[0]
    return f"image 0, {'without a label' if true < 0 else f'a {names[true]}'}"


def _scores(axis: Axes, verification: Verification) -> None:
    axis.plot([-1, 1], [-1, 1], color="#888888", lw=0.8)
    wanted, scores = verification.wanted.ravel(), verification.scores.ravel()
    axis.plot(wanted, scores, ".", ms=3.5, color=CLASS_COLOURS[0])
    axis.set_aspect("equal")
    subject = "runs" if "measure" in verification.details else "predictions"
    axis.set(xlabel=r"$\cos\theta$ at the end, Python", ylabel=verification.simulator)
    axis.set_title(
        f"{verification.agree} of {verification.images} {subject} agree; largest difference "
        f"{verification.max_difference:.2g}",
        fontsize=9.5,
    )
