"""Accuracy against width, temperature and grid, in one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.plots.style import COLUMN
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
    panels,
    paper_key,
    paper_marks,
    paper_row,
    run_key,
    runs,
)
from entrain_paper.figures.style import MAIN_METHODS, METHOD_COLOURS, METHOD_MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def scaling_noise_grid(results: Results) -> Figure:
    """Datasets as rows (Fashion-MNIST first); widths, temperatures and grids as columns."""
    columns = [
        by_dataset(results[name]["rows"]) for name in ("widths", "temperature", "refinement")
    ]
    datasets = sorted(columns[0])
    figure, axes = panels(len(datasets), 3, (COLUMN, 3.0 * len(datasets) + 0.8))
    draws = (_widths, _temperatures, _grids)
    letters = iter("abcdefghi")
    for dataset, line in zip(datasets, axes, strict=True):
        for axis, column, draw in zip(line, columns, draws, strict=True):
            draw(axis, dataset, column.get(dataset, []))
            heading(axis, dataset, next(letters))
        line[0].set_ylabel("test top-1 accuracy (%)")
    keys = [method_key(method, line=True) for method in ("teacher", *MAIN_METHODS.values())]
    single = key("single trajectories", color="#555555", linestyle=":", alpha=0.8)
    legend_below(figure, [*keys, single, run_key(), paper_key()])
    return figure


def _widths(axis: Axes, dataset: str, rows: list[Values]) -> None:
    from matplotlib.ticker import NullLocator

    hidden = [row["H"] for row in rows]
    printed = [paper_row("width_scaling", dataset=dataset, H=width) for width in hidden]
    beside = [width * 1.1 for width in hidden]  # the axis is logarithmic
    teacher = [row["teacher"]["test_top1"] for row in rows]
    means(axis, hidden, teacher, [None] * len(rows), "teacher")
    paper_marks(axis, beside, [row.get("teacher_top1") for row in printed], "teacher")
    for name, method in MAIN_METHODS.items():
        _with_sd(axis, hidden, [row[name] for row in rows], method)
        for row in rows:
            runs(axis, row["H"], [run[TOP1] for run in row[name]["runs"]], 0.14 * row["H"])
        paper_marks(axis, beside, [row.get(f"{name}_top1_mean") for row in printed], method)
    axis.set_xscale("log", base=2)
    axis.set_xticks(hidden, [str(width) for width in hidden])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.1)
    axis.set_xlabel("hidden oscillators $H$")


def _temperatures(axis: Axes, dataset: str, rows: list[Values]) -> None:
    for method in MAIN_METHODS.values():
        members = [row for row in rows if row["method"] == method]
        temperatures = [row["temperature"] for row in members]
        single = [row["single"]["mean"][TOP1] for row in members]
        axis.plot(
            temperatures,
            single,
            color=METHOD_COLOURS[method],
            marker=METHOD_MARKERS[method],
            markersize=4.0,
            linewidth=1.0,
            linestyle=":",
            alpha=0.55,
        )
        _with_sd(axis, temperatures, [row["ensemble"] for row in members], method)
        for row in members:
            tops = [run[TOP1] for run in row["ensemble"]["runs"]]
            runs(axis, row["temperature"], tops, 0.02)
        printed = [
            paper_row("temperature", dataset=dataset, method=method, kT=kt) for kt in temperatures
        ]
        beside = [kt + 0.03 for kt in temperatures]
        paper_marks(axis, beside, [row.get("ensemble_mean") for row in printed], method)
        single_means = [row.get("single_mean") for row in printed]
        paper_marks(axis, beside, single_means, method, alpha=0.6, markersize=3.5)
        axis.set_xticks(temperatures, [f"{kt:g}" for kt in temperatures])
    axis.set_xlabel("temperature $k_B T$")


def _grids(axis: Axes, dataset: str, rows: list[Values]) -> None:
    steps: list[int] = []
    for row in rows:
        method, mean, sd = row["method"], row["mean"], row["sd"]
        steps = row["steps"]
        tops = [mean["top1_coarse"], mean["top1_fine"]]
        means(axis, (0, 1), tops, [sd["top1_coarse"], sd["top1_fine"]], method)
        for grid in (0, 1):
            runs(axis, grid, [run[TOP1][grid] for run in row["runs"]], 0.08)
        printed = paper_row("refinement", dataset=dataset, method=method)
        paper = [printed.get(f"top1_{count}_mean") for count in steps]
        paper_marks(axis, (0.1, 1.1), paper, method)
    axis.set_xticks(range(len(steps)), [str(count) for count in steps])
    axis.set_xlim(-0.4, 1.4)
    axis.margins(y=0.15)
    axis.set_xlabel("Euler steps $K$")


def _with_sd(axis: Axes, x: list[float], summaries: list[Values], method: str) -> None:
    mean, sd = ([summary[part][TOP1] for summary in summaries] for part in ("mean", "sd"))
    means(axis, x, mean, sd, method)
