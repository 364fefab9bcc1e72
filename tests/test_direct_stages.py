"""Stages of protocol DIRECT: that they learn, where they start, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from direct_tasks import NAMES, equal_states
from entrain.data import load_dataset
from entrain.errors import InputError
from entrain.learning import (
    Augmentation,
    Classroom,
    DirectProtocol,
    DirectStage,
    DirectTask,
    Examples,
    StudentStage,
    TeacherSpec,
    TeacherStage,
    chosen_teacher,
    network_of,
    perform,
    protocol_named,
    train,
)
from entrain.physics import Dynamics

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def digits() -> Classroom:
    return Classroom(load_dataset("digits"), torch.device("cpu"))


def quick(**changes: Any) -> DirectProtocol:
    few: dict[str, Any] = {
        "epochs": 12,
        "batch_size": 32,
        "input_rate": 1e-2,
        "coupling_rate": 3e-2,
        "averaging": 0.98,
        "coarse_steps": 10,
        "fine_epochs": 1,
    }
    return DirectProtocol(**(few | changes))


SHORT = Dynamics(1.0, 0.2, 20)


def test_digits_are_learnt_from_small_random_couplings(digits: Classroom) -> None:
    stage = DirectStage("digits", quick(epochs=20), hidden=20, runs=(0, 1), dynamics=SHORT)
    state = perform(stage, digits, {})
    assert state.best["couplings"].shape == (2, 30, 30)
    assert all(state.selected("top1", lane) > 95 for lane in range(2))
    network = network_of(state.best, 1, SHORT)
    right = (network(digits.validation[0]).argmax(1) == digits.validation[1]).float().mean()
    assert 100 * float(right) == pytest.approx(state.selected("top1", 1))


def test_pictures_become_the_inputs_of_the_dataset(digits: Classroom) -> None:
    whole = zip(digits.pictures, (digits.train, digits.validation), strict=True)
    for pictures, (inputs, labels) in whole:
        assert torch.allclose(pictures.of(pictures.images), inputs, atol=1e-5)
        assert torch.equal(pictures.labels, labels)


def test_digits_are_learnt_from_distorted_images(digits: Classroom) -> None:
    protocol = quick(
        epochs=6, augmentation=Augmentation(shift=0.5, rotation=5.0), unaugmented_epochs=1
    )
    state = perform(DirectStage("digits", protocol, hidden=12, dynamics=SHORT), digits, {})
    assert state.selected("top1", 0) > 85


TEACHER = TeacherStage("digits", TeacherSpec((6, 4), initialisations=1, epochs=20, batch_size=32))


def test_a_stage_distils_its_teacher(digits: Classroom) -> None:
    states = {TEACHER.key: perform(TEACHER, digits, {})}
    protocol = quick(distillation=1.0, epochs=3)
    stage = DirectStage("digits", protocol, hidden=10, teacher=TEACHER, dynamics=SHORT)
    assert stage.needs == (TEACHER,)
    state = perform(stage, digits, states)
    said = chosen_teacher(states[TEACHER.key]).targets(digits.train[0]).float()
    data = Examples(digits.train[1], digits.train[0], said)
    unseen = Examples(digits.validation[1], digits.validation[0])
    alone = train(DirectTask(protocol, data, unseen, (64, 10, 10), SHORT, seed=0))
    assert equal_states(state, alone)
    losses = [loss[0] for loss in state.history["loss"]]
    assert losses[-1] < 0.7 * losses[0]


PATH = StudentStage(
    replace(protocol_named("PATH"), epochs=1, learning_rate=1000.0),
    (TEACHER,),
    runs=(0, 1),
    dynamics=SHORT,
)


def test_a_stage_starts_from_the_student_of_its_own_order(digits: Classroom) -> None:
    states = {TEACHER.key: perform(TEACHER, digits, {})}
    states[PATH.key] = perform(PATH, digits, states)
    protocol = quick(start="PATH", epochs=1, input_rate=1e-12, coupling_rate=1e-12)
    stage = DirectStage("digits", protocol, hidden=10, runs=(1, 0), start=PATH, dynamics=SHORT)
    assert stage.needs == (PATH,)
    state = perform(stage, digits, states)
    for lane, theirs in enumerate((1, 0)):
        for name in NAMES:
            ours, path = state.current[name][lane], states[PATH.key].best[name][theirs]
            assert torch.allclose(ours, path, atol=1e-6)
    assert not torch.allclose(state.current["couplings"][0], state.current["couplings"][1])


def test_a_stage_refuses_starts_and_teachers_that_do_not_fit_its_protocol() -> None:
    with pytest.raises(InputError, match="DIRECT starts from PATH: give a stage"):
        DirectStage("digits", DirectProtocol(start="PATH"))
    with pytest.raises(InputError, match="DIRECT starts from TWO-STAGE-END: give a stage"):
        DirectStage("digits", DirectProtocol(start="TWO-STAGE-END"))
    for start in ("random", "zero"):
        with pytest.raises(InputError, match=f"DIRECT starts from {start}: give a stage"):
            DirectStage("digits", DirectProtocol(start=start), hidden=10, start=PATH)
    with pytest.raises(InputError, match="DIRECT: a teacher is given exactly if it is distilled"):
        DirectStage("digits", DirectProtocol(distillation=0.5))
    with pytest.raises(InputError, match="DIRECT: a teacher is given exactly if it is distilled"):
        DirectStage("digits", teacher=TEACHER)


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": (0, 2)},
        {"hidden": 11},
        {"dataset": "mnist"},
        {"protocol": DirectProtocol(start="TWO-STAGE-END")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_stage_refuses_a_start_of_another_kind(changes: dict[str, Any]) -> None:
    fits = DirectStage("digits", DirectProtocol(start="PATH"), hidden=10, runs=(0,), start=PATH)
    with pytest.raises(InputError):
        replace(fits, **changes)


def test_a_stage_refuses_a_teacher_of_another_dataset() -> None:
    with pytest.raises(InputError):
        DirectStage("mnist", DirectProtocol(distillation=0.5), teacher=TEACHER)


def test_a_key_changes_with_everything_that_decides_the_outcome() -> None:
    stage = DirectStage("digits")
    others = [
        replace(stage, dataset="mnist"),
        replace(stage, hidden=65),
        replace(stage, runs=(1,)),
        replace(stage, seed=1),
        replace(stage, dynamics=SHORT),
        replace(stage, protocol=DirectProtocol(gain=7.0)),
        replace(stage, protocol=DirectProtocol(augmentation=Augmentation(shift=1.0))),
        replace(stage, protocol=DirectProtocol(distillation=0.5), teacher=TEACHER),
        replace(stage, protocol=DirectProtocol(start="PATH"), hidden=10, start=PATH),
    ]
    assert len({stage.key, *(other.key for other in others)}) == 1 + len(others)
    assert DirectStage("digits").key == stage.key


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("epochs", 0, "a whole number of at least 1"),
        ("batch_size", 1.5, "a whole number of at least 1"),
        ("coarse_steps", True, "a whole number of at least 1"),
        ("input_rate", 0.0, "finite and above 0"),
        ("coupling_rate", (0.1, -0.2), "finite and above 0"),
        ("gain", float("nan"), "finite and above 0"),
        ("clip", 0, "finite and above 0"),
        ("weight_decay", -1.0, "finite and at least 0"),
        ("smoothing", "0.1", "a number"),
        ("initial_couplings", float("inf"), "finite and at least 0"),
        ("initial_weights", -0.1, "finite and at least 0"),
        ("distillation", 1.5, "from 0 to 1"),
        ("distillation", -0.5, "finite and at least 0"),
        ("warm_up", 1.0, "from 0 to below 1"),
        ("averaging", 1.0, "from 0 to below 1"),
    ],
)
def test_a_refusal_names_the_field_what_came_and_what_was_expected(
    name: str, value: Any, expected: str
) -> None:
    came = value[-1] if isinstance(value, tuple) else value
    with pytest.raises(InputError, match=f"^{name} must be {expected}, got {came!r}$"):
        DirectProtocol(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("smoothing", 1.5), ("fine_epochs", -1), ("fine_epochs", 0.5), ("unaugmented_epochs", -1)],
)
def test_a_value_that_makes_no_sense_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"^{name} must be .*, got {value!r}$"):
        DirectProtocol(**{name: value})


def test_an_unknown_start_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown start 'two-stage': did you mean 'TWO-STAGE-END'"):
        DirectProtocol(start="two-stage")


def test_a_teacher_and_augmentation_exclude_each_other() -> None:
    with pytest.raises(InputError, match="distil or augment"):
        DirectProtocol(distillation=0.5, augmentation=Augmentation(shift=1.0))
