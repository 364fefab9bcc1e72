"""Accuracy against couplers, bits and inputs of a chip, and the even part of its couplings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from entrain.plots.style import COLUMN
from entrain_paper.figures.error_scale import error_scale, spans
from entrain_paper.figures.panels import (
    Results,
    Values,
    heading,
    key,
    legend_below,
    log_scale,
    means,
    method_key,
    panels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

TRAINED = {"trained": "DIRECT for chips", "not_trained": "DIRECT"}  # and their looks
_LABELS = {"trained": "trained for it", "not_trained": "not trained for it"}


@dataclass(frozen=True)
class Curve:
    """A varied quantity: its name, the format of a value, and the axis label if it differs."""

    title: str
    form: Callable[[float], str]
    scale: Literal["linear", "log"] = "linear"
    label: str = ""


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _number(value: float) -> str:
    return f"{value:g}"


CURVES = {
    "couplers": Curve("couplers kept", _percent, "log"),
    "bits": Curve("bits per coupling", _number),
    "inputs": Curve("inputs per oscillator", _number, "log"),
    "lag": Curve("phase lag (rad)", _number, label="lag (rad) of the coupling sin(φ + lag)"),
    "second_even": Curve(
        "even second harmonic", _number, label="a of the coupling sin φ + a cos 2φ"
    ),
}


def chip_curves(experiment: str) -> Callable[[Results], Figure]:
    """The function that draws an experiment, one panel per curve."""

    def draw(results: Results) -> Figure:
        values = results[experiment]
        curves = list(dict.fromkeys(row["curve"] for row in values["rows"]))
        figure, axes = panels(1, len(curves), (min(COLUMN, 3.5 * len(curves)), 3.5), sharey=True)
        for letter, axis, curve in zip("abcd", axes[0], curves, strict=False):
            _plot_curve(
                axis, [row for row in values["rows"] if row["curve"] == curve], CURVES[curve]
            )
            axis.axhline(values["ideal"], color="#555555", linestyle=":", linewidth=1.2, zorder=1)
            heading(axis, "", letter)
        scores = [row[kind] for row in values["rows"] for kind in TRAINED]
        error_scale(axes[0, 0], "y", [*spans(scores), values["ideal"]])
        axes[0, 0].set_ylabel(f"{values['rows'][0]['dataset']} test top-1 (%)")
        ideal = key("ideal network", color="#555555", linestyle=":", linewidth=1.2)
        legend_below(figure, [*trained_keys(), ideal])
        return figure

    return draw


def trained_keys(*, line: bool = True) -> list[Line2D]:
    """Legend entries of networks trained for the tested chips, and of networks that were not."""
    return [method_key(look, line=line, label=_LABELS[kind]) for kind, look in TRAINED.items()]


def _plot_curve(axis: Axes, rows: list[Values], curve: Curve) -> None:
    from matplotlib.ticker import NullLocator

    rows = sorted(rows, key=lambda row: row["value"])
    at = [row["value"] for row in rows]
    logarithmic = curve.scale == "log" and log_scale(axis, "x", at)
    for kind, look in TRAINED.items():
        middle, sd = ([row[kind][part] for row in rows] for part in ("mean", "sd"))
        means(axis, at, middle, sd, look, markersize=6.0)
    axis.set_xticks(at, [curve.form(value) for value in at])
    axis.xaxis.set_minor_locator(NullLocator())
    room = 0.1 * (at[-1] - at[0]) or 1.0
    ends = (at[0] - room, at[-1] + room)
    if logarithmic:
        factor = (at[-1] / at[0]) ** 0.1 if at[-1] > at[0] else 2.0
        ends = (at[0] / factor, at[-1] * factor)
    axis.set_xlim(ends)
    axis.set_xlabel(curve.label or curve.title)
