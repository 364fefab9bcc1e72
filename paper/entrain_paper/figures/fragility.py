"""Accuracy under single imperfections, and its distribution over typical chips."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import COLUMN
from entrain_paper.figures.error_scale import error_scale, spans
from entrain_paper.figures.panels import (
    Results,
    Values,
    by_dataset,
    heading,
    legend_below,
    method_key,
    number,
    panels,
)
from entrain_paper.figures.style import method_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3
_NAMES = {"DIRECT for chips": "DIRECT for typical chips"}


def method_name(method: str) -> str:
    """Name of a method in figures and tables of chips."""
    return _NAMES.get(method, method)


def effect_name(effect: str) -> str:
    """Name of an effect in words."""
    return effect.replace("_", " ")


def fragility(dataset: str) -> Callable[[Results], Figure]:
    """The function that draws a dataset: one panel per effect, strengths on the x axis."""

    def draw(results: Results) -> Figure:
        values = results["fragility"]
        rows = by_dataset(values["rows"]).get(dataset, [])
        ideal = {row["method"]: row["mean"] for row in values["ideal"] if row["dataset"] == dataset}
        effects = list(dict.fromkeys(row["effect"] for row in rows))
        columns = min(_COLUMNS, max(1, len(effects)))
        lines = -(-len(effects) // columns) or 1
        figure, axes = panels(
            lines, columns, (COLUMN / _COLUMNS * columns, 1.8 * lines + 0.7), sharey=True
        )
        for index, axis in enumerate(axes.flat):
            axis.set_visible(index < len(effects))
        for axis, effect in zip(axes.flat, effects, strict=False):
            _plot_effect(axis, [row for row in rows if row["effect"] == effect], ideal)
            heading(axis, effect_name(effect))
        strengths = [strength for row in rows for strength in row["strengths"]]
        accuracies = [*spans(strengths), *map(number, ideal.values())]
        error_scale(axes[0, 0], "y", accuracies, apart=0.09)  # panels are small
        for axis in axes[:, 0]:
            axis.set_ylabel("test top-1 (%)")
        legend_below(figure, _keys(rows))
        return figure

    return draw


def _plot_effect(axis: Axes, rows: list[Values], ideal: dict[str, float]) -> None:
    """Plot accuracies from the ideal network to the largest strength."""
    labels = [strength["label"] for strength in rows[0]["strengths"]]
    for row in rows:
        scores = [{"mean": ideal[row["method"]], "sd": None}, *row["strengths"]]
        axis.errorbar(
            range(len(scores)),
            [number(score["mean"]) for score in scores],
            yerr=[score["sd"] or 0.0 for score in scores],
            elinewidth=0.8,
            markersize=4.0,
            linewidth=1.2,
            **method_look(row["method"]),
        )
    numbers, unit = _split_unit(labels)
    axis.set_xticks(range(len(labels) + 1), ["none", *numbers])
    axis.tick_params(labelsize=7.5)
    axis.margins(x=0.08)
    axis.set_xlabel(unit, fontsize=8)


def _split_unit(labels: list[str]) -> tuple[list[str], str]:
    """Numbers and their common unit: "0.5 rad/time" becomes 0.5 and rad/time."""
    numbers = [match.group() for label in labels if (match := re.search(r"[\d.]+", label))]
    units = {
        label.replace(number, "", 1).strip() for label, number in zip(labels, numbers, strict=False)
    }
    if len(units) != 1 or len(numbers) != len(labels):
        return labels, ""
    return numbers, units.pop()


def typical_yield(results: Results) -> Figure:
    """One panel per dataset: the share of chips with at least an accuracy."""
    datasets = by_dataset(results["typical-yield"]["rows"])
    figure, axes = panels(1, len(datasets), (COLUMN / 2 * len(datasets), 3.6), sharey=True)
    for letter, axis, (dataset, rows) in zip("abcd", axes[0], datasets.items(), strict=False):
        for row in rows:
            _plot_yield(axis, row)
        axis.axhline(95.0, color="#555555", linestyle=":", linewidth=1.0, zorder=1)
        error_scale(axis, "x", [top for row in rows for top in row["accuracies"]])
        axis.set_xlabel("test top-1 accuracy (%)")
        heading(axis, dataset, letter)
    axes[0, 0].set_ylabel("chips with at least this accuracy (%)")
    legend_below(figure, _keys(results["typical-yield"]["rows"]))
    return figure


def _plot_yield(axis: Axes, row: Values) -> None:
    """Plot the share of chips against accuracy, with markers at 95, 50 and 5 % of them."""
    chips = np.sort(np.asarray(row["accuracies"], dtype=float))
    share = 100.0 * np.arange(len(chips), 0, -1) / len(chips)
    look = method_look(row["method"])
    marker = look.pop("marker")
    axis.step([*chips, chips[-1]], [*share, 0.0], where="pre", linewidth=1.6, **look)
    indices = np.searchsorted(-share, [-95.0, -50.0, -5.0], side="right") - 1
    at = np.unique(np.maximum(indices, 0))
    axis.plot(
        chips[at], share[at], linestyle="none", marker=marker, markersize=5, color=look["color"]
    )


def _keys(rows: list[Values]) -> list[Any]:
    methods = dict.fromkeys(row["method"] for row in rows)
    return [method_key(method, line=True, label=method_name(method)) for method in methods]
