"""Output activations under thermal noise: ensemble means and single trajectories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.plots.style import class_colour
from entrain.plots.trajectories import picture
from entrain_paper.figures.panels import Results, Values, legend_below, panels
from entrain_paper.figures.style import MAIN_METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def stochastic_dynamics(results: Results) -> Figure:
    """Methods as rows, cases as columns."""
    values = results["stochastic-dynamics"]
    cases, names = values["cases"], values["class_names"]
    columns = max(1, len(cases))
    figure, axes = panels(2, columns, (2.7 * columns, 5.6), sharex=True, sharey=True)
    for column, case in enumerate(cases):
        name = f"({case['case']}) {names[case['label']]}\n"
        for axis, method, above in zip(
            axes[:, column], MAIN_METHODS.values(), (name, ""), strict=True
        ):
            _outputs(axis, case[method], case["label"])
            text = above + _verdict(case[method], names)
            axis.set_title(text, fontsize=8.5, loc="left", x=0.25, y=1.02)
        picture(axes[0, column], case["image"], (0.0, 1.02, 0.22, 0.25))
        axes[-1, column].set_xlabel("time $t / t_f$")
    for axis, method in zip(axes[:, 0], MAIN_METHODS.values(), strict=True):
        axis.set_ylabel(rf"{method}: $\cos\theta_o(t)$")
        axis.set_ylim(-1.08, 1.08)
        axis.set_xlim(0.0, 1.05)
    if not cases:
        axes[0, 0].set_title("no such example", fontsize=9)
    legend_below(figure, _keys(names), columns=6)
    return figure


def _verdict(shown: Values, names: list[str]) -> str:
    count = len(shown["true_class"])
    return (
        f"mean: {names[shown['predicted']]},"
        f"\n{shown['correct_trajectories']} of {count} trajectories right"
    )


def _outputs(axis: Axes, shown: Values, label: int) -> None:
    time, rival = shown["time"], shown["competitor"]
    for output, traces in ((label, shown["true_class"]), (rival, shown["competing_class"])):
        for trace in traces:
            axis.plot(time, trace, color=class_colour(output), linewidth=0.6, alpha=0.3, zorder=2)
    for output, trace in enumerate(shown["mean"]):
        marked = output in (label, rival)
        axis.plot(
            time,
            trace,
            color=class_colour(output),
            linewidth=2.2 if marked else 1.0,
            zorder=4 if marked else 3,
        )
        if marked:
            axis.plot(
                time[-1],
                trace[-1],
                marker="o" if output == label else "s",
                markerfacecolor=class_colour(output) if output == label else "white",
                markeredgecolor=class_colour(output),
                markersize=6.5,
                zorder=5,
                clip_on=False,
            )


def _keys(names: list[str]) -> list[Line2D]:
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=class_colour(output), linewidth=1.6, label=name)
        for output, name in enumerate(names)
    ]
    grey = "#444444"
    return [
        *keys,
        Line2D([], [], color=grey, marker="o", linewidth=2.2, label="true class"),
        Line2D(
            [],
            [],
            color=grey,
            marker="s",
            markerfacecolor="white",
            linewidth=2.2,
            label="strongest competitor",
        ),
    ]
