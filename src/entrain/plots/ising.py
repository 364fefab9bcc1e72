"""Figures of solved problems: the energy in time, the distribution of runs, times to solution."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import CLASS_COLOURS, COLUMN, label, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from entrain.ising.solution import Solution

_SHARES = 40  # targets in the panel of times


def solution_figure(solution: Solution, target: float | None = None) -> Figure:
    """A figure of a solution: best and mean value in time, values of the runs, time to solution.

    Args:
        solution: Result of `entrain.solve`.
        target: A value to mark, such as the best known one.

    Examples:
        >>> graph = entrain.ising.WeightedGraph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
        >>> solution = entrain.solve(entrain.ising.MaxCut(graph), restarts=4)
        >>> figure = entrain.plots.ising.solution_figure(solution)
        >>> len(figure.axes)
        3
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN, 3.0), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    measure = solution.problem.measure
    trace = np.array(solution.trace(), dtype=float).reshape(-1, 3)
    left.plot(trace[:, 0], trace[:, 1], color=CLASS_COLOURS[0], label="best so far")
    left.plot(trace[:, 0], trace[:, 2], color=CLASS_COLOURS[1], label="mean of the runs")
    left.set(xlabel="time (s)", ylabel=measure)
    values = np.array(solution.values, dtype=float)
    if len(values):
        middle.hist(values, bins="auto", color=CLASS_COLOURS[5], edgecolor="white")
    middle.axvline(solution.value, color="black", lw=1.2, label=f"best {solution.value:,}")
    middle.set(xlabel=f"{measure} of a run", ylabel="runs")
    _times(right, solution, values)
    if target is not None:
        left.axhline(target, color="black", ls=":", lw=1, label="target")
        middle.axvline(target, color="black", ls=":", lw=1.2, label=f"target {target:,g}")
        right.axvline(target, color="black", ls=":", lw=1)
    for axis in (left, middle):
        axis.legend(fontsize=8, frameon=False)
    return figure


def draw_solution(path: Path, solution: Solution, target: float | None = None) -> None:
    """Write `solution_figure`.

    Args:
        path: Figure to write.
        solution: Result of `entrain.solve`.
        target: A value to mark.
    """
    save(solution_figure(solution, target), path)


def _times(axis: Axes, solution: Solution, values: np.ndarray) -> None:
    """Time to solution against the target, with its interval."""
    levels = np.unique(values)
    if len(levels) > _SHARES:
        levels = np.unique(np.quantile(levels, np.linspace(0, 1, _SHARES), method="nearest"))
    times = [solution.time_to_solution(level) for level in levels.tolist()]
    known = [time for time in times if np.isfinite(time.seconds)]
    x = [time.target for time in known]
    low = [time.seconds_interval[0] for time in known]
    high = [min(time.seconds_interval[1], 1e3 * time.seconds) for time in known]
    axis.fill_between(x, low, high, color=CLASS_COLOURS[2], alpha=0.25, lw=0)
    axis.plot(x, [time.seconds for time in known], "o-", ms=3, color=CLASS_COLOURS[2])
    if known:
        axis.set_yscale("log")
    axis.set(xlabel=f"target {solution.problem.measure}", ylabel="time to solution, 99 % (s)")


def draw_problem_yield(path: Path, result: dict[str, Any]) -> None:
    """Draw what chips reach: the best and the mean of their runs, and the cost of each effect.

    Args:
        path: Figure to write.
        result: The values of `entrain yield PROBLEM --json`.
    """
    from matplotlib.figure import Figure

    effects = result.get("effects")
    figure = Figure(figsize=(COLUMN if effects else 5.0, 3.6), layout="constrained")
    axes = figure.subplots(1, 2 if effects else 1, squeeze=False)[0]
    best, single = (
        np.array(result[name], dtype=float) for name in ("best_of_chips", "mean_of_chips")
    )
    bins = np.histogram_bin_edges(np.concatenate([best, single]), "auto")
    axes[0].hist(single, bins=bins, color=CLASS_COLOURS[1], alpha=0.7, label="mean of its runs")
    axes[0].hist(best, bins=bins, color=CLASS_COLOURS[0], alpha=0.7, label="best of its runs")
    axes[0].axvline(result["target"], color="black", ls=":", lw=1.2, label="target")
    axes[0].axvline(result["ideal"], color="black", lw=1.2, label="ideal oscillators, mean")
    name = result["hardware"].get("name")
    axes[0].set_title(f"{result['chips']} chips{f' of {label(name)}' if name else ''}", fontsize=10)
    axes[0].set(xlabel=f"{result['measure']} of a chip", ylabel="chips")
    axes[0].legend(fontsize=8, frameon=False)
    if effects:
        _costs(axes[1], result)
    save(figure, path)


def _costs(axis: Axes, result: dict[str, Any]) -> None:
    """A tornado plot of the mean of a run: the cost of each effect alone, the gain without it."""
    sign = 1 if result["goal"] == "maximum" else -1
    rows = sorted(
        (
            (
                sign * (result["ideal"] - means["alone"]),
                sign * (means["without"] - result["single_run"]["mean"]),
                name,
            )
            for name, means in result["effects"].items()
        ),
        key=lambda row: max(row[:2]),
    )
    upper, lower = ([place + shift for place in range(len(rows))] for shift in (0.2, -0.2))
    axis.barh(upper, [-row[0] for row in rows], 0.4, color=CLASS_COLOURS[3], label="cost alone")
    axis.barh(lower, [row[1] for row in rows], 0.4, color=CLASS_COLOURS[2], label="gain without it")
    axis.set_yticks(range(len(rows)), [row[2].replace("_", " ") for row in rows], fontsize=8)
    axis.axvline(0.0, color="black", linewidth=0.8)
    axis.set_xlabel(f"{result['measure']} of a run, mean")
    axis.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)
