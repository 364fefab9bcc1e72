"""Training curves: validation accuracy, the losses of Stage II, matched continuations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrain.plots.style import COLUMN
from entrain_paper.figures.panels import (
    RMSE,
    TOP1,
    Results,
    band,
    by_dataset,
    heading,
    key,
    legend_below,
    method_key,
    number,
    panels,
)
from entrain_paper.figures.style import DATASET_COLOURS, DATASET_LINES, METHOD_COLOURS, METHOD_LINES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STAGES = (("stage1", "PATH", "Stage I"), ("stage2", "TWO-STAGE-END", "Stage II"))
_LOSSES = (  # of Stage II: name, label, power of ten of the unit
    ("path_loss", r"training path loss $\mathcal{L}_{\mathrm{path}}$", -5),
    ("endpoint_loss", r"training endpoint loss $\mathcal{L}_{\mathrm{end}}$", -2),
)


def validation_curves(results: Results) -> Figure:
    """Datasets as rows, stages as columns; epoch 0 of Stage II is the selected PATH network."""
    rows = results["validation-curves"]["rows"]
    figure, axes = panels(len(rows), 2, (COLUMN, 2.5 * len(rows) + 0.5), sharex="col")
    letters = iter("abcdefgh")
    for row, line in zip(rows, axes, strict=True):
        for axis, (stage, method, name) in zip(line, _STAGES, strict=True):
            first = 0 if stage == "stage2" else 1
            epochs = range(first, first + len(row[stage][0]))
            band(axis, epochs, row[stage], color=METHOD_COLOURS[method], label=method)
            heading(axis, f"{row['dataset']}, {name}: {method}", next(letters))
            axis.set_ylabel("validation top-1 (%)")
            axis.xaxis.get_major_locator().set_params(integer=True)
    for axis, name in zip(axes[-1], ("epoch", "continuation epoch"), strict=True):
        axis.set_xlabel(name)
    return figure


def stage2_components(results: Results) -> Figure:
    """One panel per loss."""
    figure, axes = panels(1, 2, (COLUMN, 3.3))
    for letter, axis, (loss, label, power) in zip("ab", axes[0], _LOSSES, strict=True):
        for row in results["stage2-components"]["rows"]:
            dataset = row["dataset"]
            band(
                axis,
                range(1, len(row[loss][0]) + 1),
                [[value / 10.0**power for value in run] for run in row[loss]],
                color=DATASET_COLOURS[dataset],
                linestyle=DATASET_LINES[dataset],
                label=dataset,
            )
        axis.set_ylim(bottom=0.0)
        axis.set_xlabel("continuation epoch")
        axis.set_ylabel(rf"{label} ($10^{{{power}}}$)")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.legend(fontsize=8.5, frameon=False, handlelength=3)
        heading(axis, "", letter)
    return figure


def matched_continuations(results: Results) -> Figure:
    """Datasets as columns, metrics as rows; open circles at the selected checkpoints."""
    rows = results["matched-continuations"]["rows"]
    datasets = by_dataset(rows)
    labels = ((TOP1, "validation top-1 (%)"), (RMSE, "validation endpoint RMSE"))
    figure, axes = panels(2, len(datasets), (COLUMN, 5.4), sharex=True)
    for column, (dataset, members) in enumerate(datasets.items()):
        for axis, (metric, label) in zip(axes[:, column], labels, strict=True):
            for order, member in enumerate(members):
                method, values = member["method"], [number(value) for value in member[metric]]
                look = {"color": METHOD_COLOURS[method], "linestyle": METHOD_LINES[method]}
                axis.plot(range(len(values)), values, linewidth=2.6 - 0.6 * order, **look)
                axis.plot(
                    member["selected"],
                    values[member["selected"]],
                    marker="o",
                    markersize=9,
                    markerfacecolor="none",
                    markeredgecolor=METHOD_COLOURS[method],
                    markeredgewidth=1.5,
                )
            axis.set_ylabel(label)
            axis.xaxis.get_major_locator().set_params(integer=True)
        heading(axes[0, column], dataset)
        axes[-1, column].set_xlabel("continuation epoch")
    circle = {"marker": "o", "markersize": 8, "markerfacecolor": "none", "linestyle": "none"}
    selected = key("selected", color="#222222", **circle)
    methods = dict.fromkeys(row["method"] for row in rows)
    legend_below(figure, [*(method_key(m, line=True, marker="none") for m in methods), selected])
    return figure
