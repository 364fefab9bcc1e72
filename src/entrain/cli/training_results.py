"""Results of `entrain train`: a table, a figure, and messages about diverged and collapsed runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import number, print_line, print_table
from entrain.cli.evaluate import Columns, columns_of

if TYPE_CHECKING:
    from entrain.data import Dataset
    from entrain.rules import Rule
    from entrain.tasks import Task
    from entrain.training import DivergedError, Recipe, Trained, TrainingState

_EPOCH = ("epoch", "epoch", ".0f")
_NUMBERS = 10  # examples in the figure of numbers
_CALIBRATED_ROWS = {"GIVEN": "gains cancelled", "RETRAIN": "trained for it"}


def _ideal(task: Task) -> Columns:
    """Columns of the ideal network."""
    return (*columns_of(task)[:4], _EPOCH)


def _on_chips(task: Task) -> Columns:
    """Columns over chips: on_chips.*, and of the ideal network."""
    metric = task.selection[-1]
    unit, form = metric.unit.rstrip(), metric.form
    last = (f"ideal{unit}", metric.name, form), _EPOCH
    mean = (f"mean{unit}", "on_chips.mean", form)
    percentile = (("5th percentile", "on_chips.p5", form),) if task.has_classes else ()
    return (mean, *percentile, ("worst", "on_chips.worst", form), *last)


def _calibrated(task: Task) -> Columns:
    """Columns of the calibrated chip and of the ideal network."""
    metric = task.selection[-1]
    chip = (f"chip{metric.unit}", "on_chips.mean", metric.form)
    return (chip, *_on_chips(task)[-2:])


def print_results(results: dict[str, Any], trained: Trained) -> None:
    """Print the table of a training and the paths of its files."""
    folder, task = shlex.quote(results["folder"]), trained.model.task
    of_what = task.selection[-1].title.removesuffix(" %")
    on_chips = [row["on_chips"] for row in results["results"].values() if "on_chips" in row]
    if not on_chips:
        _print_table(results, trained, "", _ideal(task))
    elif on_chips[0]["chips"] == 1:
        title = (
            f"{of_what} on the calibrated chip, and of its programmed network without imperfections"
        )
        _print_table(results | {"teacher": None}, trained, title, _calibrated(task))
        print_line(f"chip    as calibrated; again: entrain evaluate {folder}")
    else:
        chips, name = on_chips[0]["chips"], on_chips[0]["hardware"].get("name")
        title = f"{of_what} of {chips} chips, and of the ideal network"
        _print_table(results, trained, title, _on_chips(task))
        more = f"; more: entrain yield {folder}" if task.has_classes else ""
        print_line(f"chips   {name or 'the hardware trained for'}, seeds 0 to {chips - 1}{more}")
    print_line(f"model   {results['model']}")
    if results["figure"] is not None:
        print_line(f"figure  {results['figure']}")
    print_line(f"trained on {results['device']} in {results['seconds']['total']:.0f} s")


def _print_table(results: dict[str, Any], trained: Trained, title: str, columns: Columns) -> None:
    network, used = trained.model.network, trained.model.couplers_used
    in_use = f"{used:,} of {network.couplers:,} couplers in use" if title else ""
    teacher = {} if results["teacher"] is None else {"teacher": results["teacher"]}
    print_table(
        f"{results['dataset']}: {network.oscillators} oscillators, "
        f"{in_use or f'{network.couplers:,} couplers'}, {results['examples']:,} test examples"
        + (f"\n{title}" if title else ""),
        ("", *(column for column, _, _ in columns)),
        [
            (_CALIBRATED_ROWS.get(name, name), *(_cell(row, *cell) for _, *cell in columns))
            for name, row in (teacher | results["results"]).items()
        ],
    )


def _cell(row: dict[str, Any], metric: str, form: str) -> str:
    """The mean of a metric over runs, with its SD if there are several."""
    from entrain.evaluation import summarise

    group, _, name = metric.rpartition(".")
    values = row.get(group, {}) if group else row
    runs = [run[name] for run in values.get("runs", [values]) if name in run]
    if not runs:
        return "-"
    summary = summarise(runs)
    return number(summary.mean, form) + (f" ± {number(summary.sd, form)}" if len(runs) > 1 else "")


def draw_results(file: Path, trained: Trained, data: Dataset) -> None:
    """Draw the output oscillators over time on a few test examples."""
    import numpy as np

    from entrain.evaluation import representative, scores_of
    from entrain.plots import trajectory
    from entrain.plots.trajectories import MOST_PANELS

    model, test = trained.model, data.test
    if not model.task.has_classes:
        rows = np.arange(min(len(test), _NUMBERS))
        trajectory(model, test.features[rows], test.targets[rows], path=file)
        return
    scores = scores_of(model.network, model.inputs(test.features), task=model.task)
    rows = representative(scores.cpu().numpy(), test.labels)
    if not len(rows):  # nothing is classified correctly
        rows = np.unique(test.labels, return_index=True)[1]
    rows = rows[:MOST_PANELS]
    trajectory(model, test.features[rows], model.classes[test.labels[rows]], path=file)


def divergence_errors(recipe: Recipe, trained: Trained) -> list[str]:
    """A message for each run that became non-finite."""
    protocols = {protocol.name: protocol for protocol in recipe.protocols}
    messages = []
    for stage, runs in trained.diverged.items():
        state = trained.states[stage]
        for run in runs:
            epoch = int(state.best_epoch[run])
            best = f"its best checkpoint, of epoch {epoch},"
            saved = best if epoch else "only its initial network"
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
                f"that of epoch {int(state.best_epoch[run])}{_selected(state, run)}. "
                f"{advice[0].upper()}{advice[1:]} (--set {name}.FIELD=VALUE)"
            )
    return messages


def _selected(state: TrainingState, run: int) -> str:
    """The validation metric of the selected epoch."""
    from entrain.tasks import selection_metric

    metric = selection_metric(state.history)
    if metric is None:
        return ""
    title = metric.title.removesuffix(" %") or "accuracy"
    return f", with a validation {title} of {metric.text(state.selected(metric.name, run))}"


_TIME_OPTIONS = " (--set observation_time=..., steps=...)"


def options_of(recipe: Recipe, error: DivergedError) -> str:
    """The options to change after a divergence in the first stage, in brackets."""
    from entrain.training import time_hint

    advice = time_hint(recipe.spec.dynamics)
    if advice is not None and advice in str(error):
        return _TIME_OPTIONS
    return " (--set PATH.learning_rate=...)" if str(error).startswith("PATH:") else ""


def _advice(recipe: Recipe, protocol: Rule | None, run: int) -> str:
    from entrain.rules import TwoStage
    from entrain.training import time_hint

    if protocol is None:
        return "Lower its learning rate"
    if (advice := time_hint(recipe.spec.dynamics)) is not None:
        return advice[0].upper() + advice[1:] + _TIME_OPTIONS
    if not isinstance(protocol, TwoStage):
        return f"Lower its rates (--set {protocol.name}.input_rate=..., .coupling_rate=...)"
    rate = protocol.learning_rate
    rate = rate[run] if isinstance(rate, tuple) else rate
    weight = " or .endpoint_weight" if protocol.endpoint_weight else ""
    return f"Lower its rate (--set {protocol.name}.learning_rate=..., it was {rate:g}){weight}"
