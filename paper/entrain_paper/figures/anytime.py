"""Accuracy against the reading time, the stopping time, and the observation time in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.plots.style import COLUMN
from entrain_paper.figures.panels import (
    Results,
    Values,
    by_dataset,
    heading,
    legend_below,
    log_scale,
    means,
    method_key,
    number,
    panels,
    run_key,
    runs,
)
from entrain_paper.figures.style import method_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKED = (0.1, 0.2, 0.4, 1.0)  # margins with a marker and a label
_ROOM_BELOW = 20.0  # points of accuracy shown below the lowest final value


def anytime(results: Results) -> Figure:
    """Datasets as rows; reading time, stopping time and observation time as columns."""
    values = results["anytime"]
    datasets = by_dataset(values["rows"])
    trained = by_dataset(values["trained"])
    figure, axes = panels(
        len(datasets),
        3,
        (COLUMN, 2.9 * len(datasets) + 0.6),
        gridspec_kw={"width_ratios": (1.0, 1.15, 0.7)},
    )
    letters = iter("abcdefghijkl")
    for (dataset, rows), line in zip(datasets.items(), axes, strict=True):
        _reading_times(line[0], rows)
        _stopping_times(line[1], rows)
        _observation_times(line[2], trained.get(dataset, []))
        for axis in line:
            heading(axis, dataset, next(letters))
        line[0].set_ylabel("test top-1 accuracy (%)")
    methods = list(dict.fromkeys(row["method"] for row in values["rows"]))
    legend_below(figure, [*(method_key(method, line=True) for method in methods), run_key()])
    return figure


def _reading_times(axis: Axes, rows: list[Values]) -> None:
    for index, row in enumerate(rows):
        spacing = max(1, len(row["time"]) // 8)
        axis.plot(
            row["time"],
            [number(top) for top in row["top1"]],
            markersize=5.0,
            markevery=(spacing * index // max(1, len(rows)), spacing),
            linewidth=1.4,
            **method_look(row["method"]),
        )
    final = [number(row["top1"][-1]) for row in rows if row["top1"][-1] is not None]
    if final:
        low, high = max(0.0, min(final) - _ROOM_BELOW), max(final)
        axis.set_ylim(low, high + 0.06 * (high - low) + 0.5)
    axis.set_xlabel(r"reading time / $t_f$")


def _stopping_times(axis: Axes, rows: list[Values]) -> None:
    for row in rows:
        look = method_look(row["method"])
        marker = look.pop("marker")
        times, tops = row["exit_time"], [number(top) for top in row["exit_top1"]]
        axis.plot(times, tops, linewidth=1.4, **look)
        for margin, time, top in zip(row["margins"], times, tops, strict=True):
            if margin in _MARKED:
                axis.plot(time, top, markersize=6.5, color=look["color"], marker=marker)
                axis.annotate(
                    f"{margin:.1f}",
                    (time, top),
                    (-6, -3) if margin == _MARKED[0] else (0, 6),
                    textcoords="offset points",
                    ha="right" if margin == _MARKED[0] else "center",
                    fontsize=7.5,
                )
    axis.set_xlim(0.0, 1.03)
    axis.margins(y=0.12)
    axis.set_xlabel(r"mean stopping time / $t_f$")


def _observation_times(axis: Axes, rows: list[Values]) -> None:
    from matplotlib.ticker import NullLocator

    times = [row["observation_time"] for row in rows]
    means(axis, times, [row["mean"] for row in rows], [row["sd"] for row in rows], "DIRECT")
    for row in rows:
        runs(axis, row["observation_time"], row["runs"], 0.18 * row["observation_time"])
    log_scale(axis, "x", times, base=2)
    axis.set_xticks(times, [f"{time:g}" for time in times])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.14, y=0.12)
    axis.set_xlabel(r"$t_f$ in training")
