"""Sequences: inputs in time, of different lengths, read over a window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import entrain
from command_line import in_process
from entrain.data import SequenceScaling
from entrain.data.sequence_scaling import pad
from entrain.hardware import Hardware
from entrain.utils.errors import InputError

OPTIONS: dict[str, Any] = {"network": 12, "epochs": 25}


def waves(count: int = 90, shortest: int = 9) -> tuple[list[np.ndarray], np.ndarray]:
    """Two channels of noisy waves, of three frequencies: the classes differ in time alone."""
    random = np.random.default_rng(1)
    sequences, labels = [], np.arange(count) % 3
    for label in labels:
        time = np.linspace(0, 1, random.integers(shortest, 20))[:, None]
        wave = np.sin(2 * np.pi * (0.5 + 0.5 * label) * time + np.array([0, 0.5 * np.pi]))
        sequences.append(wave + 0.1 * random.normal(size=wave.shape))
    return sequences, labels


def read(X: Any, y: Any) -> entrain.SequenceDataset:
    """Sequences of eight frames."""
    data = entrain.load_own(X, y, task="sequence", frames=8)
    assert isinstance(data, entrain.SequenceDataset)
    return data


def test_sequences_of_different_lengths_are_learnt(tmp_path: Path) -> None:
    X, y = waves()
    trained = entrain.train(read(X, y), **OPTIONS)
    assert trained.results["results"]["DIRECT"]["top1"] > 80
    assert trained.recipe.spec.dynamics.steps == 32  # four for each frame
    trained.model.save(tmp_path / "waves.safetensors")
    model = entrain.load(tmp_path / "waves.safetensors")
    np.testing.assert_array_equal(model.predict(X), trained.model.predict(X))
    alone = np.concatenate([model.predict([x]) for x in X[:12]])
    np.testing.assert_array_equal(alone, model.predict(X[:12]))


def test_couplings_matter_for_frequencies() -> None:
    """Without couplings outputs stay where they start, so that nothing is learnt."""
    X, y = waves()
    cut = entrain.train(
        read(X, y),
        **OPTIONS,
        settings={"DIRECT.frozen": ["couplings"], "DIRECT.initial_couplings": 0},
    )
    whole = entrain.train(read(X, y), **OPTIONS)
    part = whole.test
    assert whole.model.evaluate(part)["top1"] > cut.model.evaluate(part)["top1"] + 30


def test_a_sequence_of_numbers_predicts_numbers() -> None:
    X, y = waves()
    trained = entrain.train(read(X, 0.5 + y + 0.01 * np.arange(len(y))), **OPTIONS)
    assert not trained.model.task.has_classes
    assert trained.results["results"]["DIRECT"]["nrmse"] < 0.8


def test_an_ideal_chip_reads_sequences_as_the_network_does() -> None:
    X, y = waves(45)
    model = entrain.train(read(X, y), **OPTIONS | {"epochs": 3}).model
    ideal = Hardware().sample(0)
    torch.testing.assert_close(model.on(ideal).scores(X), model.scores(X), rtol=0, atol=1e-6)


def test_sequences_are_trained_for_chips() -> None:
    X, y = waves()
    trained = entrain.train(read(X, y), **OPTIONS | {"epochs": 60}, hardware="typical")
    chips = trained.results["results"]["DIRECT"]["on_chips"]
    assert chips["mean"] > 45  # a guess is right for 33


def test_frames_lie_between_the_ends() -> None:
    """Resampling keeps the ends, and a ramp stays one."""
    ramps = pad([np.linspace(0, 1, n)[:, None] for n in (2, 5, 9)])
    scaling = SequenceScaling.fit(ramps, 4)
    inputs = scaling(ramps)[..., 0].double()
    torch.testing.assert_close(inputs, inputs[:1].expand_as(inputs), rtol=0, atol=1e-5)
    assert torch.allclose(inputs.diff(dim=1), inputs.diff(dim=1)[:, :1], atol=1e-5)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([np.zeros((3, 2)), np.zeros((0, 2))] * 20, "sequence 1 .* is empty"),
        ([np.zeros((3, 2)), np.zeros((3, 1))] * 20, "1 channels; expected 2"),
        ([np.ones((3, 2)), np.full((4, 2), np.nan)] * 20, "holds nan"),
        ([np.ones((3, 2)), np.array([["a", "b"]])] * 20, "expected numbers"),
        (np.zeros((40, 3)), r"\(n, frames, channels\)"),
    ],
)
def test_bad_sequences_are_refused(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        entrain.train(X, np.arange(40) % 2, task="sequence")


def test_steps_hold_frames_whole() -> None:
    X, y = waves(45)
    with pytest.raises(InputError, match="8 inputs in time must divide the 30 steps; take 32"):
        entrain.train(read(X, y), **OPTIONS, settings={"steps": 30})


@pytest.mark.parametrize("protocol", ["TWO-STAGE-END", "EP", "SPSA"])
def test_rules_of_constant_inputs_refuse_sequences(protocol: str) -> None:
    X, y = waves(45)
    with pytest.raises(InputError, match="use DIRECT"):
        entrain.train(read(X, y), **OPTIONS, protocol=protocol)


def succeed(*arguments: object) -> str:
    result = in_process(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_line_trains_evaluates_and_predicts_sequences(tmp_path: Path) -> None:
    X, y = waves()
    file, folder = tmp_path / "waves.npz", tmp_path / "run"
    np.savez(file, X=pad(X), y=y)
    sizes = ("--frames", 8, "--network", 12, "--epochs", 5)
    succeed("train", file, "--task", "sequence", *sizes, "--out", folder)
    assert (folder / "trajectories.png").exists()
    assert 0 <= json.loads(succeed("evaluate", folder, "--json"))["top1"] <= 100
    answers = json.loads(succeed("predict", folder, file, "--json"))["predictions"]
    assert len(answers) == len(X)
    assert {answer["label"] for answer in answers} <= {"0", "1", "2"}
    assert "in 8 frames" in succeed("show", folder)
    assert succeed("yield", folder, "--hardware", "typical", "--chips", 2)
