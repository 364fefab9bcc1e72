"""The paper's numbers among those of many teachers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entrain_paper.figures.panels import (
    METRIC_LABELS,
    PAPER_KEYS,
    Results,
    by_dataset,
    heading,
    legend_below,
    number,
    panels,
    paper_key,
    paper_marks,
    runs,
)
from entrain_paper.figures.reference import paper_row
from entrain_paper.figures.style import MAIN_METHODS, METHOD_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RULES = {"top1": "top-1", "cross-entropy": "cross-\nentropy"}
_SPREAD: dict[str, Any] = {"markersize": 5.5, "alpha": 0.55}


def teacher_sweep(results: Results) -> Figure:
    """Datasets as rows; a column for each metric and method; a point for each teacher."""
    datasets = by_dataset(results["teacher-sweep"]["rows"])
    columns = [(metric, method) for metric in METRIC_LABELS for method in MAIN_METHODS.values()]
    figure, axes = panels(len(datasets), len(columns), (11.5, 2.7 * len(datasets) + 0.6))
    letters = iter("abcdefghijklmnopqrstuvwx")
    for (dataset, rows), line in zip(datasets.items(), axes, strict=True):
        rules = list(dict.fromkeys(row["rule"] for row in rows))
        for axis, (metric, method) in zip(line, columns, strict=True):
            for place, rule in enumerate(rules):
                values = [row[method][metric] for row in rows if row["rule"] == rule]
                _strip(axis, place, values, METHOD_COLOURS[method])
            printed = paper_row("multiseed", dataset=dataset, method=method)
            name = PAPER_KEYS[metric]
            paper_marks(axis, [len(rules)], [printed.get(f"{name}_mean")], method, markersize=6.0)
            axis.set_xticks(
                range(len(rules) + 1), [*(_RULES.get(rule, rule) for rule in rules), "paper"]
            )
            axis.tick_params(labelsize=7)
            axis.set_xlim(-0.6, len(rules) + 0.6)
            axis.margins(y=0.12)
            axis.grid(False, axis="x")
            axis.set_ylabel(f"{METRIC_LABELS[metric]}", fontsize=8)
            heading(axis, "", next(letters))
            axis.set_title(method, fontsize=7.5, loc="right")
        line[0].annotate(
            dataset,
            (0, 0.5),
            xytext=(-44, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            rotation=90,
            va="center",
            ha="center",
            fontweight="bold",
            fontsize=9,
        )
    legend_below(figure, [*_keys(), paper_key()])
    return figure


def _strip(axis: Axes, x: float, values: list[float | None], colour: str) -> None:
    known = [number(value) for value in values]
    runs(axis, x, known, 0.6, color=colour, **_SPREAD)
    axis.hlines(sum(known) / len(known), x - 0.4, x + 0.4, color=colour, linewidth=1.6)


def _keys() -> list[Any]:
    from matplotlib.lines import Line2D

    grey = "#555555"
    dot = Line2D([], [], color=grey, marker=".", linestyle="none", label="one teacher", **_SPREAD)
    return [dot, Line2D([], [], color=grey, linewidth=1.6, label="mean of the teachers")]
