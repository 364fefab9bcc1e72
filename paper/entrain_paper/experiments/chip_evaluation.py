"""What the experiments with chips share: networks trained for a kind of chip, and their yield."""

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
"""By dataset, what differs from the usual settings of training for typical chips."""
T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """The sizes of the experiments with chips, in addition to those of all experiments.

    Along curves networks are trained for `epochs`, on grids with `grid_hidden` hidden oscillators.
    They are measured on `chips`, on `few_chips` for each strength of an effect, on `many_chips` for
    a yield. `of_each` is the number of entries taken from curves and lists; None takes all.
    """

    epochs: int = 60
    chips: int = 100
    few_chips: int = 5
    many_chips: int = 1000
    grid_hidden: int = 134
    of_each: int | None = None

    def some(self, entries: Sequence[T]) -> list[T]:
        """`of_each` entries, evenly spaced from the first to the last; all if it is None."""
        if self.of_each is None or self.of_each >= len(entries):
            return list(entries)
        last = max(1, self.of_each - 1)
        return [entries[i * (len(entries) - 1) // last] for i in range(self.of_each)]


_SMALL = {
    "quick": Sizes(4, chips=5, few_chips=2, many_chips=20, grid_hidden=62, of_each=2),
    "tiny": Sizes(2, chips=2, few_chips=1, many_chips=3, grid_hidden=14, of_each=1),
}


def sizes(setting: Setting) -> Sizes:
    """Those of a setting, by its name, with no more epochs than DIRECT has elsewhere."""
    found = _SMALL.get(setting.name, Sizes())
    return replace(found, epochs=min(found.epochs, setting.direct_epochs))


def trained_for(
    setting: Setting,
    name: str,
    hardware: Hardware,
    *,
    hidden: int | None = None,
    epochs: int | None = None,
    settings: Mapping[str, dict[str, Any]] | None = None,
) -> Stage:
    """Networks trained by DIRECT for chips of one kind, one per run. `settings` has, by dataset,
    fields of DIRECT that differ from the usual ones."""
    stage = shared_stages.direct_stage(setting, name, hidden, epochs=epochs)
    assert isinstance(stage.rule, Direct)
    rule = stage.rule.for_chips(ChipTraining(hardware), stage.dataset)
    return replace(stage, rule=replace(rule, **(settings or {}).get(name, {})))


def methods(setting: Setting, name: str) -> dict[str, Stage]:
    """The paper's networks, those from labels, and those from labels for typical chips."""
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
    """Test top-1 in percent on chips of the seeds 0, 1, ...: (R, C). Of the first few runs of a
    stage, or of one."""
    chosen = slice(context.setting.few_runs) if run is None else slice(run, run + 1)
    parameters = stage.parameters(context.state(stage))
    few = replace(
        parameters.map(lambda tensor: tensor[chosen].to(context.device)),
        graph=parameters.graph.to(context.device),
    )
    inputs, labels = context.examples(name)
    found = accuracies_on_chips(few, hardware, range(chips), inputs, labels, stage.network.dynamics)
    return found.cpu().numpy()


def over_chips(found: np.ndarray) -> Values:
    """Summary of accuracies (R, C): the mean over chips with its SD over trainings, the 5th
    percentile of the chips and the worst chip, and the same for each training."""
    means, fifths = found.mean(1), np.percentile(found, 5, axis=1)
    each = summarise(means.tolist())
    return {
        "mean": each.mean,
        "sd": each.sd,
        "p5": float(fifths.mean()),
        "worst": float(found.min()),
        "chips": found.shape[1],
        "runs": [
            {"mean": round(float(m), 4), "p5": round(float(p), 4), "worst": float(w)}
            for m, p, w in zip(means, fifths, found.min(1), strict=True)
        ],
    }


def measured(
    context: ExperimentContext, jobs: Sequence[tuple[Values, Callable[[], Values]]]
) -> list[Values]:
    """The labels and the measurement of every job, with progress."""
    rows = []
    for labels, measure in jobs:
        rows.append(labels | measure())
        context.on_progress(len(rows) / len(jobs))
    return rows
