"""A calibrated chip: its couplings, field gains and frequencies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from entrain.plots.style import CLASS_COLOURS, COLUMN, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from entrain.calibration import Calibration

_GREY = "#888888"


def draw_calibration(path: Path, calibration: Calibration) -> None:
    """Draw estimated against programmed couplings, field gains and frequencies, with errors.

    Args:
        path: Figure to write.
        calibration: Result of `entrain.calibrate`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN, 3.2), layout="constrained")
    couplings, fields, frequencies = figure.subplots(1, 3)
    _couplings(couplings, calibration)
    _by_oscillator(fields, calibration, "fields", "field gain - 1")
    _by_oscillator(frequencies, calibration, "frequencies", "frequency (rad per unit of time)")
    save(figure, path)


def _couplings(axis: Axes, calibration: Calibration) -> None:
    first, second = calibration.unknowns.pairs.T
    programmed = calibration.unknowns.programmed[first, second]
    _, errors = calibration.part("couplings")
    axis.axline((0, 0), slope=1, color=_GREY, lw=0.8)
    axis.errorbar(
        programmed,
        calibration.couplings[first, second],
        yerr=np.abs(programmed) * errors,
        fmt=".",
        ms=2.5,
        lw=0.5,
        color=CLASS_COLOURS[0],
    )
    axis.set(xlabel="programmed coupling", ylabel="estimated coupling")
    axis.set_title(f"{len(programmed):,} couplers, {calibration.traces:,} traces", fontsize=9.5)


def _by_oscillator(axis: Axes, calibration: Calibration, name: str, label: str) -> None:
    estimate, errors = calibration.part(name)
    axis.axhline(0, color=_GREY, lw=0.8)
    axis.errorbar(
        range(len(estimate)), estimate, yerr=errors, fmt=".", ms=4, lw=0.8, color=CLASS_COLOURS[1]
    )
    axis.set(xlabel="oscillator", ylabel=label)
