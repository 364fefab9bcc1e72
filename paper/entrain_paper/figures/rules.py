"""Gradients and accuracies of training rules that need no model of the chip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain.plots.style import CLASS_COLOURS, COLUMN
from entrain_paper.figures.error_scale import error_scale, spans
from entrain_paper.figures.panels import (
    Results,
    Values,
    heading,
    key,
    legend_below,
    log_scale,
    panels,
    row_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS: dict[str, dict[str, Any]] = {
    "EP": {"color": CLASS_COLOURS[0], "marker": "o", "linestyle": "-"},
    "COUPLED": {"color": CLASS_COLOURS[3], "marker": "s", "linestyle": "--"},
    "SPSA": {"color": CLASS_COLOURS[2], "marker": "^", "linestyle": "-."},
}
_AXES = {
    "strength": "nudge strength",
    "time": "relaxation time",
    "noise": "temperature kT",
    "step": "Euler step",
}
_TRAINED_ON: dict[str, dict[str, Any]] = {
    "chip": {"color": "#117733", "marker": "D", "label": "trained on the chip"},
    "ideal": {"color": "#882255", "marker": ">", "label": "trained on the ideal network"},
}


def rule_gradients(results: Results) -> Figure:
    """One column per curve, for the gradient of the couplings. Top: cosine. Bottom: length."""
    rows = results["rule-gradients"]["rows"]
    curves = list(dict.fromkeys(row["curve"] for row in rows))
    figure, axes = panels(2, len(curves), (COLUMN, 5.0), sharex="col", sharey="row")
    for column, curve in enumerate(curves):
        members = [row for row in rows if row["curve"] == curve]
        for axis, measure in zip(axes[:, column], ("cosine", "length"), strict=True):
            _plot_curve(axis, members, measure)
            axis.axhline(1.0, color="#555555", linestyle=":", linewidth=1.2, zorder=1)
        log_scale(axes[1, column], "y", [row["couplings"]["length"] for row in members])
        axes[1, column].set_xlabel(_AXES[curve])
        heading(axes[0, column], "", "abcd"[column])
    axes[0, 0].set_ylabel("cosine with exact gradient")
    axes[1, 0].set_ylabel("length / length of exact")
    figure.align_xlabels()
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    legend_below(figure, [key(rule, markersize=6.0, **_LOOKS[rule]) for rule in rules])
    return figure


def _plot_curve(axis: Axes, rows: list[Values], measure: str) -> None:
    from matplotlib.ticker import NullLocator

    ticks = sorted({row["value"] for row in rows})
    log_scale(axis, "x", ticks)
    axis.set_xticks(ticks, [f"{value:g}" for value in ticks], rotation=45)
    axis.xaxis.set_minor_locator(NullLocator())
    for rule, look in _LOOKS.items():
        members = sorted((r for r in rows if r["rule"] == rule), key=lambda row: row["value"])
        at = [row["value"] for row in members]
        middle = [row["couplings"][measure] for row in members]
        axis.plot(at, middle, markersize=5.0, **look)
        bars = [row["couplings"].get(f"{measure}_sd") for row in members]
        if all(bar is not None for bar in bars):  # of one batch of images there is none
            bar_look = {"ecolor": look["color"], "capsize": 3, "elinewidth": 1.0}
            axis.errorbar(at, middle, yerr=bars, fmt="none", **bar_look)


def rules_on_chips(results: Results) -> Figure:
    """One row per rule: accuracy on the chip, of networks trained on it or not; open markers: other
    chips."""
    rows = results["rules-on-chips"]["rows"]
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    figure, axes = panels(1, 1, (6.4, 0.7 * len(rules) + 1.4))
    axis = axes[0, 0]
    for row in rows:
        look = {k: v for k, v in _TRAINED_ON[row["learnt_on"]].items() if k != "label"}
        y = rules.index(row["rule"]) + (-0.15 if row["learnt_on"] == "chip" else 0.15)
        score, other_chips = row["on_chip"], row["on_others"]
        if score["sd"] is not None:
            bar = {"ecolor": look["color"], "elinewidth": 4.0, "alpha": 0.45, "zorder": 3}
            axis.errorbar([score["mean"]], [y], xerr=[score["sd"]], fmt="none", **bar)
        look |= {"linestyle": "none", "markersize": 6.5}
        axis.plot([score["mean"]], [y], zorder=4, **look)
        axis.plot([other_chips["mean"]], [y], markerfacecolor="none", **look)
    row_axis(axis, rules, separators=False)
    axis.set_xlabel(f"{results['rules-on-chips']['dataset']} test top-1 accuracy (%)")
    error_scale(axis, "x", spans([row[part] for row in rows for part in ("on_chip", "on_others")]))
    points: dict[str, Any] = {"linestyle": "none", "markersize": 6.0}
    open_mark = {"color": "#555555", "marker": "o", "markerfacecolor": "none"}
    keys = [key(**look, **points) for look in _TRAINED_ON.values()]
    legend_below(figure, [*keys, key("on other chips", **open_mark, **points)])
    return figure
