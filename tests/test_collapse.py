"""A training that gets far worse, all numbers finite, says so and keeps its best epoch."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import entrain
from command_line import Invoke
from entrain.rules import PAPER_PROTOCOLS, Direct
from entrain.rules.equilibrium import EquilibriumPropagation
from entrain.training import (
    Trained,
    TrainingState,
    collapse_hint,
    collapsed_runs,
    train_task,
)

RISING = {"DIRECT.coupling_rate": 1.0, "DIRECT.warm_up": 0.95}  # learns, then steps too far


def digits(**settings: float) -> Trained:
    return entrain.train(
        "digits", protocol=["DIRECT"], network=(8, 4, 4), epochs=20, settings=settings
    )


def ended(loss: list[list[float]], top1: list[list[float]], diverged: int = 0) -> TrainingState:
    runs = len(loss[0])
    return TrainingState(
        epoch=len(loss),
        current={},
        best={},
        best_merit=torch.zeros(runs, 1),
        best_epoch=torch.ones(runs, dtype=torch.int64),
        diverged=torch.tensor([diverged] * runs),
        history={"loss": loss, "top1": top1},
    )


def test_a_lane_collapsed_if_its_loss_and_its_accuracy_say_so() -> None:
    loss = [[1.0, 1.0, 1.0, 1.0], [0.1, 0.1, 0.1, 1e-9], [0.5, 0.5, 0.24, 1e-3]]
    top1 = [[50.0, 50.0, 50.0, 50.0], [98.0, 98.0, 98.0, 98.0], [60.0, 90.0, 60.0, 60.0]]
    found = ended(loss, top1)
    assert collapsed_runs(found) == [0]
    assert collapsed_runs(ended(loss, top1, diverged=2)) == []  # said already
    assert collapsed_runs(ended(loss[:2], top1[:2])) == []
    found.history["weighted_top1"] = [[50.0] * 4, [98.0] * 4, [98.0] * 4]  # what is selected by
    assert collapsed_runs(found) == []
    del found.history["weighted_top1"], found.history["top1"]
    assert collapsed_runs(found) == []


def test_a_training_that_collapses_warns() -> None:
    with pytest.warns(ConvergenceWarning, match="DIRECT: training collapsed in run 0, which ended"):
        trained = digits(**RISING)
    assert trained.collapsed == {"DIRECT": [0]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert digits().collapsed == {}


def test_the_command_names_the_option_to_change(invoke: Invoke, tmp_path: Path) -> None:
    line = ("train", "digits", "--protocol=DIRECT", "--epochs=20", "--network=8,4,4", "--json")
    settings = [f"--set={name}={value}" for name, value in RISING.items()]
    with pytest.warns(RuntimeWarning) as caught:
        result = invoke(*line, *settings, "--out", tmp_path / "run")
    assert result.exit_code == 0  # there is a model
    found = json.loads(result.stdout)
    assert found["collapsed"] == {"DIRECT": [0]}
    epoch = found["results"]["DIRECT"]["runs"][0]["epoch"]
    (said,) = [str(each.message) for each in caught if "collapsed" in str(each.message)]
    assert said.startswith("DIRECT run 0 collapsed: its loss was ")
    assert f"The saved model is that of epoch {epoch}, with " in said
    assert "Try lower rates, fewer epochs or, if its couplings have outgrown the 50" in said
    assert said.endswith("coarse_steps=100 (--set DIRECT.FIELD=VALUE)")


def test_the_advice_is_of_the_rule() -> None:
    dynamics = entrain.Dynamics(steps=120)
    assert "coarse_steps=120" in collapse_hint(Direct(coarse_steps=80), dynamics)
    for rule in (
        Direct(coarse_steps=200),
        EquilibriumPropagation(),
        PAPER_PROTOCOLS["PATH"],
    ):
        assert collapse_hint(rule, dynamics) == "try lower rates or fewer epochs"


def test_the_estimator_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    def worse_at_the_end(*arguments: Any, **others: Any) -> TrainingState:
        state = train_task(*arguments, **others)
        state.history["loss"][-1], state.history["top1"][-1] = [9.0], [10.0]
        return state

    monkeypatch.setattr("entrain.training.stages.train_task", worse_at_the_end)
    made = entrain.KuramotoClassifier(8, epochs=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="training collapsed in run 0.* try lower rates"):
        made.fit(*load_iris(return_X_y=True))
