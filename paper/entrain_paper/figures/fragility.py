"""What each imperfection costs, and the distribution of accuracy over typical chips."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

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
from entrain_paper.figures.style import METHOD_COLOURS, METHOD_LINES, METHOD_MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 4  # panels
_NAMES = {"DIRECT for chips": "DIRECT for typical chips"}


def method_name(method: str) -> str:
    """The name in these figures and tables: trained for typical chips, not for each effect."""
    return _NAMES.get(method, method)


def effect_name(effect: str) -> str:
    """An effect in words."""
    return effect.replace("_", " ")


def fragility(dataset: str) -> Callable[[Results], Figure]:
    """The figure of a dataset: a panel for each effect, strengths across, methods as lines."""

    def draw(results: Results) -> Figure:
        values = results["fragility"]
        rows = by_dataset(values["rows"]).get(dataset, [])
        ideal = {row["method"]: row["mean"] for row in values["ideal"] if row["dataset"] == dataset}
        effects = list(dict.fromkeys(row["effect"] for row in rows))
        across = min(_ACROSS, max(1, len(effects)))
        down = -(-len(effects) // across) or 1
        figure, axes = panels(down, across, (2.35 * across, 1.9 * down + 0.7), sharey=True)
        for place, axis in enumerate(axes.flat):
            axis.set_visible(place < len(effects))
        for axis, effect in zip(axes.flat, effects, strict=False):
            _effect(axis, [row for row in rows if row["effect"] == effect], ideal)
            heading(axis, effect_name(effect))
        strengths = [each for row in rows for each in row["strengths"]]
        shown = [*spans(strengths), *map(number, ideal.values())]
        error_scale(axes[0, 0], "y", shown, apart=0.09)  # in small panels
        for axis in axes[:, 0]:
            axis.set_ylabel("test top-1 (%)")
        legend_below(figure, _keys(rows))
        return figure

    return draw


def _effect(axis: Axes, rows: list[Values], ideal: dict[str, float]) -> None:
    """From the ideal network at the left to the largest strength."""
    labels = [each["label"] for each in rows[0]["strengths"]]
    for row in rows:
        found = [{"mean": ideal[row["method"]], "sd": None}, *row["strengths"]]
        axis.errorbar(
            range(len(found)),
            [number(each["mean"]) for each in found],
            yerr=[each["sd"] or 0.0 for each in found],
            elinewidth=0.8,
            markersize=4.0,
            linewidth=1.2,
            **_look(row["method"]),
        )
    numbers, unit = _split(labels)
    axis.set_xticks(range(len(labels) + 1), ["none", *numbers])
    axis.tick_params(labelsize=7.5)
    axis.margins(x=0.08)
    axis.set_xlabel(unit, fontsize=8)


def _split(labels: list[str]) -> tuple[list[str], str]:
    """Numbers, and the unit that all of them have: "0.5 rad/time" becomes 0.5, and rad/time."""
    found = [re.search(r"[\d.]+", label) for label in labels]
    units = {
        (label[: each.start()] + label[each.end() :]).strip()
        for label, each in zip(labels, found, strict=True)
        if each is not None
    }
    if len(units) != 1 or None in found:
        return labels, ""
    return [each.group() for each in found if each is not None], units.pop()


def typical_yield(results: Results) -> Figure:
    """One panel per dataset: the share of chips that reach at least an accuracy."""
    datasets = by_dataset(results["typical-yield"]["rows"])
    figure, axes = panels(1, len(datasets), (4.8 * len(datasets), 3.6), sharey=True)
    for letter, axis, (dataset, rows) in zip("abcd", axes[0], datasets.items(), strict=False):
        for row in rows:
            _share(axis, row)
        axis.axhline(95.0, color="#555555", linestyle=":", linewidth=1.0, zorder=1)
        error_scale(axis, "x", [each for row in rows for each in row["accuracies"]])
        axis.set_xlabel("test top-1 accuracy (%)")
        heading(axis, dataset, letter)
    axes[0, 0].set_ylabel("chips with at least this accuracy (%)")
    legend_below(figure, _keys(results["typical-yield"]["rows"]))
    return figure


def _share(axis: Axes, row: Values) -> None:
    """100 % of the chips have the worst one's accuracy; markers are 95, 50 and 5 % of them."""
    chips = np.sort(np.asarray(row["accuracies"], dtype=float))
    share = 100.0 * np.arange(len(chips), 0, -1) / len(chips)
    look = _look(row["method"])
    marker = look.pop("marker")
    axis.step([*chips, chips[-1]], [*share, 0.0], where="pre", linewidth=1.6, **look)
    places = np.searchsorted(-share, [-95.0, -50.0, -5.0], side="right") - 1
    at = np.unique(np.maximum(places, 0))
    axis.plot(
        chips[at], share[at], linestyle="none", marker=marker, markersize=5, color=look["color"]
    )


def _look(method: str) -> dict[str, Any]:
    return {
        "color": METHOD_COLOURS[method],
        "linestyle": METHOD_LINES[method],
        "marker": METHOD_MARKERS[method],
    }


def _keys(rows: list[Values]) -> list[Any]:
    methods = dict.fromkeys(row["method"] for row in rows)
    return [method_key(each, line=True, label=method_name(each)) for each in methods]
