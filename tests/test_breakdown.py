"""A training that gets far worse, all numbers finite, says so and keeps its best epoch."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
import torch

import entrain
from conftest import Invoke
from entrain.learning import Trained
from entrain.learning.trainer import TrainingState

RISING = {"DIRECT.coupling_rate": 1.0, "DIRECT.warm_up": 0.95}  # learns, then steps too far


def digits(**settings: float) -> Trained:
    return entrain.train(
        "digits", protocols=["DIRECT"], hidden=(8, 4, 4), epochs=20, settings=settings
    )


def ended(loss: list[list[float]], top1: list[list[float]], diverged: int = 0) -> TrainingState:
    lanes = len(loss[0])
    return TrainingState(
        epoch=len(loss),
        current={},
        best={},
        best_merit=torch.zeros(lanes, 1),
        best_epoch=torch.ones(lanes, dtype=torch.int64),
        diverged=torch.tensor([diverged] * lanes),
        history={"loss": loss, "top1": top1},
    )


def test_a_lane_broke_down_if_its_loss_and_its_accuracy_say_so() -> None:
    loss = [[1.0, 1.0, 1.0, 1.0], [0.1, 0.1, 0.1, 0.1], [0.5, 0.5, 0.14, 0.05]]
    top1 = [[50.0, 50.0, 50.0, 50.0], [98.0, 98.0, 98.0, 98.0], [60.0, 97.0, 60.0, 98.0]]
    assert ended(loss, top1).broken_down == [0]
    assert ended(loss, top1, diverged=2).broken_down == []  # said already
    assert ended(loss[:2], top1[:2]).broken_down == []


def test_a_training_that_breaks_down_warns() -> None:
    with pytest.warns(RuntimeWarning, match="DIRECT: training broke down in run 0, which ended"):
        trained = digits(**RISING)
    assert trained.broken_down == {"DIRECT": [0]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert digits().broken_down == {}


def test_the_command_names_the_option_to_change(invoke: Invoke, tmp_path: Path) -> None:
    line = ("train", "digits", "--protocol=DIRECT", "--epochs=20", "--hidden=8,4,4", "--json")
    settings = [f"--set={name}={value}" for name, value in RISING.items()]
    with pytest.warns(RuntimeWarning) as caught:
        result = invoke(*line, *settings, "--out", tmp_path / "run")
    assert result.exit_code == 0  # there is a model, of the best epoch
    epoch = json.loads(result.stdout)["results"]["DIRECT"]["runs"][0]["epoch"]
    (said,) = [str(each.message) for each in caught if "broke down" in str(each.message)]
    assert said.startswith("DIRECT run 0 broke down: its loss was ")
    assert f"Its best checkpoint, of epoch {epoch}, is kept." in said
    assert "try --set DIRECT.coarse_steps=100" in said
