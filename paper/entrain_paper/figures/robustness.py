"""Accuracy against width, temperature and grid, in one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain_paper.figures.panels import (
    TOP1,
    Results,
    Values,
    by_dataset,
    heading,
    legend_below,
    means,
    method_key,
    panels,
    paper_key,
    paper_marks,
    run_key,
    runs,
)
from entrain_paper.figures.reference import paper_row
from entrain_paper.figures.style import MAIN_METHODS, METHOD_COLOURS, METHOD_MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def scaling_noise_grid(results: Results) -> Figure:
    """Datasets as rows (Fashion-MNIST first), widths, temperatures and grids as columns."""
    columns = [
        by_dataset(results[name]["rows"]) for name in ("widths", "temperature", "refinement")
    ]
    datasets = sorted(columns[0])
    figure, axes = panels(len(datasets), 3, (10.5, 3.0 * len(datasets) + 0.6))
    draws = (_widths, _temperatures, _grids)
    letters = iter("abcdefghi")
    for dataset, line in zip(datasets, axes, strict=True):
        for axis, column, draw in zip(line, columns, draws, strict=True):
            draw(axis, dataset, column.get(dataset, []))
            heading(axis, dataset, next(letters))
        line[0].set_ylabel("test top-1 accuracy (%)")
    keys = [method_key(method, line=True) for method in ("teacher", *MAIN_METHODS.values())]
    legend_below(figure, [*keys, _single_key(), run_key(), paper_key()])
    return figure


def _widths(axis: Axes, dataset: str, rows: list[Values]) -> None:
    from matplotlib.ticker import NullLocator

    hidden = [row["H"] for row in rows]
    printed = [paper_row("width_scaling", dataset=dataset, H=width) for width in hidden]
    aside = [width * 1.1 for width in hidden]  # of a logarithmic axis
    teacher = [row["teacher"]["test_top1"] for row in rows]
    means(axis, hidden, teacher, [None] * len(rows), "teacher")
    paper_marks(axis, aside, [row.get("teacher_top1") for row in printed], "teacher")
    for key, method in MAIN_METHODS.items():
        _with_sd(axis, hidden, [row[key] for row in rows], method)
        for row in rows:
            runs(axis, row["H"], [run[TOP1] for run in row[key]["runs"]], 0.14 * row["H"])
        paper_marks(axis, aside, [row.get(f"{key}_top1_mean") for row in printed], method)
    axis.set_xscale("log", base=2)
    axis.set_xticks(hidden, [str(width) for width in hidden])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.1)
    axis.set_xlabel("hidden oscillators $H$")


def _temperatures(axis: Axes, dataset: str, rows: list[Values]) -> None:
    for method in MAIN_METHODS.values():
        members = [row for row in rows if row["method"] == method]
        heat = [row["temperature"] for row in members]
        single = [row["single"]["mean"][TOP1] for row in members]
        axis.plot(
            heat,
            single,
            color=METHOD_COLOURS[method],
            marker=METHOD_MARKERS[method],
            markersize=4.0,
            linewidth=1.0,
            linestyle=":",
            alpha=0.55,
        )
        _with_sd(axis, heat, [row["ensemble"] for row in members], method)
        for row in members:
            tops = [run[TOP1] for run in row["ensemble"]["runs"]]
            runs(axis, row["temperature"], tops, 0.02)
        printed = [
            paper_row("temperature", dataset=dataset, method=method, kT=each) for each in heat
        ]
        aside = [each + 0.03 for each in heat]
        paper_marks(axis, aside, [row.get("ensemble_mean") for row in printed], method)
        alone = [row.get("single_mean") for row in printed]
        paper_marks(axis, aside, alone, method, alpha=0.6, markersize=3.5)
        axis.set_xticks(heat, [f"{each:g}" for each in heat])
    axis.set_xlabel("temperature $k_B T$")


def _grids(axis: Axes, dataset: str, rows: list[Values]) -> None:
    steps: list[int] = []
    for row in rows:
        method, mean, sd = row["method"], row["mean"], row["sd"]
        steps = row["steps"]
        tops = [mean["top1_coarse"], mean["top1_fine"]]
        means(axis, (0, 1), tops, [sd["top1_coarse"], sd["top1_fine"]], method)
        for place in (0, 1):
            runs(axis, place, [run[TOP1][place] for run in row["runs"]], 0.08)
        printed = paper_row("refinement", dataset=dataset, method=method)
        known = [printed.get(f"top1_{count}_mean") for count in steps]
        paper_marks(axis, (0.1, 1.1), known, method)
    axis.set_xticks(range(len(steps)), [str(count) for count in steps])
    axis.set_xlim(-0.4, 1.4)
    axis.margins(y=0.15)
    axis.set_xlabel("Euler steps $K$")


def _with_sd(axis: Axes, x: list[float], summaries: list[Values], method: str) -> None:
    mean = [each["mean"][TOP1] for each in summaries]
    means(axis, x, mean, [each["sd"][TOP1] for each in summaries], method)


def _single_key() -> Line2D:
    from matplotlib.lines import Line2D

    look = {"color": "#555555", "linestyle": ":", "alpha": 0.8}
    return Line2D([], [], label="single trajectories", **look)  # type: ignore[arg-type]
