"""One default in Python, on the command line and in the estimator."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import entrain
from command_line import Invoke
from entrain.cli import train as cli_train
from entrain.data.own.examples import LEAST_ROWS
from entrain.models.model import read_model
from entrain.rules import Direct
from entrain.sklearn.settings import Settings
from entrain.training import Options

X, y = load_iris(return_X_y=True)


def default(function: object, name: str) -> object:
    return inspect.signature(function).parameters[name].default  # type: ignore[arg-type]


def test_the_device_is_chosen_by_the_same_default() -> None:
    estimator = entrain.KuramotoClassifier.__init__
    places = (entrain.train, cli_train.command, estimator)
    assert {default(place, "device") for place in places} == {"auto"}


def test_options_of_a_recipe_have_one_default() -> None:
    command = inspect.signature(cli_train.command).parameters
    for option in fields(Options):
        assert default(entrain.train, option.name) == option.default
        if option.name in command:
            assert command[option.name].default == option.default, option.name


@pytest.mark.parametrize("examples", [LEAST_ROWS, 40, 1000])
def test_the_estimator_trains_small_sets_as_train_does(examples: int) -> None:
    settings = Settings.of(entrain.KuramotoClassifier()).keywords()
    assert settings["settings"] == {"DIRECT.weight_decay": 2.0}  # on chips train takes 10
    assert settings.pop("device") == "auto"
    rows = np.resize(X, (3 * examples, 4))
    data = entrain.load_own(rows, np.arange(len(rows)) % 3)
    recipe, usual = Options(**settings).recipe(data), Options().recipe(data)
    assert recipe.protocols == usual.protocols
    assert recipe.protocols[0] == Direct().tuned_for("data", len(data.train))
    assert recipe.spec == usual.spec


def test_the_estimator_sets_validation_rows_aside_from_ten_on() -> None:
    start = 50 - LEAST_ROWS // 2  # as many rows of two classes
    rows, labels = X[start : start + LEAST_ROWS], y[start : start + LEAST_ROWS]
    classifier = entrain.KuramotoClassifier(4, epochs=1, random_state=0).fit(rows, labels)
    assert classifier.validation_score_ in (0.0, 0.5, 1.0)  # of two rows


def test_the_same_command_continues_an_unfinished_run(tmp_path: Path, invoke: Invoke) -> None:
    table, folder = tmp_path / "x.csv", tmp_path / "run"
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    table.write_text("\n".join(["a,b,c,d,label", *lines]))
    command = ("train", table, "--network", 4, "--epochs", 3, "--out", folder, "--json")
    expected = json.loads(invoke(*command).stdout)["results"]
    model = read_model(folder / "direct-0.safetensors")
    for file in ("results.json", "direct-0.safetensors"):  # as a killed run
        (folder / file).unlink()
    before = (folder / "state" / "direct.safetensors").stat().st_mtime_ns
    assert json.loads(invoke(*command).stdout)["results"] == expected
    assert (folder / "state" / "direct.safetensors").stat().st_mtime_ns == before
    again = read_model(folder / "direct-0.safetensors")
    assert (again.network.couplings == model.network.couplings).all()
    other = invoke(*command[:-1], "--seed", 1)
    assert other.exit_code == 2
    assert "already holds another run" in other.stderr


def test_large_networks_are_told_to_take_long(tmp_path: Path, invoke: Invoke) -> None:
    np.savez(tmp_path / "x.npz", X=X[::10], y=np.arange(15) % 3)
    options = ("--epochs", 1, "--set", "steps=2", "--set", "DIRECT.coarse_steps=2")
    done = invoke(
        "train", tmp_path / "x.npz", "--network", 600, *options, "--out", tmp_path / "run"
    )
    assert re.search(r"600 hidden oscillators take about 0:00:\d\d \(h:mm:ss\) on", done.stderr)
