"""Results of `entrain train`: a table, a figure, and messages about diverged and collapsed runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import number, print_line, print_table
from entrain.cli.evaluate import COLUMNS

if TYPE_CHECKING:
    from entrain.data import Dataset
    from entrain.rules import Rule
    from entrain.training import DivergedError, Recipe, Trained

# Columns: title, metric, format; on_chips.* are those over chips.
_IDEAL = (*COLUMNS[:4], ("epoch", "epoch", ".0f"))
_ON_CHIPS = (
    ("mean %", "on_chips.mean", ".2f"),
    ("5th percentile", "on_chips.p5", ".2f"),
    ("worst", "on_chips.worst", ".2f"),
    ("ideal %", "top1", ".2f"),
    ("epoch", "epoch", ".0f"),
)
_CALIBRATED = (("chip %", "on_chips.mean", ".2f"), *_ON_CHIPS[-2:])
_CALIBRATED_ROWS = {"GIVEN": "gains cancelled", "RETRAIN": "trained for it"}


def print_results(results: dict[str, Any], trained: Trained) -> None:
    """Print the table of a training and the paths of its files."""
    folder = shlex.quote(results["folder"])
    on_chips = [row["on_chips"] for row in results["results"].values() if "on_chips" in row]
    if not on_chips:
        _print_table(results, trained, "", _IDEAL)
    elif on_chips[0]["chips"] == 1:
        title = "top-1 on the calibrated chip, and of its programmed network without imperfections"
        _print_table(results | {"teacher": None}, trained, title, _CALIBRATED)
        print_line(f"chip    as calibrated; again: entrain evaluate {folder}")
    else:
        chips, name = on_chips[0]["chips"], on_chips[0]["hardware"].get("name")
        title = f"top-1 of {chips} chips, and of the ideal network"
        _print_table(results, trained, title, _ON_CHIPS)
        seeds = f"seeds 0 to {chips - 1}; more: entrain yield {folder}"
        print_line(f"chips   {name or 'the hardware trained for'}, {seeds}")
    print_line(f"model   {results['model']}")
    if results["figure"] is not None:
        print_line(f"figure  {results['figure']}")
    print_line(f"trained on {results['device']} in {results['seconds']['total']:.0f} s")


def _print_table(
    results: dict[str, Any], trained: Trained, title: str, columns: tuple[tuple[str, str, str], ...]
) -> None:
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
    scores = scores_of(model.network, model.inputs(test.features))
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
                f"that of epoch {int(state.best_epoch[run])}, with "
                f"{state.selected('top1', run):.2f} % of the validation examples. "
                f"{advice[0].upper()}{advice[1:]} (--set {name}.FIELD=VALUE)"
            )
    return messages


_TIME_OPTIONS = " (--observation-time, --steps)"


def options_of(recipe: Recipe, error: DivergedError) -> str:
    """The options to change after a divergence in the first stage, in brackets."""
    from entrain.training import time_hint

    advice = time_hint(recipe.spec.dynamics)
    if advice is not None and advice in str(error):
        return _TIME_OPTIONS
    return " (--path-learning-rate)" if str(error).startswith("PATH:") else ""


def _advice(recipe: Recipe, protocol: Rule | None, run: int) -> str:
    from entrain.rules import TwoStage
    from entrain.training import time_hint

    if protocol is None:
        return "Lower its learning rate"
    if (advice := time_hint(recipe.spec.dynamics)) is not None:
        return advice[0].upper() + advice[1:] + _TIME_OPTIONS
    if not isinstance(protocol, TwoStage):
        return f"Lower its rates (--set {protocol.name}.input_rate=..., .coupling_rate=...)"
    option = "path" if protocol.name == "PATH" else "endpoint"
    rate = protocol.learning_rate
    rate = rate[run] if isinstance(rate, tuple) else rate
    weight = " or --endpoint-weight" if protocol.endpoint_weight else ""
    return f"Lower --{option}-learning-rate (it was {rate:g}){weight}"
