"""The most accurate networks of each size, among published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.experiments.published import published
from entrain.figures.labels import label_points
from entrain.figures.panels import (
    TOP1,
    Results,
    Values,
    by_dataset,
    heading,
    legend_below,
    means,
    method_key,
    number,
    panels,
    paper_marks,
    run_key,
    runs,
)
from entrain.figures.style import METHOD_COLOURS, PAPER_LOOK, PUBLISHED_COLOUR, published_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Point = tuple[float, float]

_OURS, _PAPER = "DIRECT", "TWO-STAGE-END"
_CLASSES = 10  # outputs of every network of the paper
_PUBLISHED_KEYS = {"MNIST": "mnist_top1", "Fashion-MNIST": "fashion_top1"}
_OTHER_DIGITS = "8x8 Digits"
_MARKERS = "o^v<pP"
_ASIDE = 1.06  # times the size, so that error bars stay apart


def records(results: Results) -> Figure:
    """A panel per dataset: ours, the paper's and other published networks, by size."""
    datasets = by_dataset(results["records"]["rows"])
    figure, axes = panels(1, len(datasets), (5.0 * len(datasets), 4.2))
    drawn = []
    for letter, axis, (dataset, rows) in zip("abcd", axes[0], datasets.items(), strict=False):
        printed = _paper(axis, dataset)
        names, cited = _published(axis, dataset)
        ours = _ours(axis, rows)
        counts = sorted({x for x, _ in [*ours, *printed, *cited]})
        _axis(axis, counts)
        heading(axis, dataset, letter)
        drawn.append((axis, names, cited, [*ours, *printed, *cited]))
    axes[0, 0].set_ylabel("test top-1 accuracy (%)")
    legend_below(figure, _keys(), columns=3)
    figure.draw_without_rendering()  # settles the layout, which the labels go by
    for axis, names, cited, points in drawn:
        label_points(axis, names, cited, np.array(points), size=8.5)
    return figure


def _axis(axis: Axes, counts: list[float]) -> None:
    from matplotlib.ticker import NullLocator

    axis.set_xscale("log")
    axis.set_xticks(counts, [f"{count:g}" for count in counts])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.18, y=0.08)
    axis.set_xlabel("oscillators $N$")


def _ours(axis: Axes, rows: list[Values]) -> list[Point]:
    """A line with augmentation, open markers a little aside without; where the means are."""
    for augmented in (True, False):
        members = sorted(
            (row for row in rows if row["augmented"] is augmented), key=lambda row: row["N"]
        )
        side = -1 if augmented else 1
        aside = 1.0 if augmented else _ASIDE
        means(
            axis,
            [aside * row["N"] for row in members],
            [row["mean"][TOP1] for row in members],
            [row["sd"][TOP1] for row in members],
            _OURS,
            **({} if augmented else _OPEN),
        )
        for row in members:
            tops = [run[TOP1] for run in row["runs"]]
            runs(axis, (aside + 0.11 * side) * row["N"], tops, 0.1 * row["N"])
    return [(row["N"], number(row["mean"][TOP1])) for row in rows]


def _paper(axis: Axes, dataset: str) -> list[Point]:
    rows = [row for row in published()["width_scaling"]["rows"] if row["dataset"] == dataset]
    counts = [row["H"] + _CLASSES for row in rows]
    tops = [row["two_stage_end_top1_mean"] for row in rows]
    paper_marks(axis, counts, tops, _PAPER, **_PAPER_LINE)
    _bars(axis, counts, tops, [row["two_stage_end_top1_sd"] for row in rows], _PAPER_COLOUR)
    return list(zip(counts, tops, strict=True))


def _published(axis: Axes, dataset: str) -> tuple[list[str], list[Point]]:
    """Networks of others whose size the paper gives; names and places."""
    names, points = [], []
    key = _PUBLISHED_KEYS.get(dataset, "")
    for row, marker in zip(_others(), _MARKERS, strict=False):
        name, top, sd = row["system"], row.get(f"{key}_mean"), row.get(f"{key}_sd")
        standard = top is not None
        if dataset == "MNIST" and row["task"] == _OTHER_DIGITS:
            name, top = f"{name} (8x8 digits)", row["other_task_top1_mean"]
        if top is None:
            continue
        axis.plot(row["total"], top, **published_look(standard, marker))
        _bars(axis, [row["total"]], [top], [sd], PUBLISHED_COLOUR)
        names.append(name)
        points.append((float(row["total"]), float(top)))
    return names, points


def _others() -> list[Values]:
    rows = published()["cross_platform_resources"]["rows"]
    return [row for row in rows if "total" in row and "citation" in row]


def _bars(axis: Axes, x: list[float], y: list[float], sd: list[float | None], colour: str) -> None:
    for at, middle, half in zip(x, y, sd, strict=True):
        if half is not None:
            axis.errorbar(at, middle, yerr=half, fmt="none", ecolor=colour, capsize=3)


def _keys() -> list[Line2D]:
    from matplotlib.lines import Line2D

    paper = PAPER_LOOK | {"markeredgecolor": _PAPER_COLOUR} | _PAPER_LINE
    return [
        method_key(_OURS, line=True, label=f"ours, {_OURS} with augmentation"),
        method_key(_OURS, label=f"ours, {_OURS} without augmentation", **_OPEN),
        run_key(),
        Line2D([], [], label=f"paper, {_PAPER}", **paper),
        Line2D([], [], label="published, same task", **published_look(True)),
        Line2D([], [], label="published, other digits", **published_look(False)),
    ]


_PAPER_COLOUR = METHOD_COLOURS[_PAPER]
_PAPER_LINE: dict[str, Any] = {
    "linestyle": "-",
    "linewidth": 1.2,
    "color": _PAPER_COLOUR,
    "markerfacecolor": "white",
    "markersize": 6.0,
}
_OPEN: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "markeredgewidth": 1.4}
