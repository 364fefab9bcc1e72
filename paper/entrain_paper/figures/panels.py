"""Panels, marks and legend entries that several figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.figures.style import METHOD_COLOURS, METHOD_MARKERS, PAPER_LOOK, method_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Values = dict[str, Any]
Results = dict[str, Values]  # experiment -> its values

_MOST_INCHES = 100  # side of a figure
TOP1, AGREEMENT, RMSE = "top1", "agreement", "endpoint_rmse"
METRIC_LABELS = {
    TOP1: "test top-1 accuracy (%)",
    AGREEMENT: "teacher agreement (%)",
    RMSE: "endpoint RMSE",
}
PAPER_KEYS = {TOP1: "top1", AGREEMENT: "agreement", RMSE: "rmse"}  # names in the paper's tables


def panels(
    rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[Figure, np.ndarray]:
    """A figure of `size` inches, and its axes (rows, columns), with grids."""
    from matplotlib.figure import Figure

    if max(size) > _MOST_INCHES:
        raise ValueError(f"a figure of {size[0]:g} x {size[1]:g} inches for its rows")
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


def empty_figure(title: str) -> Figure:
    """A title without panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 1.2), layout="constrained")
    figure.suptitle(title, fontsize=11)
    figure.text(0.5, 0.35, "no such example", ha="center", fontsize=10)
    return figure


def heading(axis: Axes, text: str, letter: str = "") -> None:
    """Set the title of a panel, with its letter on the left."""
    axis.set_title(text, fontsize=9.5)
    if letter:
        axis.set_title(f"({letter})", loc="left", fontsize=9.5, fontweight="bold")


def log_scale(
    axis: Axes, which: Literal["x", "y"], values: Sequence[float], **options: Any
) -> bool:
    """Make an axis logarithmic if all `values` on it are positive; True if it is."""
    positive = all(value > 0 for value in values)
    if positive:
        (axis.set_xscale if which == "x" else axis.set_yscale)("log", **options)
    return positive


def number(value: float | None) -> float:
    """A JSON number as a float; null becomes NaN, which matplotlib leaves out."""
    return float("nan") if value is None else float(value)


def by_dataset(rows: Sequence[Values]) -> dict[str, list[Values]]:
    """Rows of each dataset, in their order."""
    groups: dict[str, list[Values]] = {}
    for row in rows:
        groups.setdefault(row["dataset"], []).append(row)
    return groups


def paper_row(table: str, **match: object) -> dict[str, Any]:
    """The row of a table of the paper with these entries; empty if there is none."""
    for row in paper_numbers()[table]["rows"]:
        if all(row.get(name) == value for name, value in match.items()):
            return dict(row)
    return {}


def means(
    axis: Axes,
    x: Sequence[float],
    mean: Sequence[float | None],
    sd: Sequence[float | None],
    method: str,
    **look: Any,
) -> None:
    """Draw means as large markers, with bars of one SD unless it is None."""
    size = 10.0 if METHOD_MARKERS[method] == "*" else 7.0
    options = method_look(method) | {"markersize": size, "linewidth": 1.4, "zorder": 3} | look
    axis.plot(x, [number(value) for value in mean], **options)
    bars = [(at, number(m), s) for at, m, s in zip(x, mean, sd, strict=True) if s is not None]
    if bars:
        at, middle, half = zip(*bars, strict=True)
        bar: dict[str, Any] = {"capsize": 4, "elinewidth": 1.2, "zorder": 4}
        axis.errorbar(at, middle, yerr=half, fmt="none", ecolor=METHOD_COLOURS[method], **bar)


def runs(axis: Axes, x: float, values: Sequence[float | None], width: float, **look: Any) -> None:
    """Draw runs as small points, side by side over `width` around x."""
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
    """Draw the paper's numbers as hollow diamonds in the colour of a method, unless y is None."""
    known = [(at, value) for at, value in zip(x, y, strict=True) if value is not None]
    if known:
        colour = {"markeredgecolor": METHOD_COLOURS[method]} if method else {}
        axis.plot(*zip(*known, strict=True), **({"zorder": 6} | PAPER_LOOK | colour | look))


def band(axis: Axes, x: Sequence[float], runs: Sequence[Sequence[float]], **look: Any) -> None:
    """Draw the mean over runs (R, epochs) in a band of one sample SD, for two runs or more."""
    values = np.asarray(runs, dtype=np.float64)
    middle = values.mean(0)
    axis.plot(x, middle, **({"linewidth": 1.5} | look))
    if len(values) > 1:
        sd = values.std(0, ddof=1)
        axis.fill_between(
            x, middle - sd, middle + sd, color=look.get("color"), alpha=0.25, linewidth=0
        )


def row_axis(axis: Axes, labels: Sequence[str], *, separators: bool = True) -> None:
    """Label the rows of a panel, the first at the top, with lines between them."""
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.grid(False, axis="y")
    if separators:
        for y in range(1, len(labels)):
            axis.axhline(y - 0.5, color="#dddddd", linewidth=0.6, zorder=0)


def key(label: str, **look: Any) -> Line2D:
    """A legend entry."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def method_key(method: str, *, line: bool = False, **look: Any) -> Line2D:
    """Legend entry of a method."""
    options = method_look(method) | {"label": method}
    options["markersize"] = 9.0 if METHOD_MARKERS[method] == "*" else 6.5
    if not line:
        options["linestyle"] = "none"
    return key(**(options | look))


def run_key() -> Line2D:
    """Legend entry of a run."""
    look = {"color": "#222222", "alpha": 0.7, "markeredgewidth": 0}
    return key("one run", marker=".", linestyle="none", markersize=5, **look)


def paper_key() -> Line2D:
    """Legend entry of the paper's numbers."""
    return key("paper", **PAPER_LOOK)


def legend_below(figure: Figure, keys: Sequence[Any], columns: int = 8) -> None:
    """Add one legend for all panels, below them."""
    figure.legend(
        handles=list(keys),
        loc="outside lower center",
        ncols=min(columns, len(keys)),
        fontsize=8.5,
        frameon=False,
        handlelength=2.6,
    )
