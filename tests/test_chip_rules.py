"""Training for chips in every protocol that learns by gradients: off is absent, what is validated,
interruptions while couplers go, and what a model keeps of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from direct_trainings import equal_states
from entrain import load
from entrain.data import ImageDataset, Split, load_dataset
from entrain.evaluation import chips
from entrain.hardware import (
    FanIn,
    Hardware,
    Levels,
    Mismatch,
    Offset,
    PhaseNoise,
    Readout,
    Sparsity,
    preset,
)
from entrain.models.model import Model
from entrain.models.network import KuramotoNetwork
from entrain.models.teacher import Teacher
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import PROTOCOLS, Tensors
from entrain.rules.chip_training import ChipTraining
from entrain.rules.interface import Assignment, Training
from entrain.rules.training_data import TrainingData
from entrain.training import TrainingState, pack_state, run_training, unpack_state
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")

HIDDEN, OUTPUTS, INPUTS = 8, 10, 64
SPEC = NetworkSpec(HIDDEN, Dynamics(1.0, 0.2, 10))
COUPLERS = HIDDEN * (HIDDEN - 1) // 2 + HIDDEN * OUTPUTS
RULES = list(PROTOCOLS)
ONE_OF_EACH = ["DIRECT", "PATH", "TWO-STAGE-END", "EP", "SPSA"]
ABSENT = Hardware(
    sparsity=Sparsity(1.0),
    mismatch=Mismatch(0.0),
    offset=Offset(),
    phase_noise=PhaseNoise(0.0),
    readout=Readout(),
)
NOISY = Hardware(
    mismatch=Mismatch(couplings=0.8, input_weights=0.8),
    phase_noise=PhaseNoise(0.1),
    sparsity=Sparsity(0.5),
)


@cache
def data() -> ImageDataset:
    """A few of the digits: 64 to learn from, 37 to validate with."""
    digits = load_dataset("digits")
    assert isinstance(digits, ImageDataset)
    return replace(
        digits,
        train=Split(digits.train.features[:64], digits.train.labels[:64]),
        validation=Split(digits.validation.features[:37], digits.validation.labels[:37]),
    )


def training_by(name: str, chips: ChipTraining | None, **changes: Any) -> Training:
    """Two runs of a protocol; a teacher and a start are made of random numbers."""
    settings: dict[str, Any] = {"epochs": 2, "batch_size": 32} | changes
    rule = replace(PROTOCOLS[name], chips=chips, **settings)  # type: ignore[type-var]
    teacher = Teacher(
        (random_tensor(HIDDEN, INPUTS) / 4, random_tensor(OUTPUTS, HIDDEN, seed=1)),
        (torch.zeros(HIDDEN).double(), torch.zeros(OUTPUTS).double()),
    )
    start: Tensors | None = None
    if rule.is_continuation:
        network = KuramotoNetwork(INPUTS, HIDDEN, OUTPUTS, runs=2)
        start = {
            each: getattr(network, each).detach()
            for each in ("input_weights", "biases", "couplings")
        }
    return rule.training(
        Assignment(
            TrainingData(data(), torch.device("cpu")),
            SPEC,
            runs=(0, 3),
            seed=4,
            teachers=(teacher,) if rule.uses_teacher else (),
            start=start,
        )
    )


# Off is absent


@pytest.mark.parametrize("name", RULES)
def test_ideal_hardware_changes_no_bit_of_training(name: str) -> None:
    plain = run_training(training_by(name, None))
    for nothing in (Hardware(), ABSENT):
        assert equal_states(run_training(training_by(name, ChipTraining(nothing))), plain)
    assert not equal_states(run_training(training_by(name, ChipTraining(NOISY))), plain)


# Rounding


@pytest.mark.parametrize("name", [name for name in RULES if name != "SPSA"])
def test_couplings_that_round_to_nothing_still_learn(name: str) -> None:
    """All couplings are far below the first level: the chip holds zeros. Straight through the
    rounding they move all the same; without it their gradient would be zero. SPSA has losses
    alone, and these do not change."""
    levels = Levels(levels=(-1.0, 0.0, 1.0), range=1e6, rule="absolute")
    one = training_by(name, ChipTraining(Hardware(coupling_levels=levels), onset=0.0), epochs=1)
    tensors = one.initial()
    before = tensors["couplings"].clone()
    one.run_epoch(tensors, 0)
    assert float((tensors["couplings"] - before).abs().max()) > 1e-6
    assert float(tensors["couplings"].abs().max()) < 5e5  # still nothing on the chip


# What is validated


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_validation_is_the_accuracy_of_the_fixed_chips(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of five chips is given its part of the images, as `model.on(chip)` answers them with
    noise of seed 0, which the chips of a validation share."""
    monkeypatch.setattr(chips, "noise_seeds", lambda _, seeds: [0] * len(seeds))
    training = ChipTraining(NOISY, onset=0.0, validation_chips=5)
    state = run_training(training_by(name, training, epochs=3))
    images = data().validation
    each = -(-len(images) // 5)
    for run in range(2):
        model = model_of(state, run, NOISY)
        correct = 0.0
        for chip in range(5):
            part = slice(chip * each, (chip + 1) * each)
            some = Split(images.features[part], images.labels[part])
            on_chip = model.on(NOISY.sample(2**31 + chip))
            correct += on_chip.evaluate(some, unseen=False)["top1"] * len(some)
        assert state.selected("top1", run) == pytest.approx(correct / len(images))


def model_of(state: TrainingState, run: int, hardware: Hardware | None) -> Model:
    """The selected network of a run."""
    parameters = SPEC.on(state.best["biases"], 2, OUTPUTS).parameters(state.best)
    return Model(
        network=KuramotoNetwork.from_parameters(parameters.run(run), SPEC.dynamics),
        preprocessing=data().preprocessing,
        task=data().task,
        dataset="digits",
        protocol="DIRECT",
        hardware=hardware,
    )


# Interruptions, and the selected epoch


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_interrupted_while_couplers_go_it_ends_with_the_same_bits(name: str) -> None:
    pruned = replace(NOISY, fan_in=FanIn(20), coupling_levels=Levels(bits=4))
    training = ChipTraining(pruned, chips=4, pruning=(0.1, 0.7), validation_chips=3)
    packed: list[bytes] = []
    left: list[int] = []

    def keep(state: TrainingState) -> None:
        packed.append(pack_state(state, {}))
        left.append(int((state.current["couplings"][0].triu(1) != 0).sum()))

    whole = run_training(training_by(name, training, epochs=6), on_epoch=keep)
    assert COUPLERS > left[2] > left[3] > left[5] == round(0.5 * COUPLERS)
    for epoch in (3, 4):  # couplers are still to go after both
        saved, _ = unpack_state(packed[epoch - 1], "memory")
        assert equal_states(run_training(training_by(name, training, epochs=6), saved), whole)
    assert ((whole.best["input_weights"] != 0).sum(-1) <= 20).all()


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("epochs", [1, 2, 3, 7])
def test_the_selected_epoch_has_the_couplers_of_the_chip(name: str, epochs: int) -> None:
    """However short the training: the last epoch at least trains what will be built."""
    training = ChipTraining(Hardware(sparsity=Sparsity(0.25)), chips=4, validation_chips=3)
    state = run_training(training_by(name, training, epochs=epochs))
    couplers = (state.best["couplings"].triu(1) != 0).sum((1, 2)).tolist()
    assert couplers == [round(0.25 * COUPLERS)] * 2
    first = next(each for each in range(epochs) if each / epochs >= 0.6 or each == epochs - 1)
    assert (state.best_epoch > first).all()  # epochs are counted from 1
    assert (state.best_merit[:, 0] == 1.0).all()


# What a model keeps


def test_a_models_file_keeps_its_hardware_and_another_is_told(tmp_path: Path) -> None:
    typical = preset("typical")
    state = run_training(training_by("DIRECT", ChipTraining(typical)))
    model_of(state, 0, typical).save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.hardware == typical
    assert again.on(3).chip == typical.sample(3)
    again.on(typical.sample(0)).evaluate(data().validation)  # its own kind: nothing to say
    with pytest.warns(UserWarning, match="trained for typical, not for ark"):
        again.on(preset("ark").sample(0)).evaluate(data().validation)
