"""Panels, and the marks that several figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain_paper.figures.style import METHOD_COLOURS, METHOD_LINES, METHOD_MARKERS, PAPER_LOOK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Values = dict[str, Any]
Results = dict[str, Values]  # experiment -> its values

TOP1, AGREEMENT, RMSE = "top1", "agreement", "endpoint_rmse"
METRIC_LABELS = {
    TOP1: "test top-1 accuracy (%)",
    AGREEMENT: "teacher agreement (%)",
    RMSE: "endpoint RMSE",
}
PAPER_KEYS = {TOP1: "top1", AGREEMENT: "agreement", RMSE: "rmse"}  # its names of the metrics


def panels(
    rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[Figure, np.ndarray]:
    """A figure of `size` inches, and its axes (rows, columns), with grids."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for axis in axes.ravel():
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(True, alpha=0.25, linewidth=0.6)
        axis.set_axisbelow(True)
        axis.tick_params(labelsize=8)
        axis.xaxis.label.set_size(9)
        axis.yaxis.label.set_size(9)
    return figure, axes


def heading(axis: Axes, text: str, letter: str = "") -> None:
    """The title of a panel, with its letter on the left."""
    axis.set_title(text, fontsize=9.5)
    if letter:
        axis.set_title(f"({letter})", loc="left", fontsize=9.5, fontweight="bold")


def number(value: float | None) -> float:
    """A JSON number; null is NaN, which is not drawn."""
    return float("nan") if value is None else float(value)


def by_dataset(rows: Sequence[Values]) -> dict[str, list[Values]]:
    """Rows of each dataset, in the order they come."""
    found: dict[str, list[Values]] = {}
    for row in rows:
        found.setdefault(row["dataset"], []).append(row)
    return found


def means(
    axis: Axes,
    x: Sequence[float],
    mean: Sequence[float | None],
    sd: Sequence[float | None],
    method: str,
    **look: Any,
) -> None:
    """Means as large markers with bars of one SD, where there is an SD."""
    colour = METHOD_COLOURS[method]
    options: dict[str, Any] = {
        "color": colour,
        "marker": METHOD_MARKERS[method],
        "linestyle": METHOD_LINES[method],
        "markersize": 10.0 if METHOD_MARKERS[method] == "*" else 7.0,
        "linewidth": 1.4,
        "zorder": 3,
    } | look
    axis.plot(x, [number(value) for value in mean], **options)
    spread = [(at, number(m), s) for at, m, s in zip(x, mean, sd, strict=True) if s is not None]
    if spread:
        at, middle, half = zip(*spread, strict=True)
        axis.errorbar(
            at, middle, yerr=half, fmt="none", ecolor=colour, capsize=4, elinewidth=1.2, zorder=4
        )


def runs(axis: Axes, x: float, values: Sequence[float | None], width: float, **look: Any) -> None:
    """Single runs as small points, side by side over `width` about x."""
    offsets = np.linspace(-width / 2, width / 2, len(values)) if len(values) > 1 else np.zeros(1)
    options: dict[str, Any] = {
        "linestyle": "none",
        "marker": ".",
        "markersize": 3.5,
        "color": "#222222",
        "markeredgewidth": 0,
        "alpha": 0.7,
        "zorder": 5,
    }
    axis.plot(x + offsets, [number(value) for value in values], **(options | look))


def paper_marks(
    axis: Axes, x: Sequence[float], y: Sequence[float | None], method: str = "", **look: Any
) -> None:
    """The paper's numbers as hollow diamonds in the colour of a method; none where y is None."""
    known = [(at, value) for at, value in zip(x, y, strict=True) if value is not None]
    if known:
        at, shown = zip(*known, strict=True)
        own = {"zorder": 6} | PAPER_LOOK
        if method:
            own["markeredgecolor"] = METHOD_COLOURS[method]
        axis.plot(at, shown, **(own | look))


def band(axis: Axes, x: Sequence[float], runs: Sequence[Sequence[float]], **look: Any) -> None:
    """Mean over runs (R, epochs) as a line, in a band of one sample SD for two runs or more."""
    values = np.asarray(runs, dtype=np.float64)
    middle = values.mean(0)
    axis.plot(x, middle, **({"linewidth": 1.5} | look))
    if len(values) > 1:
        sd = values.std(0, ddof=1)
        axis.fill_between(
            x, middle - sd, middle + sd, color=look.get("color"), alpha=0.25, linewidth=0
        )


def method_key(method: str, *, line: bool = False, **look: Any) -> Line2D:
    """A legend entry of a method."""
    from matplotlib.lines import Line2D

    options: dict[str, Any] = {
        "color": METHOD_COLOURS[method],
        "marker": METHOD_MARKERS[method],
        "linestyle": METHOD_LINES[method] if line else "none",
        "markersize": 9.0 if METHOD_MARKERS[method] == "*" else 6.5,
        "label": method,
    }
    return Line2D([], [], **(options | look))


def run_key() -> Line2D:
    """The legend entry of a single run."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"color": "#222222", "alpha": 0.7, "markeredgewidth": 0}
    return Line2D([], [], marker=".", linestyle="none", markersize=5, label="one run", **look)


def paper_key() -> Line2D:
    """The legend entry of the paper's numbers."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label="paper", **PAPER_LOOK)


def legend_below(figure: Figure, keys: Sequence[Any], columns: int = 8) -> None:
    """One legend for all panels, under them."""
    figure.legend(
        handles=list(keys),
        loc="outside lower center",
        ncols=min(columns, len(keys)),
        fontsize=8.5,
        frameon=False,
        handlelength=2.6,
    )
