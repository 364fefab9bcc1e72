"""Scores of networks trained for chips, by constraint and by published chip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain.plots.style import CLASS_COLOURS, COLUMN
from entrain_paper.figures.chip_curves import TRAINED, trained_keys
from entrain_paper.figures.error_scale import error_scale, spans
from entrain_paper.figures.panels import (
    Results,
    Values,
    by_dataset,
    heading,
    key,
    legend_below,
    number,
    panels,
    row_axis,
)
from entrain_paper.figures.style import METHOD_COLOURS, METHOD_MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Look = dict[str, Any]

_FIELDS: dict[str, Look] = {
    "fine": {"color": CLASS_COLOURS[0], "marker": "o"},
    "coupling levels": {"color": CLASS_COLOURS[3], "marker": "s", "markerfacecolor": "white"},
}
_FIELD_LABELS = {"fine": "exact fields", "coupling levels": "fields at the chip's coupling levels"}
_FIFTH = "to the 5th percentile of chips"
_SD_BAR: Look = {"elinewidth": 4.0, "alpha": 0.45, "zorder": 3}
_LOOKS: dict[str, Look] = {
    kind: {"color": METHOD_COLOURS[look], "marker": METHOD_MARKERS[look]}
    for kind, look in TRAINED.items()
}


def trained_for_chips(results: Results) -> Figure:
    """One panel per dataset, stacked; rows are constraints, networks trained for them or not."""
    datasets = by_dataset(results["trained-for-chips"]["rows"])
    heights = [len(rows) + 1.2 for rows in datasets.values()]
    figure, axes = panels(
        len(datasets),
        1,
        (COLUMN, 0.4 * sum(heights) + 0.9),
        gridspec_kw={"height_ratios": heights},
    )
    for letter, axis, (dataset, rows) in zip("abcd", axes[:, 0], datasets.items(), strict=False):
        for y, row in enumerate(rows):
            for kind, shift in (("trained", -0.15), ("not_trained", 0.15)):
                _plot_score(axis, y + shift, row[kind], _LOOKS[kind], fifth=kind == "trained")
        scores = [row[kind] for row in rows for kind in TRAINED]
        _score_axis(axis, [row["constraint"] for row in rows], scores)
        heading(axis, dataset, letter)
    axes[-1, 0].set_xlabel("test top-1 accuracy (%)")
    legend_below(figure, [*trained_keys(line=False), *_bar_keys()])
    return figure


def published_chips(results: Results) -> Figure:
    """One panel per dataset, side by side; rows are chips, with both kinds of fields."""
    rows = results["published-chips"]["rows"]
    datasets = by_dataset(rows)
    chips = list(dict.fromkeys(row["chip"] for row in rows))
    figure, axes = panels(
        1, len(datasets), (1.2 + 3.4 * len(datasets), 0.62 * len(chips) + 1.3), sharey=True
    )
    names = {row["chip"]: _chip_label(row) for row in rows}
    for letter, axis, (dataset, scores) in zip("abcd", axes[0], datasets.items(), strict=False):
        for row in scores:
            y = chips.index(row["chip"]) + (-0.14 if row["fields"] == "fine" else 0.14)
            _plot_score(axis, y, row, _FIELDS[row["fields"]], fifth=True)
        _score_axis(axis, [names[chip] for chip in chips], scores)
        axis.set_xlabel("test top-1 accuracy (%)")
        heading(axis, dataset, letter)
    fields = [
        key(_FIELD_LABELS[kind], linestyle="none", markersize=6.5, **look)
        for kind, look in _FIELDS.items()
    ]
    legend_below(figure, [*fields, *_bar_keys()])
    return figure


def _chip_label(row: Values) -> str:
    return f"{row['chip']}\n{row['N']:,} of {row['room']:,}, {row['levels']} levels"


def _plot_score(axis: Axes, y: float, score: Values, look: Look, *, fifth: bool) -> None:
    """Draw the mean, a thick bar of one SD over trainings and a thin line to the 5th percentile."""
    mean, colour = number(score["mean"]), look["color"]
    if fifth:
        low = number(score["p5"])
        axis.plot([low, mean], [y, y], color=colour, linewidth=1.0, zorder=2)
        axis.plot([low], [y], color=colour, marker="|", markersize=8, zorder=2)
    if score["sd"] is not None:
        axis.errorbar([mean], [y], xerr=[score["sd"]], fmt="none", ecolor=colour, **_SD_BAR)
    axis.plot([mean], [y], linestyle="none", markersize=6.5, zorder=4, **look)


def _score_axis(axis: Axes, labels: list[str], scores: list[Values]) -> None:
    """One row per label, with x limits that include all scores."""
    row_axis(axis, labels)
    fifths = [number(score["p5"]) for score in scores]
    error_scale(axis, "x", [*spans(scores), *fifths])


def _bar_keys() -> list[Line2D]:
    grey = "#555555"
    return [
        key("one SD over trainings", color=grey, linewidth=4.0, alpha=0.45),
        key(_FIFTH, color=grey, marker="|", markersize=8, linewidth=1.0),
    ]
