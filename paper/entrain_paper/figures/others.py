"""Published networks, of the paper and of others, by their number of oscillators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.figures.panels import Values, paper_marks
from entrain_paper.figures.style import METHOD_COLOURS, PAPER_LOOK, PUBLISHED_COLOUR, published_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Point = tuple[float, float]

_PAPER = "TWO-STAGE-END"
_CLASSES = 10  # outputs of every network of the paper
_KEYS = {"MNIST": "mnist_top1", "Fashion-MNIST": "fashion_top1"}
_OTHER_DIGITS = "8x8 Digits"
_COLOUR = METHOD_COLOURS[_PAPER]
_LINE: dict[str, Any] = {
    "linestyle": "-",
    "linewidth": 1.2,
    "color": _COLOUR,
    "markerfacecolor": "white",
    "markersize": 6.0,
}


def size_axis(axis: Axes, counts: list[float]) -> None:
    """Numbers of oscillators on a logarithmic axis, each with its tick."""
    from matplotlib.ticker import NullLocator

    axis.set_xscale("log")
    axis.set_xticks(counts, [f"{count:g}" for count in counts])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.18, y=0.08)
    axis.set_xlabel("oscillators $N$")


def paper_widths(axis: Axes, dataset: str, **look: Any) -> list[Point]:
    """Draw the paper's TWO-STAGE-END at its widths with its SDs. Return the points."""
    rows = [row for row in paper_numbers()["width_scaling"]["rows"] if row["dataset"] == dataset]
    counts = [row["H"] + _CLASSES for row in rows]
    tops = [row["two_stage_end_top1_mean"] for row in rows]
    paper_marks(axis, counts, tops, _PAPER, **(_LINE | look))
    sds = [row["two_stage_end_top1_sd"] for row in rows]
    _bars(axis, counts, tops, sds, look.get("color", _COLOUR))
    return list(zip(counts, tops, strict=True))


def published_networks(axis: Axes, dataset: str) -> tuple[list[str], list[Point]]:
    """Draw networks of others whose size the paper gives, filled if the task is the same. Return
    names and points."""
    names, points = [], []
    key = _KEYS.get(dataset, "")
    for row in _others():
        name, top, sd = row["system"], row.get(f"{key}_mean"), row.get(f"{key}_sd")
        standard = top is not None
        if dataset == "MNIST" and row["task"] == _OTHER_DIGITS:
            name, top = f"{name} (8x8 digits)", row["other_task_top1_mean"]
        if top is None:
            continue
        axis.plot(row["total"], top, **published_look(standard))
        _bars(axis, [row["total"]], [top], [sd], PUBLISHED_COLOUR)
        names.append(name)
        points.append((float(row["total"]), float(top)))
    return names, points


def paper_widths_key(**look: Any) -> Line2D:
    """The legend entry of the paper's networks."""
    from matplotlib.lines import Line2D

    shown = PAPER_LOOK | {"markeredgecolor": _COLOUR} | _LINE | look
    return Line2D([], [], label=f"paper, {_PAPER}", **shown)


def others_keys() -> list[Line2D]:
    """The legend entries of the networks of others."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], label="published, same task", **published_look(True)),
        Line2D([], [], label="published, other digits", **published_look(False)),
    ]


def _others() -> list[Values]:
    rows = paper_numbers()["cross_platform_resources"]["rows"]
    return [row for row in rows if "total" in row and "citation" in row]


def _bars(axis: Axes, x: list[float], y: list[float], sd: list[float | None], colour: str) -> None:
    for at, middle, half in zip(x, y, sd, strict=True):
        if half is not None:
            axis.errorbar(at, middle, yerr=half, fmt="none", ecolor=colour, capsize=3)
