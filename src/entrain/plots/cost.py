"""The energy of an inference in each design, and the shares of its parts."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import CLASS_COLOURS, COLUMN, STYLE, label, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {
    "weight memory": CLASS_COLOURS[0],
    "multiply-accumulate": CLASS_COLOURS[5],
    "crossbar cells": CLASS_COLOURS[8],
    "crossbar columns": CLASS_COLOURS[4],
    "input DACs": CLASS_COLOURS[1],
    "oscillators": CLASS_COLOURS[3],
    "couplers": CLASS_COLOURS[2],
    "readout": CLASS_COLOURS[7],
    "core clock": "#bbbbbb",
    "core logic": CLASS_COLOURS[9],
    "core memory": CLASS_COLOURS[6],
}


def draw_cost(path: Path, systems: Sequence[dict[str, Any]], title: str) -> None:
    """Draw a row per design: the range of its energy, and the shares of its parts.

    Args:
        path: Figure to write.
        systems: The values of "systems" in `Cost.to_json()`.
        title: Title of the figure.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN, 1.7 + 0.5 * len(systems)), layout="constrained")
    with rc_context(STYLE):
        left, right = figure.subplots(1, 2, sharey=True)
    _energies(left, systems)
    _shares(right, systems)
    left.set_yticks(
        range(len(systems)), [_lines(system["title"]) for system in systems], fontsize=8
    )
    left.invert_yaxis()
    left.set_title(label(title, 60), fontsize=9.5)
    for axis, letter in ((left, "(a)"), (right, "(b)")):
        axis.set_title(letter, loc="left", fontsize=9.5, fontweight="bold")
    handles, names = right.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    save(figure, path)


def _lines(title: str) -> str:
    """A title on lines of at most 30 characters."""
    return "\n".join(textwrap.wrap(label(title, 60), 30))


def _energies(axis: Axes, systems: Sequence[dict[str, Any]]) -> None:
    for row, system in enumerate(systems):
        energy = system["energy"]
        ends = [energy["low"], energy["high"]]
        axis.plot(ends, [row, row], "-", color="#888888", lw=5, solid_capstyle="butt")
        axis.plot(energy["typical"], row, "o", color="black", ms=5)
    if any(system["energy"]["high"] > 0 for system in systems):
        axis.set_xscale("log")
    axis.grid(False, axis="y")
    axis.set_xlabel("energy of one inference (J): range and typical value")


def _shares(axis: Axes, systems: Sequence[dict[str, Any]]) -> None:
    start = np.zeros(len(systems))
    for name, colour in _COLOURS.items():
        shares = np.array([_share(system, name) for system in systems])
        if not shares.any():
            continue
        axis.barh(range(len(systems)), shares, left=start, color=colour, label=name, height=0.62)
        start += shares
    axis.grid(False, axis="y")
    axis.set(xlim=(0.0, 100.0), xlabel="share of the typical energy (%)")


def _share(system: dict[str, Any], name: str) -> float:
    total = system["energy"]["typical"]
    energies = [part["energy"]["typical"] for part in system["parts"] if part["name"] == name]
    return 100.0 * sum(energies) / total if total else 0.0
