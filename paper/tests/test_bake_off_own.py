"""Networks of Entrain as rows of the bake-off."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from entrain.data import load_dataset
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, TrainingState, train_stage
from entrain_paper.experiments import ExperimentContext, Measurement, bake_off
from entrain_paper.experiments.bake_off_entrain import ENTRAIN_SYSTEMS, EntrainSystem, entrain_row
from entrain_paper.experiments.experiment import Values
from entrain_paper.experiments.setting import FASHION, MNIST, PAPER, TINY

BY_NAME = {system.name: system for system in ENTRAIN_SYSTEMS}
SETTING = replace(TINY, datasets=((MNIST, "digits"), (FASHION, "digits")))


def with_needs(stage: Stage) -> list[Stage]:
    return [each for need in stage.needs for each in with_needs(need)] + [stage]


def row_of(system: EntrainSystem, seconds: float | None = 2.0) -> Values:
    """One of our entries, trained for a moment on the bundled digits."""
    data, states = TrainingData(load_dataset("digits"), torch.device("cpu")), {}
    stages = with_needs(system.stage(SETTING, MNIST))
    for stage in stages:
        found: dict[str, TrainingState] = states
        found[stage.key] = train_stage(stage, data, found)
    times = {} if seconds is None else {stage.key: {"seconds": seconds} for stage in stages}
    context = ExperimentContext(SETTING, states, load_dataset, torch.device("cpu"), headers=times)
    return entrain_row(context, MNIST, system)


@pytest.mark.parametrize("system", ENTRAIN_SYSTEMS, ids=list(BY_NAME))
def test_every_network_of_entrain_is_measured(system: EntrainSystem) -> None:
    """Accuracies are percentages of each run, and a gradient flow loses energy."""
    row = row_of(system)
    assert len(row["runs"]) == len(row["validation"]) == SETTING.few_runs
    assert row["measured_mean"] == pytest.approx(sum(row["runs"]) / len(row["runs"]))
    assert all(0 <= top <= 100 for top in row["runs"])
    assert math.isfinite(row["energy"])
    assert row["energy"] > 0
    assert row["variables"] == SETTING.hidden + 10


def test_training_time_includes_all_required_stages() -> None:
    """Teacher, path and continuation take three times what one stage takes."""
    assert row_of(BY_NAME["two-stage-end"])["seconds"] == 6.0
    assert row_of(BY_NAME["direct"])["seconds"] == 2.0
    assert row_of(BY_NAME["direct"], seconds=None)["seconds"] is None


def test_frozen_couplings_are_not_counted_and_do_not_change() -> None:
    """Only input weights are adaptive where couplings are random and fixed."""
    system = BY_NAME["frozen-couplings"]
    row = row_of(system)
    assert row["parameters"] == SETTING.hidden * 64  # pixels of the bundled digits
    assert row["couplers"] == 0
    stage = system.stage(SETTING, MNIST)
    data = TrainingData(load_dataset("digits"), torch.device("cpu"))
    state = train_stage(stage, data, {})
    assert torch.equal(state.best["couplings"], state.current["raw.couplings"])
    assert not state.best["biases"].any()


def test_only_two_stage_end_has_a_cited_accuracy() -> None:
    assert BY_NAME["two-stage-end"].cited(MNIST) == 96.711
    assert BY_NAME["two-stage-end"].cited(FASHION) == 86.399
    assert all(
        system.cited(MNIST) is None for system in ENTRAIN_SYSTEMS if system.name != "two-stage-end"
    )


def test_stages_of_the_bake_off_include_networks_of_entrain() -> None:
    keys = {stage.key for stage in Measurement(bake_off.EXPERIMENT, PAPER).needs}
    for dataset in (MNIST, FASHION):
        assert {system.stage(PAPER, dataset).key for system in ENTRAIN_SYSTEMS} <= keys
