"""Trajectories over time: distances from the teacher's path, outputs of examples, and outputs under
thermal noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from entrain.plots.style import class_colour
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
    """Methods as rows, cases as columns."""
    values = results["stochastic-dynamics"]
    cases, names = values["cases"], values["class_names"]
    columns = max(1, len(cases))
    figure, axes = panels(2, columns, (2.7 * columns, 5.6), sharex=True, sharey=True)
    for column, case in enumerate(cases):
        title = f"({case['case']}) {names[case['label']]}\n"
        for axis, method, first_line in zip(
            axes[:, column], MAIN_METHODS.values(), (title, ""), strict=True
        ):
            _plot_outputs(axis, case[method], case["label"])
            text = first_line + _accuracy_lines(case[method], names)
            axis.set_title(text, fontsize=8.5, loc="left", x=0.25, y=1.02)
        picture(axes[0, column], case["image"], (0.0, 1.02, 0.22, 0.25))
        axes[-1, column].set_xlabel("time $t / t_f$")
    for axis, method in zip(axes[:, 0], MAIN_METHODS.values(), strict=True):
        axis.set_ylabel(rf"{method}: $\cos\theta_o(t)$")
        axis.set_ylim(-1.08, 1.08)
        axis.set_xlim(0.0, 1.05)
    if not cases:
        axes[0, 0].set_title("no such example", fontsize=9)
    legend_below(figure, _class_keys(names), columns=6)
    return figure


def _accuracy_lines(case: Values, names: list[str]) -> str:
    return (
        f"mean: {names[case['predicted']]},\n"
        f"{case['correct_trajectories']} of {len(case['true_class'])} trajectories right"
    )


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
