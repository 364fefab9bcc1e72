"""Stages as values: equal ones are one, different ones never are; students of several teachers."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch

import entrain
from entrain.data import load_dataset
from entrain.rules import PAPER_PROTOCOLS
from entrain.rules.training_data import TrainingData
from entrain.training import (
    Stage,
    TrainingState,
    pack_state,
    stages,
    teacher_stage,
    train_stage,
    unpack_state,
)
from entrain.utils.errors import InputError

pytest.importorskip("entrain_paper", reason="pip install ./paper")
from entrain_paper.experiments import (
    EXPERIMENTS,
    PAPER,
    QUICK,
    TINY,
    Measurement,
    with_prerequisites,
)
from entrain_paper.experiments.setting import FASHION, MNIST


def test_a_key_changes_with_everything_that_decides_the_outcome() -> None:
    path = TINY.main_path(MNIST)
    stage = TINY.continue_from(path)
    others = [
        replace(stage, rule=replace(stage.rule, learning_rate=11.0)),
        replace(stage, rule=replace(stage.rule, endpoint_weight=2.0)),
        replace(stage, runs=(0,)),
        replace(stage, seed=1),
        replace(stage, network=replace(stage.network, dynamics=entrain.Dynamics(steps=100))),
        TINY.continue_from(replace(path, seed=1)),
        TINY.continue_from(TINY.path(TINY.teacher(MNIST, seed=7))),
        TINY.continue_from(TINY.main_path(FASHION)),
    ]
    keys = [stage.key, *(other.key for other in others)]
    assert len(set(keys)) == len(keys)
    assert TINY.continue_from(TINY.main_path(MNIST)).key == stage.key


@pytest.mark.parametrize("setting", [PAPER, QUICK, TINY], ids=lambda s: s.name)
def test_experiments_share_their_stages(setting) -> None:
    stages = {}
    asked = 0
    for experiment in EXPERIMENTS.values():
        for stage in with_prerequisites(Measurement(experiment, setting).needs):
            stages[stage.key] = stage
            asked += stage.rule.trains_networks  # a compared system is measured in one place
    networks = [stage for stage in stages.values() if stage.rule.trains_networks]
    assert len(networks) < 0.65 * asked
    for stage in stages.values():
        assert {need.key for need in stage.needs} <= set(stages)
        assert stage.dataset in stage.title


def test_the_paper_setting_is_the_papers_protocol() -> None:
    teacher, path = PAPER.teacher(MNIST), PAPER.main_path(MNIST)
    end = PAPER.continue_from(path)
    assert (teacher.rule.widths, teacher.rule.initialisations) == ((32, 16, 16), 5)
    assert (teacher.rule.epochs, teacher.rule.learning_rate) == (300, 0.2)
    assert PAPER.teacher(FASHION).rule.initialisations == 1
    assert PAPER.teacher(FASHION).rule.selection == "cross-entropy"
    assert (path.rule.learning_rate, path.epochs, path.parallel_runs) == (3000, 300, 10)
    assert path.rule.solver == "sgd"
    assert (end.rule.learning_rate, end.epochs, end.rule.endpoint_weight) == (10, 20, 1)
    assert not QUICK.is_paper
    assert PAPER.with_runs(3).is_paper
    assert PAPER.with_runs(3).few_runs == 3


def test_stages_that_make_no_sense_are_refused() -> None:
    teacher = teacher_stage("digits")
    path, two_stage = PAPER_PROTOCOLS["PATH"], PAPER_PROTOCOLS["TWO-STAGE-END"]
    with pytest.raises(InputError, match="one teacher, or one for each; got 2"):
        Stage(path, "digits", teachers=(teacher, teacher), runs=(0, 1, 2))
    with pytest.raises(InputError, match="starts from PATH: give a stage"):
        Stage(two_stage, "digits", teachers=(teacher,))
    start = Stage(path, "digits", teachers=(teacher,), runs=(0, 1))
    with pytest.raises(InputError, match=r"runs \(2,\) are not part of the start stage"):
        Stage(two_stage, "digits", teachers=(teacher,), runs=(2,), start=start)


@pytest.fixture(scope="module")
def data() -> TrainingData:
    return TrainingData(load_dataset("mnist-small"), torch.device("cpu"))


def test_students_of_two_teachers_side_by_side_are_those_of_each_alone(data: TrainingData) -> None:
    teachers = [TINY.teacher(MNIST, seed=seed) for seed in (0, 1)]
    states: dict[str, TrainingState] = {t.key: train_stage(t, data, {}) for t in teachers}

    def both_stages(*taught: Stage) -> dict[str, torch.Tensor]:
        path = TINY.path(*taught, runs=(0,) * len(taught))
        end = TINY.continue_from(path)
        states[path.key] = train_stage(path, data, states)
        return train_stage(end, data, states).best

    together = both_stages(*teachers)
    for run, teacher in enumerate(teachers):
        alone = both_stages(teacher)
        for name, tensor in alone.items():
            assert tensor[0].abs().max() > 0
            assert torch.allclose(together[name][run], tensor[0], rtol=1e-4, atol=1e-5), name
    assert not torch.allclose(together["couplings"][0], together["couplings"][1], atol=0.01)


def test_a_continuation_starts_from_the_network_of_the_same_run(
    data: TrainingData, monkeypatch: pytest.MonkeyPatch
) -> None:
    teacher = TINY.teacher(MNIST)
    path = TINY.path(teacher, runs=(0, 1, 2))
    states = {teacher.key: train_stage(teacher, data, {})}
    states[path.key] = train_stage(path, data, states)
    monkeypatch.setattr(stages, "run_training", lambda training, saved, on_epoch: training)
    for runs in ((2, 0), (1, 1, 1)):
        training = train_stage(TINY.continue_from(path, runs=runs), data, states)
        for name, tensor in training.initial().items():
            assert torch.equal(tensor, states[path.key].best[name][list(runs)])
    couplings = states[path.key].best["couplings"]
    assert not torch.equal(couplings[0], couplings[1])


def test_a_packed_state_is_the_state(data: TrainingData) -> None:
    teacher = TINY.teacher(MNIST)
    state = train_stage(teacher, data, {})
    again, header = unpack_state(pack_state(state, {"note": "x"}), "somewhere")
    assert header["note"] == "x"
    for each in fields(TrainingState):
        ours, theirs = getattr(state, each.name), getattr(again, each.name)
        if each.name == "is_finished":
            continue  # the loop sets it
        if isinstance(ours, dict) and each.name != "history":
            assert all(torch.equal(ours[name], theirs[name]) for name in ours)
        elif isinstance(ours, torch.Tensor):
            assert torch.equal(ours, theirs)
        else:
            assert ours == theirs
    with pytest.raises(InputError, match="somewhere: not a readable checkpoint"):
        unpack_state(b"nothing of the kind", "somewhere")
