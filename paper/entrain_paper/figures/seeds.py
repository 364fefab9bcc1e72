"""The whole procedure from several teachers of one architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain_paper.figures.panels import (
    TOP1,
    Results,
    heading,
    legend_below,
    means,
    method_key,
    panels,
)
from entrain_paper.figures.reference import paper_row
from entrain_paper.figures.style import MAIN_METHODS, METHOD_COLOURS, METHOD_MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def teacher_seeds(results: Results) -> Figure:
    """A panel per dataset; teachers across, the paper's means as ticks at the right."""
    rows = results["teacher-seeds"]["rows"]
    figure, axes = panels(1, len(rows), (4.6 * len(rows), 3.6))
    for axis, row in zip(axes[0], rows, strict=True):
        dataset, teachers = row["dataset"], row["teachers"]
        places = list(range(len(teachers)))
        test = [teacher["test_top1"] for teacher in teachers]
        _marks(axis, places, test, "teacher")
        printed = paper_row("teacher_training", dataset=dataset)
        _tick(axis, len(places), printed.get("test_top1"), "teacher")
        for key, method in MAIN_METHODS.items():
            _marks(axis, places, [run[TOP1] for run in row[key]["runs"]], method)
            printed = paper_row("multiseed", dataset=dataset, method=method)
            _tick(axis, len(places), printed.get("top1_mean"), method)
        seeds = [str(teacher["seed"]) for teacher in teachers]
        axis.set_xticks([*places, len(places)], [*seeds, "paper"])
        axis.set_xlim(-0.5, len(places) + 0.5)
        axis.axvline(len(places) - 0.5, color="#AAAAAA", linewidth=0.8)
        axis.grid(False, axis="x")
        axis.set_xlabel("seed of the teacher")
        axis.set_ylabel("test top-1 accuracy (%)")
        heading(axis, dataset)
    legend_below(figure, [method_key(method) for method in ("teacher", *MAIN_METHODS.values())])
    return figure


def _marks(axis: Axes, places: list[int], values: list[float | None], method: str) -> None:
    means(axis, places, values, [None] * len(values), method, linestyle="none", markersize=8.0)


def _tick(axis: Axes, x: float, value: float | None, method: str) -> None:
    if value is not None:
        colour = METHOD_COLOURS[method]
        axis.hlines(value, x - 0.28, x + 0.28, color=colour, linewidth=2.0)
        axis.plot(x, value, METHOD_MARKERS[method], markerfacecolor="white", markeredgecolor=colour)
