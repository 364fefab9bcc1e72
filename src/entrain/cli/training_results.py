"""Results of `entrain train`: a table, a figure, and messages about diverged and collapsed runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import number, out, print_line, table

if TYPE_CHECKING:
    from rich.table import Table

    from entrain.data import Dataset
    from entrain.rules import Rule
    from entrain.training import DivergedError, Recipe, Trained

_MOST_PANELS = 25  # of the figure

_METRICS = (
    ("top-1 %", "top1", ".2f"),
    ("top-2 %", "top2", ".2f"),
    ("agreement %", "agreement", ".2f"),
    ("endpoint RMSE", "endpoint_rmse", ".4f"),
    ("epoch", "epoch", ".0f"),
)


def print_results(results: dict[str, Any], trained: Trained) -> None:
    """Print the table of a training and the paths of its files."""
    rows = results["results"].values()
    on_chips = next((row["on_chips"] for row in rows if "on_chips" in row), None)
    folder = shlex.quote(results["folder"])
    if on_chips is None:
        out.print(_table(results, trained))
    elif on_chips["chips"] == 1:
        out.print(_table_of_calibrated_chip(results, trained))
        print_line(f"chip    as calibrated; again: entrain evaluate {folder}")
    else:
        out.print(_table_of_chips(results, trained, on_chips["chips"]))
        name = on_chips["hardware"].get("name") or "the hardware trained for"
        seeds = f"seeds 0 to {on_chips['chips'] - 1}"
        print_line(f"chips   {name}, {seeds}; more: entrain yield {folder}")
    print_line(f"model   {results['model']}")
    print_line(f"figure  {results['figure']}")
    print_line(f"trained on {results['device']} in {results['seconds']['total']:.0f} s")


def _table(results: dict[str, Any], trained: Trained) -> Table:
    network = trained.model.network
    rows = table(
        f"{results['dataset']}: {network.oscillators} oscillators, {network.couplers:,} couplers, "
        f"{results['examples']:,} test examples",
        *("", *(title for title, _, _ in _METRICS)),
    )
    if (teacher := results["teacher"]) is not None:
        rows.add_row("teacher", number(teacher["top1"]), number(teacher["top2"]), "-", "-", "-")
    for name, row in results["results"].items():
        rows.add_row(name, *(_cell(row, metric, form) for _, metric, form in _METRICS))
    return rows


def _title_on_chips(results: dict[str, Any], trained: Trained) -> str:
    network = trained.model.network
    return (
        f"{results['dataset']}: {network.oscillators} oscillators, {trained.model.couplers_used:,} "
        f"of {network.couplers:,} couplers in use, {results['examples']:,} test examples\ntop-1 "
    )


def _table_of_chips(results: dict[str, Any], trained: Trained, chips: int) -> Table:
    """Top-1 over chips, and of the ideal network."""
    rows = table(
        f"{_title_on_chips(results, trained)}of {chips} chips, and of the ideal network",
        *("", "mean %", "5th percentile", "worst", "ideal %", "epoch"),
    )
    if (teacher := results["teacher"]) is not None:
        rows.add_row("teacher", "-", "-", "-", number(teacher["top1"]), "-")
    for name, row in results["results"].items():
        on_chips = (_chip_cell(row, metric) for metric in ("mean", "p5", "worst"))
        rows.add_row(name, *on_chips, _cell(row, "top1", ".2f"), _cell(row, "epoch", ".0f"))
    return rows


def _table_of_calibrated_chip(results: dict[str, Any], trained: Trained) -> Table:
    """Top-1 on the chip before and after training for it, and of the ideal network."""
    rows = table(
        f"{_title_on_chips(results, trained)}on the calibrated chip, and of the ideal network with "
        "the programmed parameters",
        *("", "chip %", "ideal %", "epoch"),
    )
    titles = {"GIVEN": "gains cancelled", "RETRAIN": "trained for it"}
    for name, row in results["results"].items():
        cells = (_chip_cell(row, "mean"), _cell(row, "top1", ".2f"), _cell(row, "epoch", ".0f"))
        rows.add_row(titles.get(name, name), *cells)
    return rows


def _cell(row: dict[str, Any], metric: str, form: str) -> str:
    """A metric, with its SD over runs if there are several."""
    if metric not in row:
        return "-"
    spread = f" ± {number(row['sd'][metric], form)}" if len(row["runs"]) > 1 else ""
    return number(row[metric], form) + spread


def _chip_cell(row: dict[str, Any], metric: str) -> str:
    """A metric over chips, with its SD over runs if there are several."""
    from entrain.evaluation import summarise

    if "on_chips" not in row:
        return "-"
    runs = row["on_chips"]["runs"]
    summary = summarise([run[metric] for run in runs])
    return number(summary.mean) + (f" ± {number(summary.sd)}" if len(runs) > 1 else "")


def draw_results(file: Path, trained: Trained, data: Dataset) -> None:
    """Draw the output oscillators over time on a few test examples."""
    import numpy as np

    from entrain.evaluation import representative, scores_of
    from entrain.plots import save, trajectories

    model = trained.model
    inputs = model.inputs(data.test.features)
    scores = scores_of(model.network, inputs)
    rows = representative(scores.cpu().numpy(), data.test.labels)
    if not len(rows):  # nothing is classified correctly
        rows = np.unique(data.test.labels, return_index=True)[1]
    rows = rows[:_MOST_PANELS]
    outputs = model.network.readout(model.network.simulate(inputs[rows], record=True))
    figure = trajectories(
        images=data.test.features[rows].reshape(-1, *data.image_shape),
        outputs=outputs.cpu().numpy(),
        labels=data.test.labels[rows],
        class_names=data.class_names,
        title=f"{model.protocol} on {data.name}: output oscillators over time",
    )
    save(figure, file)


def divergence_errors(recipe: Recipe, trained: Trained) -> list[str]:
    """A message for each run that became non-finite."""
    protocols = {protocol.name: protocol for protocol in recipe.protocols}
    messages = []
    for stage, runs in trained.diverged.items():
        state = trained.states[stage]
        for run in runs:
            epoch = int(state.best_epoch[run])
            saved = f"its best checkpoint, of epoch {epoch}," if epoch else "its initial network"
            messages.append(
                f"{stage} run {run} became non-finite in epoch {int(state.diverged[run])}; {saved} "
                f"is saved. {_advice(recipe, protocols.get(stage), run)}"
            )
    return messages


def collapse_warnings(recipe: Recipe, trained: Trained) -> list[str]:
    """A message for each run that got far worse but stayed finite."""
    from entrain.training import collapse_hint

    protocols = {protocol.name: protocol for protocol in recipe.protocols}
    messages = []
    for name, runs in trained.collapsed.items():
        state = trained.states[name]
        advice = collapse_hint(protocols[name], recipe.spec.dynamics)
        for run in runs:
            losses = [epoch_losses[run] for epoch_losses in state.history["loss"]]
            least = min(losses)
            messages.append(
                f"{name} run {run} collapsed: its loss was {least:.3g} in epoch "
                f"{1 + losses.index(least)} and is {losses[-1]:.3g} at the end. The saved model is "
                f"that of epoch {int(state.best_epoch[run])}, with "
                f"{state.selected('top1', run):.2f} % of the validation examples. "
                f"{advice[0].upper()}{advice[1:]} (--set {name}.FIELD=VALUE)"
            )
    return messages


TIME_OPTIONS = " (--observation-time, --steps)"


def options_of(recipe: Recipe, error: DivergedError) -> str:
    """The options to change after a divergence in the first stage, in brackets."""
    from entrain.training import time_hint

    advice = time_hint(recipe.spec.dynamics)
    if advice is not None and advice in str(error):
        return TIME_OPTIONS
    return " (--path-learning-rate)" if str(error).startswith("PATH:") else ""


def _advice(recipe: Recipe, protocol: Rule | None, run: int) -> str:
    from entrain.rules import TwoStage
    from entrain.training import time_hint

    if protocol is None:
        return "Lower its learning rate"
    if (advice := time_hint(recipe.spec.dynamics)) is not None:
        return advice[0].upper() + advice[1:] + TIME_OPTIONS
    if not isinstance(protocol, TwoStage):
        return f"Lower its rates (--set {protocol.name}.input_rate=..., .coupling_rate=...)"
    option = "path" if protocol.name == "PATH" else "endpoint"
    rate = protocol.learning_rate
    rate = rate[run] if isinstance(rate, tuple) else rate
    weight = " or --endpoint-weight" if protocol.endpoint_weight else ""
    return f"Lower --{option}-learning-rate (it was {rate:g}){weight}"
