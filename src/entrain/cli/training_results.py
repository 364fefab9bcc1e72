"""What `entrain train` shows at its end: a table, a figure, and runs that diverged or
collapsed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import number, out, table

if TYPE_CHECKING:
    from rich.table import Table

    from entrain.data import Dataset
    from entrain.rules import Rule
    from entrain.training import DivergedError, Recipe, Trained

MOST_PANELS = 25  # of the figure


_METRICS = (
    ("top-1 %", "top1", ".2f"),
    ("top-2 %", "top2", ".2f"),
    ("agreement %", "agreement", ".2f"),
    ("endpoint RMSE", "endpoint_rmse", ".4f"),
    ("epoch", "epoch", ".0f"),
)


def show(results: dict[str, Any], trained: Trained) -> None:
    """The table of a training, and where its files are."""
    rows = results["results"].values()
    chips = next((row["on_chips"] for row in rows if "on_chips" in row), None)
    if chips is None:
        out.print(_table(results, trained))
    elif chips["chips"] == 1:
        out.print(_table_of_one_device(results, trained))
        more = f"entrain evaluate {shlex.quote(results['folder'])}"
        out.print(f"device  as it was calibrated; again: {more}", soft_wrap=True)
    else:
        out.print(_table_of_chips(results, trained, chips["chips"]))
        kind = chips["hardware"].get("name") or "the kind trained for"
        more = f"entrain yield {shlex.quote(results['folder'])}"
        out.print(f"chips   {kind}, seeds 0 to {chips['chips'] - 1}; more: {more}", soft_wrap=True)
    out.print(f"model   {results['model']}", soft_wrap=True)
    out.print(f"figure  {results['figure']}", soft_wrap=True)
    out.print(f"trained on {results['device']} in {results['seconds']['total']:.0f} s")


def _table(results: dict[str, Any], trained: Trained) -> Table:
    network = trained.model.network
    shown = table(
        f"{results['dataset']}: {network.oscillators} oscillators, {network.couplers:,} couplers, "
        f"{results['examples']:,} test examples",
        "",
        *(title for title, _, _ in _METRICS),
    )
    if (teacher := results["teacher"]) is not None:
        shown.add_row("teacher", number(teacher["top1"]), number(teacher["top2"]), "-", "-", "-")
    for name, row in results["results"].items():
        shown.add_row(name, *(_cell(row, metric, form) for _, metric, form in _METRICS))
    return shown


def _table_of_chips(results: dict[str, Any], trained: Trained, chips: int) -> Table:
    """Top-1 over chips of the kind trained for, and the ideal network's beside it."""
    network = trained.model.network
    shown = table(
        f"{results['dataset']}: {network.oscillators} oscillators, {trained.model.couplers_used:,} "
        f"of {network.couplers:,} couplers in use, {results['examples']:,} test examples\n"
        f"top-1 of {chips} chips, and of the ideal network",
        "",
        "mean %",
        "5th percentile",
        "worst",
        "ideal %",
        "epoch",
    )
    if (teacher := results["teacher"]) is not None:
        shown.add_row("teacher", "-", "-", "-", number(teacher["top1"]), "-")
    for name, row in results["results"].items():
        each = row.get("on_chips", {})
        shown.add_row(
            name,
            *(_of_runs(each, metric) for metric in ("mean", "p5", "worst")),
            _cell(row, "top1", ".2f"),
            _cell(row, "epoch", ".0f"),
        )
    return shown


def _table_of_one_device(results: dict[str, Any], trained: Trained) -> Table:
    """Top-1 on the device, before and after training for it, and the ideal network's beside it."""
    network = trained.model.network
    shown = table(
        f"{results['dataset']}: {network.oscillators} oscillators, {trained.model.couplers_used:,} "
        f"of {network.couplers:,} couplers in use, {results['examples']:,} test examples\n"
        "top-1 on the calibrated device, and of what it is programmed with on the ideal one",
        "",
        "device %",
        "ideal %",
        "epoch",
    )
    words = {"GIVEN": "gains cancelled", "RETRAIN": "and trained for it"}
    for name, row in results["results"].items():
        shown.add_row(
            words.get(name, name),
            _of_runs(row.get("on_chips", {}), "mean"),
            _cell(row, "top1", ".2f"),
            _cell(row, "epoch", ".0f"),
        )
    return shown


def _cell(row: dict[str, Any], metric: str, form: str) -> str:
    if metric not in row:
        return "-"
    spread = f" ± {number(row['sd'][metric], form)}" if len(row["runs"]) > 1 else ""
    return number(row[metric], form) + spread


def _of_runs(on_chips: dict[str, Any], name: str) -> str:
    """A number of chips, with its SD over runs where there are several."""
    from entrain.evaluation import summarise

    if not on_chips:
        return "-"
    found = summarise([run[name] for run in on_chips["runs"]])
    spread = f" ± {number(found.sd)}" if len(on_chips["runs"]) > 1 else ""
    return number(found.mean) + spread


def draw(file: Path, trained: Trained, data: Dataset) -> None:
    """The output oscillators deciding on a few test examples."""
    import numpy as np

    from entrain.evaluation import representative, scores_of
    from entrain.plots import save, trajectories

    model = trained.model
    inputs = model.inputs(data.test.features)
    scores = scores_of(model.network, inputs)
    rows = representative(scores.cpu().numpy(), data.test.labels)
    if not len(rows):  # nothing is classified correctly
        rows = np.unique(data.test.labels, return_index=True)[1]
    rows = rows[:MOST_PANELS]
    outputs = model.network.readout(model.network.simulate(inputs[rows], record=True))
    figure = trajectories(
        images=data.test.features[rows].reshape(-1, *data.image_shape),
        outputs=outputs.cpu().numpy(),
        labels=data.test.labels[rows],
        class_names=data.class_names,
        title=f"{model.protocol} on {data.name}: the output oscillators deciding",
    )
    save(figure, file)


def divergence(recipe: Recipe, trained: Trained) -> list[str]:
    """A sentence for each run that became non-finite."""
    protocols = {protocol.name: protocol for protocol in recipe.protocols}
    found = []
    for stage, runs in trained.diverged.items():
        state = trained.states[stage]
        for run in runs:
            epoch = int(state.best_epoch[run])
            kept = f"its best checkpoint, of epoch {epoch}," if epoch else "only its starting point"
            found.append(
                f"{stage} run {run} became non-finite in epoch {int(state.diverged[run])}; {kept} "
                f"is kept. {_advice(recipe, protocols.get(stage), run)}"
            )
    return found


def collapses(recipe: Recipe, trained: Trained) -> list[str]:
    """A sentence for each run that got far worse, all numbers finite."""
    from entrain.training import collapse_advice

    protocols = {protocol.name: protocol for protocol in recipe.protocols}
    found = []
    for name, runs in trained.collapsed.items():
        state = trained.states[name]
        advice = collapse_advice(protocols[name], recipe.spec.dynamics)
        for run in runs:
            losses = [each[run] for each in state.history["loss"]]
            least = min(losses)
            found.append(
                f"{name} run {run} collapsed: its loss was {least:.3g} in epoch "
                f"{1 + losses.index(least)} and is {losses[-1]:.3g} at the end. Kept is epoch "
                f"{int(state.best_epoch[run])}, with {state.selected('top1', run):.2f} % of the "
                f"validation examples. {advice[0].upper()}{advice[1:]} (--set {name}.FIELD=VALUE)"
            )
    return found


TIME_OPTIONS = " (--observation-time, --steps)"


def options_of(recipe: Recipe, error: DivergedError) -> str:
    """The options that an error of the first stage is about."""
    from entrain.training import time_advice

    advice = time_advice(recipe.spec.dynamics)
    if advice is not None and advice in str(error):
        return TIME_OPTIONS
    return " (--path-learning-rate)" if str(error).startswith("PATH:") else ""


def _advice(recipe: Recipe, protocol: Rule | None, run: int) -> str:
    from entrain.rules import TwoStage
    from entrain.training import time_advice

    if protocol is None:
        return "Lower its learning rate"
    if (advice := time_advice(recipe.spec.dynamics)) is not None:
        return advice[0].upper() + advice[1:] + TIME_OPTIONS
    if not isinstance(protocol, TwoStage):
        return f"Lower its rates (--set {protocol.name}.input_rate=..., .coupling_rate=...)"
    option = "path" if protocol.name == "PATH" else "endpoint"
    rate = protocol.learning_rate
    used = rate[run] if isinstance(rate, tuple) else rate
    weight = " or --endpoint-weight" if protocol.endpoint_weight else ""
    return f"Lower --{option}-learning-rate (it was {used:g}){weight}"
