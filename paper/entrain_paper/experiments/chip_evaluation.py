"""Shared by the experiments with chips: networks trained for hardware, and their accuracy on
sampled chips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from entrain.evaluation import summarise
from entrain.evaluation.chips import accuracies_on_chips
from entrain.hardware import Hardware, preset
from entrain.rules import Direct
from entrain.rules.chip_training import ChipTraining
from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import ExperimentContext, Values
from entrain_paper.experiments.setting import MNIST, Setting

FOR_TYPICAL = "DIRECT for chips"
FOR_TYPICAL_SETTINGS: Mapping[str, dict[str, Any]] = {MNIST: {"coarse_steps": 100}}
"""Settings of training for typical chips that differ from the usual ones, by dataset."""
T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """The sizes of the experiments with chips, in addition to those of all experiments.

    Networks along curves are trained for `epochs`, networks on grids have `grid_hidden` hidden
    oscillators. They are measured on `chips`, on `few_chips` for each strength of an effect, on
    `many_chips` for a yield. Curves and lists are thinned to `max_entries`; None takes all entries.
    """

    epochs: int = 60
    chips: int = 100
    few_chips: int = 5
    many_chips: int = 1000
    grid_hidden: int = 134
    max_entries: int | None = None

    def thinned(self, entries: Sequence[T]) -> list[T]:
        """`max_entries` entries, evenly spaced from the first to the last."""
        if self.max_entries is None or self.max_entries >= len(entries):
            return list(entries)
        last = max(1, self.max_entries - 1)
        return [entries[i * (len(entries) - 1) // last] for i in range(self.max_entries)]


_SMALL = {
    "quick": Sizes(4, chips=5, few_chips=2, many_chips=20, grid_hidden=62, max_entries=2),
    "tiny": Sizes(2, chips=2, few_chips=1, many_chips=3, grid_hidden=14, max_entries=1),
}


def sizes(setting: Setting) -> Sizes:
    """The sizes of a setting, with no more epochs than its other DIRECT networks."""
    named = _SMALL.get(setting.name, Sizes())
    return replace(named, epochs=min(named.epochs, setting.direct_epochs))


def trained_for(
    setting: Setting,
    name: str,
    hardware: Hardware,
    *,
    hidden: int | None = None,
    epochs: int | None = None,
    settings: Mapping[str, dict[str, Any]] | None = None,
) -> Stage:
    """DIRECT networks trained for chips of `hardware`, one per run. `settings` replaces fields of
    DIRECT, by dataset."""
    stage = shared_stages.direct_stage(setting, name, hidden, epochs=epochs)
    assert isinstance(stage.rule, Direct)
    rule = stage.rule.for_chips(ChipTraining(hardware), stage.dataset)
    return replace(stage, rule=replace(rule, **(settings or {}).get(name, {})))


def methods(setting: Setting, name: str) -> dict[str, Stage]:
    """Stages of PATH, TWO-STAGE-END, DIRECT and DIRECT for typical chips, by method."""
    return {
        **shared_stages.main_students(setting, name),
        "DIRECT": shared_stages.direct_stage(setting, name),
        FOR_TYPICAL: trained_for(setting, name, preset("typical"), settings=FOR_TYPICAL_SETTINGS),
    }


def accuracies(
    context: ExperimentContext,
    name: str,
    stage: Stage,
    hardware: Hardware,
    chips: int,
    *,
    run: int | None = None,
) -> np.ndarray:
    """Test top-1 (R, C) in percent on chips with the seeds 0, 1, ..., of the first few runs of a
    stage or of `run` alone."""
    runs = slice(context.setting.few_runs) if run is None else slice(run, run + 1)
    parameters = stage.parameters(context.state(stage))
    few = replace(
        parameters.map(lambda tensor: tensor[runs].to(context.device)),
        graph=parameters.graph.to(context.device),
    )
    inputs, labels = context.examples(name)
    dynamics = stage.network.dynamics
    return accuracies_on_chips(few, hardware, range(chips), inputs, labels, dynamics).cpu().numpy()


def over_chips(accuracies: np.ndarray) -> Values:
    """Summary of accuracies (R, C): the mean over chips with its SD over runs, the 5th percentile
    of the chips and the worst chip, and the same for each run."""
    means, fifths = accuracies.mean(1), np.percentile(accuracies, 5, axis=1)
    over_runs = summarise(means.tolist())
    return {
        "mean": over_runs.mean,
        "sd": over_runs.sd,
        "p5": float(fifths.mean()),
        "worst": float(accuracies.min()),
        "chips": accuracies.shape[1],
        "runs": [
            {"mean": round(float(m), 4), "p5": round(float(p), 4), "worst": float(w)}
            for m, p, w in zip(means, fifths, accuracies.min(1), strict=True)
        ],
    }


def measure_rows(
    context: ExperimentContext, jobs: Sequence[tuple[Values, Callable[[], Values]]]
) -> list[Values]:
    """A row for every job: its labels and its measurement."""
    rows = []
    for labels, measure in jobs:
        rows.append(labels | measure())
        context.on_progress(len(rows) / len(jobs))
    return rows
