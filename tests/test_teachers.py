"""Teachers from outside the package: distillation, what they are given, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

import entrain
from command_line import Invoke
from direct_trainings import CLASSES, SEED, SPEC, check_interruption, equal_states, examples
from entrain import InputError, kernels
from entrain.data import ImageDataset
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import (
    PAPER_PROTOCOLS,
    Assignment,
    Augmentation,
    Direct,
    EquilibriumPropagation,
    TeacherSpec,
    TwoStage,
)
from entrain.rules.convolutional_teacher import ConvolutionalTeacher
from entrain.rules.direct_training import DirectTraining
from entrain.rules.external_teacher import external_teacher
from entrain.rules.training_data import TrainingData
from entrain.training import Recipe, Trained, TrainingState, run_pipeline, run_training
from entrain.training.run_folder import RunFolder
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")

FEW: dict[str, Any] = {
    "network": NetworkSpec(10, Dynamics(1.0, 0.2, 20)),
    "epochs": 2,
}
SHIFTED = {"DIRECT.augmentation": {"shift": 0.5}}


@pytest.fixture(scope="module")
def digits() -> ImageDataset:
    """A part of the digits."""
    data = entrain.load_dataset("digits")
    parts = {"train": data.train.rows(slice(300)), "validation": data.validation.rows(slice(60))}
    return replace(data, **parts, name="part")


@pytest.fixture(scope="module")
def classifier(digits: ImageDataset) -> LogisticRegression:
    """A classifier of the pixels."""
    return LogisticRegression(max_iter=200).fit(digits.train.features, digits.train.labels)


class Linear(nn.Module):
    """A random layer behind a dropout, which must be off; it collects what it is given."""

    def __init__(self, outputs: int = 10, seed: int = 0) -> None:
        super().__init__()
        self.weight = nn.Parameter(random_tensor(64, outputs, seed=seed).float() / 16)
        self.dropout = nn.Dropout(0.5)
        self.seen: list[Tensor] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Linear:
        copy = Linear(self.weight.shape[1])
        copy.load_state_dict(self.state_dict())
        copy.seen = self.seen
        return copy

    def forward(self, images: Tensor) -> Tensor:
        assert not torch.is_grad_enabled()
        self.seen.append(images)
        return self.dropout(images.flatten(1)) @ self.weight


def state_of(trained: Trained, protocol: str = "DIRECT") -> TrainingState:
    return trained.states[protocol]


def test_targets_are_the_softmax_of_the_teachers_logits_over_the_temperature() -> None:
    logits = random_tensor(48, 3, seed=5).float()
    rule = Direct(epochs=1, batch_size=16, distillation=0.7, temperature=2.0)
    training = DirectTraining(
        rule, examples(), examples(40, 2), SPEC, CLASSES, seed=SEED, teacher_logits=logits
    )
    labels = nn.functional.one_hot(examples().targets, 3)
    wanted = 0.3 * labels + 0.7 * (logits / 2.0).softmax(-1)
    rows = torch.arange(48)[None]
    assert torch.allclose(training._target(rows)[0], wanted)
    raw = {name: training.initial()[name] for name in SPEC.names}
    loss, _ = training.loss_and_gradient(raw, SPEC.dynamics, rows)
    scores = SPEC.on(raw["biases"], 1, 3).parameters(raw).phase_model(examples().inputs[None])
    cos = kernels.rollout(scores, SPEC.dynamics)[..., -3:].cos()
    entropy = -(wanted * (rule.gain * cos).log_softmax(-1)).sum()
    assert float(loss) == pytest.approx(float(entropy), rel=1e-4)


def test_compiled_epochs_are_those_of_pytorch() -> None:
    logits = random_tensor(48, 3, seed=5).float()

    def trained() -> TrainingState:
        rule = Direct(epochs=2, batch_size=16, fine_epochs=9, distillation=1.0, temperature=2.0)
        data = examples(), examples(40, 2)
        return run_training(
            DirectTraining(rule, *data, SPEC, CLASSES, seed=SEED, teacher_logits=logits)
        )

    ours = trained()
    with kernels.use("reference"):
        theirs = trained()
    for name in SPEC.names:
        assert torch.allclose(ours.current[name], theirs.current[name], atol=3e-6)
        assert name == "biases" or not torch.equal(ours.current[name], theirs.current[name])


def test_a_module_gets_raw_pixels_and_stays_as_it_is(digits: ImageDataset) -> None:
    module = Linear()
    trained = entrain.train(digits, teacher=module, **FEW)
    (rule,) = trained.recipe.protocols
    assert isinstance(rule, Direct)
    assert (rule.distillation, rule.temperature) == (1.0, 2.0)
    seen = torch.cat(module.seen[1:])
    pixels = torch.from_numpy(digits.train.features).reshape(-1, 8, 8).float()
    assert torch.equal(seen, pixels)
    assert module.training
    assert module.weight.grad is None
    assert module.weight.requires_grad


def test_a_module_gets_the_distorted_pixels_of_every_epoch(digits: ImageDataset) -> None:
    module = Linear()
    entrain.train(digits, teacher=module, settings=SHIFTED, runs=2, **FEW)
    epochs = module.seen[1:]  # two runs in two epochs
    assert [tuple(images.shape) for images in epochs] == 4 * [(300, 8, 8)]
    assert all(float(images.min()) >= 0 and 8 < float(images.max()) <= 16 for images in epochs)
    assert not any(torch.equal(epochs[0], images) for images in epochs[1:])


def test_a_classifier_and_its_table_train_the_same_bits(
    digits: ImageDataset, classifier: LogisticRegression
) -> None:
    by_classifier = entrain.train(digits, teacher=classifier, **FEW)
    table = classifier.predict_proba(digits.train.features)
    by_table = entrain.train(digits, teacher=table, **FEW)
    assert equal_states(state_of(by_classifier), state_of(by_table))
    from_labels = entrain.train(digits, protocol="DIRECT", **FEW)
    assert not equal_states(state_of(by_table), state_of(from_labels))


def test_classes_in_another_order_are_mapped(
    digits: ImageDataset, classifier: LogisticRegression
) -> None:
    class Reversed:
        classes_ = classifier.classes_[::-1].astype(str)

        def predict_proba(self, rows: np.ndarray) -> np.ndarray:
            return np.asarray(classifier.predict_proba(rows))[:, ::-1]

    ours, theirs = (external_teacher(value, digits) for value in (Reversed(), classifier))
    assert ours.digest == theirs.digest
    rows = torch.from_numpy(digits.train.features[:5]).reshape(-1, 8, 8).double()
    assert torch.equal(ours.log_probabilities(rows), theirs.log_probabilities(rows))


def test_a_better_teacher_helps_where_labels_are_wrong(digits: ImageDataset) -> None:
    wrong = digits.train.labels.copy()
    wrong[::3] = (wrong[::3] + 1) % 10
    noisy = replace(digits, train=replace(digits.train, targets=wrong))
    table = np.full((300, 10), 0.01)
    table[np.arange(300), digits.train.labels] = 0.91
    longer = FEW | {"epochs": 15}
    taught = entrain.train(noisy, teacher=table, **longer).model.details["validation"]["top1"]
    alone = entrain.train(noisy, protocol="DIRECT", **longer)
    assert taught > alone.model.details["validation"]["top1"] + 5


def test_a_model_teaches(digits: ImageDataset) -> None:
    model = entrain.train(digits, protocol="DIRECT", **FEW | {"epochs": 10}).model
    trained = entrain.train(digits, teacher=model, settings=SHIFTED, **FEW)
    assert math.isfinite(trained.states["DIRECT"].history["loss"][-1][0])


def test_distillation_on_distorted_images_continues_with_the_same_bits(
    digits: ImageDataset,
) -> None:
    teacher = external_teacher(Linear(), digits)
    rule = Direct(
        epochs=3,
        batch_size=64,
        distillation=0.5,
        temperature=2.0,
        teacher=teacher.digest,
        augmentation=Augmentation(shift=0.5),
    )

    def begin() -> Any:
        data = TrainingData(digits, torch.device("cpu"))
        return rule.training(Assignment(data, FEW["network"], (0, 2), external=teacher))

    check_interruption(begin)


def test_a_run_folder_continues_with_its_teacher_alone(
    digits: ImageDataset, classifier: LogisticRegression, tmp_path: Path
) -> None:
    first = entrain.train(digits, teacher=classifier, folder=tmp_path / "run", **FEW)
    again = entrain.train(digits, teacher=classifier, folder=tmp_path / "run", **FEW)
    assert equal_states(state_of(first), state_of(again))
    other = LogisticRegression(max_iter=200, C=1e-3)
    other.fit(digits.train.features, digits.train.labels)
    for teacher in (other, None):
        options = FEW | {"teacher": teacher, "protocol": "DIRECT"}
        with pytest.raises(InputError, match="was started with another teacher"):
            entrain.train(digits, folder=tmp_path / "run", **options)
    with pytest.raises(InputError, match=r"learns from a teacher with the digest .*, got none"):
        entrain.train_recipe(first.recipe, digits)
    assert equal_states(
        state_of(entrain.train_recipe(first.recipe, digits, teacher=classifier)), state_of(first)
    )


class Fails(nn.Module):
    """A module that raises."""

    def forward(self, images: Tensor) -> Tensor:
        raise RuntimeError("expected four dimensions")


class Answers(nn.Module):
    """A module with the same answer for all examples."""

    def __init__(self, answer: Tensor) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, images: Tensor) -> Tensor:
        return self.answer.expand(len(images), -1)


UNIFORM = np.full((300, 10), 0.1)


@pytest.mark.parametrize(
    ("teacher", "message"),
    [
        (Linear(7), r"must give logits of shape \(2, 10\), .* got \(2, 7\)"),
        (Answers(torch.full((1, 10), float("nan"))), "NaN or infinite logits, first for example 0"),
        (Answers(torch.zeros(1, 10, dtype=torch.int64)), "a tensor of logits .*got torch.int64"),
        (Fails(), r"fails on torch.float32 examples of shape \(2, 8, 8\): .*four dimensions"),
        (LogisticRegression(), "LogisticRegression has no classes_: fit it first"),
        (UNIFORM[:200], r"must be \(training examples, classes\) = \(300, 10\).*got \(200, 10\)"),
        (UNIFORM[:, :9], r"= \(300, 10\).*got \(300, 9\)"),
        (2 * UNIFORM, "from 0 to 1 with the sum 1, got 0.2, .* for example 0"),
        (UNIFORM * np.nan, "from 0 to 1 with the sum 1, got nan"),
        ([["a"] * 10] * 300, "must hold numbers"),
        ("teacher.safetensors", "teacher.safetensors: no such file"),
        ("teacher", "teacher: no such file; expected a model, a table of probabilities or"),
    ],
)
def test_teachers_that_do_not_fit_are_refused(
    digits: ImageDataset, teacher: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        entrain.train(digits, teacher=teacher, **FEW)


def test_a_classifier_of_other_classes_is_refused(digits: ImageDataset) -> None:
    labels = digits.train.labels % 3
    other = LogisticRegression(max_iter=20, tol=1.0).fit(digits.train.features, labels)
    with pytest.raises(InputError, match="the teacher has the classes 0, 1, 2; the data have 0, 1"):
        entrain.train(digits, teacher=other, **FEW)
    with pytest.raises(
        TypeError, match=r"teacher must be a TeacherSpec, 'convolutional'.* got int"
    ):
        entrain.train(digits, teacher=5, **FEW)


def test_a_table_refuses_distortions_and_says_what_to_do(digits: ImageDataset) -> None:
    with pytest.raises(InputError, match=r"give the module or classifier .* or switch the"):
        entrain.train(digits, teacher=UNIFORM, settings=SHIFTED, **FEW)
    settings = SHIFTED | {"DIRECT.augmentation": {}}
    entrain.train(digits, teacher=UNIFORM, settings=settings, **FEW)


def test_numbers_have_no_teacher_and_ep_learns_from_labels(digits: ImageDataset) -> None:
    rows = random_tensor(60, 4, seed=1).numpy()
    with pytest.raises(InputError, match="a teacher gives probabilities of classes, but the data"):
        entrain.train(rows, rows[:, 0], teacher=UNIFORM)
    with pytest.raises(InputError, match="no protocol learns from the teacher: choose DIRECT"):
        entrain.train(digits, teacher=UNIFORM, protocol=EquilibriumPropagation(epochs=1))
    for fields in ({"temperature": 2.0}, {"teacher": "0123"}):
        with pytest.raises(InputError, match="has no effect without distillation"):
            entrain.train(digits, protocol=Direct(epochs=1, **fields))


def test_the_second_stage_takes_the_probabilities_of_any_teacher(
    digits: ImageDataset, classifier: LogisticRegression
) -> None:
    short = {"TEACHER.epochs": 5, "TEACHER.initialisations": 1}
    shifted = short | {"TWO-STAGE-END.augmentation": {"shift": 0.3}}
    few: dict[str, Any] = {"epochs": 1, "protocol": "TWO-STAGE-END", "network": (6, 4), "runs": 2}
    own, taught, distorted = (
        entrain.train(digits, teacher=teacher, settings=settings, **few)
        for teacher, settings in ((None, short), (classifier, short), (classifier, shifted))
    )
    assert equal_states(state_of(own, "PATH"), state_of(taught, "PATH"))
    losses = [state_of(t, "TWO-STAGE-END").history["endpoint_loss"][0] for t in (taught, distorted)]
    assert losses[0] != losses[1]
    rule = taught.recipe.protocols[-1]
    assert isinstance(rule, TwoStage)
    assert TwoStage.from_settings(distorted.recipe.protocols[-1].settings()).augmentation
    with pytest.raises(InputError, match="choose path_solver='sgd'"):
        replace(own.recipe.protocols[0], augmentation=Augmentation(shift=1.0))


def test_distorted_stages_side_by_side_are_those_alone(digits: ImageDataset) -> None:
    rule = replace(PAPER_PROTOCOLS["Z-END"], epochs=2, augmentation=Augmentation(shift=0.4))
    recipe = Recipe("part", TeacherSpec((4, 4), 1, epochs=3), (rule,), runs=2)
    two, one = (
        run_pipeline(each, digits, device=torch.device("cpu"))
        for each in (recipe, replace(recipe, runs=1))
    )
    for name, tensor in one.states["Z-END"].current.items():
        assert torch.allclose(tensor[0], two.states["Z-END"].current[name][0], atol=1e-6)


def test_the_convolutional_teacher_learns_and_teaches(digits: ImageDataset) -> None:
    spec = ConvolutionalTeacher(networks=1, channels=4, epochs=8, batch_size=32)
    trained = entrain.train(digits, teacher=spec, **FEW)
    state = trained.states["convolutional"]
    assert state.selected("top1", 0) > 70
    assert trained.recipe.protocols[0].external_teacher == spec.digest != "convolutional"
    again = entrain.train(digits, teacher=spec, **FEW)
    assert equal_states(state_of(trained), state_of(again))
    rows = random_tensor(60, 4, seed=1).numpy()
    with pytest.raises(InputError, match="learns classes of images; for other data give a fitted"):
        entrain.train(rows, np.arange(60) % 2, teacher="convolutional")


def small_images(folder: Path) -> Path:
    """Bright rows or bright columns, in an .npz file."""
    generator = np.random.default_rng(0)
    y = np.arange(60) % 2
    images = generator.integers(0, 60, (60, 4, 4))
    for image, label in zip(images, y, strict=True):
        line = generator.integers(4)
        (image if label else image.T)[line] = 200
    np.savez(folder / "lines.npz", X=images.astype(np.uint8), y=y)
    return folder / "lines.npz"


@pytest.mark.slow
def test_the_command_line_takes_names_and_files(invoke: Invoke, tmp_path: Path) -> None:
    data, folder = small_images(tmp_path), tmp_path / "run"
    options = ["--epochs", "3", "--network", "6"]
    result = invoke("train", data, "--teacher", "convolutional", "--out", folder, *options)
    assert result.exit_code == 0, result.stderr
    assert RunFolder.open(folder).recipe.protocols[0].external_teacher == "convolutional"
    assert (folder / "state" / "convolutional.safetensors").exists()
    assert invoke("train", "--resume", folder).exit_code == 0
    model = folder / "direct-0.safetensors"
    result = invoke("train", data, "--teacher", model, "--out", tmp_path / "second", *options)
    assert result.exit_code == 0, result.stderr
    assert invoke("train", "--resume", tmp_path / "second").exit_code == 0
    model.write_bytes((tmp_path / "second" / "direct-0.safetensors").read_bytes())
    refused = invoke("train", "--resume", tmp_path / "second")
    assert refused.exit_code == 2
    assert "learns from a teacher with the digest" in refused.stderr
    np.savez(tmp_path / "table.npz", probabilities=np.full((60, 2), 0.5))
    refused = invoke("train", data, "--teacher", tmp_path / "table.npz", *options)
    assert refused.exit_code == 2
    assert "a table of teacher probabilities must be" in refused.stderr
