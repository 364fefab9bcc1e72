"""Test accuracy against the number of oscillators, among published networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import COLUMN
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.figures.panels import (
    TOP1,
    Results,
    Values,
    by_dataset,
    heading,
    key,
    legend_below,
    means,
    method_key,
    number,
    panels,
    paper_marks,
    run_key,
    runs,
)
from entrain_paper.figures.point_labels import label_points
from entrain_paper.figures.style import METHOD_COLOURS, PAPER_LOOK, PUBLISHED_COLOUR, published_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Point = tuple[float, float]

_CLASSES = 10  # outputs of every network of the paper
_KEYS = {"MNIST": "mnist_top1", "Fashion-MNIST": "fashion_top1"}
_OTHER_DIGITS = "8x8 Digits"
_PAPER = "TWO-STAGE-END"
_COLOUR = METHOD_COLOURS[_PAPER]
_LINE: dict[str, Any] = {
    "linestyle": "-",
    "linewidth": 1.2,
    "color": _COLOUR,
    "markerfacecolor": "white",
    "markersize": 6.0,
}
_BLACK = "#222222"
_BLACK_LINE = {
    "linestyle": "--",
    "color": _BLACK,
    "markeredgecolor": _BLACK,
    "markerfacecolor": "none",
}
_OPEN: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "markeredgewidth": 1.4}
_RUNS_OFFSET = 0.91  # factor of the size at which runs are drawn
_PLAIN_OFFSET = 1.06  # the same for networks without augmentation: error bars must not overlap


def oscillator_scale(results: Results) -> Figure:
    """TWO-STAGE-END at every width, measured and published, and other published networks."""
    rows = [row for row in results["widths"]["rows"] if row["dataset"] == "MNIST"]
    rows = sorted(rows, key=lambda row: row["N"])
    figure, axes = panels(1, 1, (5.6, 3.6))
    axis = axes[0, 0]
    printed = _paper_widths(axis, "MNIST", **_BLACK_LINE)
    names, cited = _published_networks(axis, "MNIST")
    counts = [row["N"] for row in rows]
    summaries = [row["two_stage_end"] for row in rows]
    tops, sds = ([summary[part][TOP1] for summary in summaries] for part in ("mean", "sd"))
    means(axis, counts, tops, sds, _PAPER, markersize=4.0)
    for count, summary in zip(counts, summaries, strict=True):
        runs(axis, count * _RUNS_OFFSET, [run[TOP1] for run in summary["runs"]], 0.06 * count)
    _size_axis(axis, sorted({x for x, _ in [*printed, *cited]} | set(counts)))
    axis.set_ylabel("test top-1 accuracy (%)")
    keys = [
        method_key(_PAPER, line=True, label=f"ours, {_PAPER}", markersize=4.0),
        run_key(),
        _paper_widths_key(**_BLACK_LINE),
        *_published_keys(),
    ]
    axis.legend(handles=keys, loc="lower right", fontsize=8.5, frameon=False, handlelength=2.6)
    figure.draw_without_rendering()  # fixes the layout before labels are placed
    ours = [(count, number(top)) for count, top in zip(counts, tops, strict=True)]
    label_points(axis, names, cited, np.array([*ours, *printed, *cited]), size=8.5)
    return figure


def records(results: Results) -> Figure:
    """One panel per dataset: DIRECT networks, the paper's and other published ones."""
    datasets = by_dataset(results["records"]["rows"])
    figure, axes = panels(1, len(datasets), (COLUMN / 2 * len(datasets), 4.4))
    labels = []
    for letter, axis, (dataset, rows) in zip("abcd", axes[0], datasets.items(), strict=False):
        printed = _paper_widths(axis, dataset)
        names, cited = _published_networks(axis, dataset)
        points = [*_direct_networks(axis, rows), *printed, *cited]
        _size_axis(axis, sorted({x for x, _ in points}))
        heading(axis, dataset, letter)
        labels.append((axis, names, cited, points))
    axes[0, 0].set_ylabel("test top-1 accuracy (%)")
    keys = [
        method_key("DIRECT", line=True, label="ours, DIRECT with augmentation"),
        method_key("DIRECT", label="ours, DIRECT without augmentation", **_OPEN),
        run_key(),
        _paper_widths_key(),
        *_published_keys(),
    ]
    legend_below(figure, keys, columns=3)
    figure.draw_without_rendering()  # fixes the layout before labels are placed
    for axis, names, cited, points in labels:
        label_points(axis, names, cited, np.array(points), size=8.5)
    return figure


def _direct_networks(axis: Axes, rows: list[Values]) -> list[Point]:
    """Means of DIRECT, drawn as a line with augmentation and as open markers without it."""
    for augmented in (True, False):
        members = sorted(
            (row for row in rows if row["augmented"] is augmented), key=lambda row: row["N"]
        )
        side = -1 if augmented else 1
        offset = 1.0 if augmented else _PLAIN_OFFSET
        means(
            axis,
            [offset * row["N"] for row in members],
            [row["mean"][TOP1] for row in members],
            [row["sd"][TOP1] for row in members],
            "DIRECT",
            **({} if augmented else _OPEN),
        )
        for row in members:
            tops = [run[TOP1] for run in row["runs"]]
            runs(axis, (offset + 0.11 * side) * row["N"], tops, 0.1 * row["N"])
    return [(row["N"], number(row["mean"][TOP1])) for row in rows]


def _size_axis(axis: Axes, counts: list[float]) -> None:
    """Numbers of oscillators on a logarithmic axis, each with its tick."""
    from matplotlib.ticker import NullLocator

    axis.set_xscale("log")
    axis.set_xticks(counts, [f"{count:g}" for count in counts])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.18, y=0.08)
    axis.set_xlabel("oscillators $N$")


def _paper_widths(axis: Axes, dataset: str, **look: Any) -> list[Point]:
    """Points of the paper's TWO-STAGE-END at its widths, drawn with SDs."""
    rows = [row for row in paper_numbers()["width_scaling"]["rows"] if row["dataset"] == dataset]
    counts = [row["H"] + _CLASSES for row in rows]
    tops = [row["two_stage_end_top1_mean"] for row in rows]
    paper_marks(axis, counts, tops, _PAPER, **(_LINE | look))
    sds = [row["two_stage_end_top1_sd"] for row in rows]
    _error_bars(axis, counts, tops, sds, look.get("color", _COLOUR))
    return list(zip(counts, tops, strict=True))


def _published_networks(axis: Axes, dataset: str) -> tuple[list[str], list[Point]]:
    """Names and points of other networks whose size the paper gives; filled markers are of the same
    task."""
    names, points = [], []
    metric = _KEYS.get(dataset, "")
    for row in paper_numbers()["cross_platform_resources"]["rows"]:
        if "total" not in row or "citation" not in row:
            continue
        name, top, sd = row["system"], row.get(f"{metric}_mean"), row.get(f"{metric}_sd")
        same_task = top is not None
        if dataset == "MNIST" and row["task"] == _OTHER_DIGITS:
            name, top = f"{name} (8x8 digits)", row["other_task_top1_mean"]
        if top is None:
            continue
        axis.plot(row["total"], top, **published_look(same_task))
        _error_bars(axis, [row["total"]], [top], [sd], PUBLISHED_COLOUR)
        names.append(name)
        points.append((float(row["total"]), float(top)))
    return names, points


def _error_bars(
    axis: Axes, x: list[float], y: list[float], sds: list[float | None], colour: str
) -> None:
    for at, mean, sd in zip(x, y, sds, strict=True):
        if sd is not None:
            axis.errorbar(at, mean, yerr=sd, fmt="none", ecolor=colour, capsize=3)


def _paper_widths_key(**look: Any) -> Line2D:
    return key(f"paper, {_PAPER}", **(PAPER_LOOK | {"markeredgecolor": _COLOUR} | _LINE | look))


def _published_keys() -> list[Line2D]:
    return [
        key("published, same task", **published_look(True)),
        key("published, other digits", **published_look(False)),
    ]
