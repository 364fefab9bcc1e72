"""Trajectories over time: distances from the teacher's path, outputs of examples, and outputs under
thermal noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from entrain.plots.style import COLUMN, class_colour
from entrain.plots.trajectories import AMID, Bounds, picture, trajectories
from entrain_paper.figures.panels import (
    Results,
    Values,
    by_dataset,
    empty_figure,
    heading,
    key,
    legend_below,
    method_key,
    panels,
)
from entrain_paper.figures.style import MAIN_METHODS, METHOD_COLOURS, METHOD_LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_TITLES = {
    "correct": "{}: correctly classified examples",
    "misclassified": "{}: misclassified examples, predicted class (true class)",
}
# At the upper left, where no output rises early and a wrong winner rises little.
_UPPER_LEFT: Bounds = (0.03, 0.62, 0.36, 0.36)


def time_resolved(results: Results) -> Figure:
    """Datasets as rows, output and hidden oscillators as columns."""
    datasets = by_dataset(results["time-resolved"]["rows"])
    figure, axes = panels(
        len(datasets), 2, (8.0, 2.4 * len(datasets) + 0.7), sharex=True, sharey="col"
    )
    for line, (dataset, rows) in zip(axes, datasets.items(), strict=True):
        for axis, row in zip(line, rows, strict=True):
            for name, method in MAIN_METHODS.items():
                axis.plot(
                    np.linspace(0.0, 1.0, len(row[name])),
                    row[name],
                    color=METHOD_COLOURS[method],
                    linestyle=METHOD_LINES[method],
                    linewidth=1.7,
                )
            heading(axis, f"{dataset}, {row['nodes']} oscillators")
            axis.set_ylim(bottom=0.0)
            axis.set_xlim(0.0, 1.0)
        line[0].set_ylabel(r"RMSE of $\cos\theta(t)$")
    for axis in axes[-1]:
        axis.set_xlabel("time $t / t_f$")
    legend_below(figure, [method_key(m, line=True, marker="none") for m in MAIN_METHODS.values()])
    return figure


def examples(dataset: str, kind: str) -> Callable[[Results], Figure]:
    """The function that draws one row of `output-dynamics`."""

    def draw(results: Results) -> Figure:
        title = _TITLES[kind].format(dataset)
        for row in results["output-dynamics"]["rows"]:
            if (row["dataset"], row["kind"]) == (dataset, kind) and row["labels"]:
                return trajectories(
                    np.asarray(row["images"]),
                    np.asarray(row["outputs"]).transpose(2, 0, 1),  # from (n, O, times)
                    np.asarray(row["labels"]),
                    tuple(row["class_names"]),
                    title,
                    bounds=AMID if kind == "correct" else _UPPER_LEFT,
                )
        return empty_figure(title)

    return draw


def stochastic_dynamics(results: Results) -> Figure:
    """Cases as rows, methods as columns."""
    values = results["stochastic-dynamics"]
    cases, names = values["cases"], values["class_names"]
    rows = max(1, len(cases))
    figure, axes = panels(rows, 2, (COLUMN, 2.35 * rows + 0.7), sharex=True, sharey=True)
    for line, case in zip(axes, cases, strict=False):
        for axis, method in zip(line, MAIN_METHODS.values(), strict=True):
            _plot_outputs(axis, case[method], case["label"])
            text = f"{method}, {_accuracy_words(case[method], names)}"
            axis.set_title(text, fontsize=8.5, loc="left")
        line[0].set_ylabel(f"({case['case']}) {names[case['label']]}\n" + r"$\cos\theta_o(t)$")
        picture(line[0], case["image"], _UPPER_LEFT)
    for axis in axes[-1]:
        axis.set_xlabel("time $t / t_f$")
    axes[0, 0].set_ylim(-1.08, 1.08)
    axes[0, 0].set_xlim(0.0, 1.05)
    if not cases:
        axes[0, 0].set_title("no such example", fontsize=9)
    legend_below(figure, _class_keys(names), columns=6)
    return figure


def _accuracy_words(case: Values, names: list[str]) -> str:
    right, total = case["correct_trajectories"], len(case["true_class"])
    return f"mean: {names[case['predicted']]}; {right} of {total} right"


def _plot_outputs(axis: Axes, case: Values, label: int) -> None:
    time, competitor = case["time"], case["competitor"]
    for output, traces in ((label, case["true_class"]), (competitor, case["competing_class"])):
        for trace in traces:
            axis.plot(time, trace, color=class_colour(output), linewidth=0.6, alpha=0.3, zorder=2)
    for output, trace in enumerate(case["mean"]):
        colour, marked = class_colour(output), output in (label, competitor)
        width, order = (2.2, 4) if marked else (1.0, 3)
        axis.plot(time, trace, color=colour, linewidth=width, zorder=order)
        if marked:
            axis.plot(
                time[-1],
                trace[-1],
                marker="o" if output == label else "s",
                markerfacecolor=colour if output == label else "white",
                markeredgecolor=colour,
                markersize=6.5,
                zorder=5,
                clip_on=False,
            )


def _class_keys(names: list[str]) -> list[Line2D]:
    look = {"color": "#444444", "linewidth": 2.2}
    return [
        *(key(name, color=class_colour(i), linewidth=1.6) for i, name in enumerate(names)),
        key("true class", marker="o", **look),
        key("strongest competitor", marker="s", markerfacecolor="white", **look),
    ]
