"""Stages of protocol DIRECT: that they learn, where they start, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from direct_trainings import NAMES, equal_states
from entrain.data import load_dataset
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import PAPER_PROTOCOLS, Augmentation, Direct, TeacherSpec
from entrain.rules.direct_training import DirectTraining
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, run_training, teacher_stage, train_stage
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def digits() -> TrainingData:
    return TrainingData(load_dataset("digits"), torch.device("cpu"))


def quick(**changes: Any) -> Direct:
    few: dict[str, Any] = {
        "epochs": 12,
        "batch_size": 32,
        "input_rate": 1e-2,
        "coupling_rate": 3e-2,
        "averaging": 0.98,
        "coarse_steps": 10,
        "fine_epochs": 1,
    }
    return Direct(**(few | changes))


SHORT = Dynamics(1.0, 0.2, 20)


def direct(protocol: Direct, hidden: int, **others: Any) -> Stage:
    """A stage of networks of so many hidden oscillators that run a short time."""
    return Stage(protocol, "digits", NetworkSpec(hidden, SHORT), **others)


def test_digits_are_learnt_from_small_random_couplings(digits: TrainingData) -> None:
    stage = direct(quick(epochs=20), 20, runs=(0, 1))
    state = train_stage(stage, digits, {})
    assert state.best["couplings"].shape == (2, 30, 30)
    assert all(state.selected("top1", run) > 95 for run in range(2))
    network = stage.networks(state, digits.device)[1]
    unseen = digits.validation
    right = (network(unseen.inputs).argmax(1) == unseen.targets).float().mean()
    assert 100 * float(right) == pytest.approx(state.selected("top1", 1))


def test_pictures_become_the_inputs_of_the_dataset(digits: TrainingData) -> None:
    whole = zip(digits.images, (digits.train, digits.validation), strict=True)
    for pictures, examples in whole:
        assert torch.allclose(pictures.all_inputs(), examples.inputs, atol=1e-5)
        assert torch.equal(pictures.targets, examples.targets)


def test_digits_are_learnt_from_distorted_images(digits: TrainingData) -> None:
    protocol = quick(
        epochs=6, augmentation=Augmentation(shift=0.5, rotation=5.0), unaugmented_epochs=1
    )
    state = train_stage(direct(protocol, 12), digits, {})
    assert state.selected("top1", 0) > 85


TEACHER = teacher_stage("digits", TeacherSpec((6, 4), initialisations=1, epochs=20, batch_size=32))


def test_a_stage_distils_its_teacher(digits: TrainingData) -> None:
    states = {TEACHER.key: train_stage(TEACHER, digits, {})}
    protocol = quick(distillation=1.0, epochs=3)
    stage = direct(protocol, 10, teachers=(TEACHER,))
    assert stage.needs == (TEACHER,)
    state = train_stage(stage, digits, states)
    taught = TEACHER.teacher(states[TEACHER.key]).targets(digits.train.inputs).float()
    data = (digits.train, digits.validation)
    training = DirectTraining(
        protocol, *data, stage.network, digits.task, seed=0, teacher_outputs=taught
    )
    assert equal_states(state, run_training(training))
    losses = [loss[0] for loss in state.history["loss"]]
    assert losses[-1] < 0.7 * losses[0]


PATH = Stage(
    replace(PAPER_PROTOCOLS["PATH"], epochs=1, learning_rate=1000.0),
    "digits",
    NetworkSpec(10, SHORT),
    (TEACHER,),
    runs=(0, 1),
)


def test_a_stage_starts_from_the_student_of_its_own_order(digits: TrainingData) -> None:
    states = {TEACHER.key: train_stage(TEACHER, digits, {})}
    states[PATH.key] = train_stage(PATH, digits, states)
    protocol = quick(start="PATH", epochs=1, input_rate=1e-12, coupling_rate=1e-12)
    stage = direct(protocol, 10, runs=(1, 0), start=PATH)
    assert stage.needs == (PATH,)
    state = train_stage(stage, digits, states)
    for run, theirs in enumerate((1, 0)):
        for name in NAMES:
            ours, path = state.current[name][run], states[PATH.key].best[name][theirs]
            assert torch.allclose(ours, path, atol=1e-6)
    assert not torch.allclose(state.current["couplings"][0], state.current["couplings"][1])


def test_a_stage_refuses_starts_and_teachers_that_do_not_fit_its_protocol() -> None:
    with pytest.raises(InputError, match="DIRECT starts from PATH: give a stage"):
        Stage(Direct(start="PATH"), "digits")
    with pytest.raises(InputError, match="DIRECT starts from TWO-STAGE-END: give a stage"):
        Stage(Direct(start="TWO-STAGE-END"), "digits")
    for start in ("random", "zero"):
        with pytest.raises(InputError, match=f"DIRECT starts from {start}: give no stage"):
            direct(Direct(start=start), 10, start=PATH)
    with pytest.raises(InputError, match="DIRECT needs a teacher, got 0"):
        Stage(Direct(distillation=0.5), "digits")
    with pytest.raises(InputError, match="DIRECT needs no teacher, got 1"):
        Stage(Direct(), "digits", teachers=(TEACHER,))
    with pytest.raises(InputError, match="DIRECT distils one teacher, got 2"):
        Stage(Direct(distillation=0.5), "digits", teachers=(TEACHER, TEACHER))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": (0, 2)}, r"runs \(0, 2\) are not part of the start stage, which has \(0, 1\)"),
        ({"network": NetworkSpec(11, SHORT)}, "a start stage of hidden oscillators 11, got 10"),
        ({"dataset": "mnist"}, "a start stage of dataset mnist, got digits"),
        (
            {"rule": Direct(start="TWO-STAGE-END")},
            "a start stage of protocol TWO-STAGE-END, got PATH",
        ),
    ],
    ids=["runs", "network", "dataset", "rule"],
)
def test_a_stage_refuses_a_start_of_another_kind(changes: dict[str, Any], message: str) -> None:
    fits = direct(Direct(start="PATH"), 10, runs=(0,), start=PATH)
    with pytest.raises(InputError, match=message):
        replace(fits, **changes)


def test_a_stage_refuses_a_teacher_of_another_dataset() -> None:
    with pytest.raises(InputError, match="trains on mnist, its teacher was trained on digits"):
        Stage(Direct(distillation=0.5), "mnist", teachers=(TEACHER,))


def test_a_key_changes_with_everything_that_decides_the_outcome() -> None:
    stage = Stage(Direct(), "digits")
    others = [
        replace(stage, dataset="mnist"),
        replace(stage, network=NetworkSpec(65)),
        replace(stage, runs=(1,)),
        replace(stage, seed=1),
        replace(stage, network=NetworkSpec(64, SHORT)),
        replace(stage, rule=Direct(gain=7.0)),
        replace(stage, rule=Direct(augmentation=Augmentation(shift=1.0))),
        replace(stage, rule=Direct(distillation=0.5), teachers=(TEACHER,)),
        replace(stage, rule=Direct(start="PATH"), network=NetworkSpec(10), start=PATH),
    ]
    assert len({stage.key, *(other.key for other in others)}) == 1 + len(others)
    assert Stage(Direct(), "digits").key == stage.key


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
        Direct(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("smoothing", 1.5), ("fine_epochs", -1), ("fine_epochs", 0.5), ("unaugmented_epochs", -1)],
)
def test_a_value_that_makes_no_sense_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"^{name} must be .*, got {value!r}$"):
        Direct(**{name: value})


def test_an_unknown_start_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown start 'two-stage'; did you mean 'TWO-STAGE-END'"):
        Direct(start="two-stage")


def test_a_teacher_and_augmentation_exclude_each_other() -> None:
    with pytest.raises(InputError, match="choose distillation at a temperature, such as"):
        Direct(distillation=0.5, augmentation=Augmentation(shift=1.0))
