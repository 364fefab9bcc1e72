"""What an inference costs: the energy of each design, and its shares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import CLASS_COLOURS, save

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
    """One row per design: the range of the energy of an inference on a logarithmic axis, and the
    share of each part in the typical energy."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 1.7 + 0.45 * len(systems)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _energies(left, systems)
    _shares(right, systems)
    left.set_yticks(range(len(systems)), [each["title"] for each in systems], fontsize=8)
    left.invert_yaxis()
    left.set_title(title, fontsize=9.5)
    handles, names = right.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=6, fontsize=7.5, frameon=False)
    save(figure, path)


def _energies(axis: Axes, systems: Sequence[dict[str, Any]]) -> None:
    for place, each in enumerate(systems):
        energy = each["energy"]
        axis.plot(
            [energy["low"], energy["high"]],
            [place, place],
            "-",
            color="#888888",
            lw=5,
            solid_capstyle="butt",
        )
        axis.plot(energy["typical"], place, "o", color="black", ms=5)
    axis.set_xscale("log")
    axis.grid(axis="x", color="#dddddd", lw=0.6)
    axis.set_axisbelow(True)
    axis.set_xlabel("energy of one inference (J): range and typical value")


def _shares(axis: Axes, systems: Sequence[dict[str, Any]]) -> None:
    start = np.zeros(len(systems))
    for name, colour in _COLOURS.items():
        shares = np.array([_share(each, name) for each in systems])
        if not shares.any():
            continue
        axis.barh(range(len(systems)), shares, left=start, color=colour, label=name, height=0.62)
        start += shares
    axis.set_xlim(0.0, 100.0)
    axis.set_xlabel("share of the typical energy (%)")


def _share(system: dict[str, Any], name: str) -> float:
    whole = system["energy"]["typical"]
    part = sum(each["energy"]["typical"] for each in system["parts"] if each["name"] == name)
    return 100.0 * part / whole if whole else 0.0
