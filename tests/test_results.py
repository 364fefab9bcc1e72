"""Test examples and results of a training, and the evaluation of models on labelled rows."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import entrain
from command_line import Invoke, Refuse, Run, printed
from entrain.models.pretrained import load_test_examples
from entrain.training import Trained
from entrain.training.run_folder import RunFolder
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")

IRIS = load_iris(as_frame=True)
X = IRIS.data.to_numpy()
NAMES = IRIS.target_names[IRIS.target.to_numpy()]
QUICK: dict[str, Any] = {"epochs": 2, "network": 5, "settings": {"steps": 20}, "device": "cpu"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "flowers.csv"
    IRIS.data.assign(species=NAMES).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def iris() -> Trained:
    return entrain.train(X, NAMES, protocol="DIRECT", **QUICK)


def test_the_test_examples_are_those_that_training_set_aside(iris: Trained) -> None:
    data = entrain.load_own(X, NAMES)
    assert np.array_equal(iris.test.features, data.test.features)
    assert np.array_equal(iris.test.labels, data.test.labels)
    assert len(data.train) + len(data.validation) + len(iris.test) == len(X)


def test_results_are_those_of_results_json(
    iris: Trained, tmp_path: Path, table: Path, invoke: Invoke
) -> None:
    options = ["--epochs", 2, "--network", 5, "--set", "steps=20", "--device", "cpu"]
    printed(invoke, "train", table, "--out", tmp_path / "run", *options)
    stored = RunFolder.open(tmp_path / "run").results()
    assert stored is not None
    assert iris.results["results"]["DIRECT"]["runs"] == stored["results"]["DIRECT"]["runs"]
    assert iris.results["examples"] == stored["examples"] == len(iris.test)


def test_a_model_evaluates_rows_with_their_labels_as_a_split(iris: Trained) -> None:
    names = np.array(iris.model.class_names)[iris.test.labels]
    of_split = iris.model.evaluate(iris.test)
    assert iris.model.evaluate(iris.test.features, names) == of_split
    assert of_split["top1"] == pytest.approx(100 * iris.model.score(iris.test.features, names))
    with pytest.raises(InputError, match="the labels are missing"):
        iris.model.evaluate(X)
    with pytest.raises(InputError, match="a Split has its labels"):
        iris.model.evaluate(iris.test, names)
    with pytest.raises(InputError, match="y holds the label 'rose'"):
        iris.model.evaluate(X[:1], ["rose"])


@pytest.mark.parametrize("frame", [False, True])
def test_load_own_reads_arrays_and_data_frames_as_train_does(frame: bool, table: Path) -> None:
    data = entrain.load_own(IRIS.data, NAMES) if frame else entrain.load_own(X, NAMES)
    file = entrain.load_own(table)
    assert data.class_names == file.class_names
    for part in ("train", "validation", "test"):
        assert np.array_equal(getattr(data, part).features, getattr(file, part).features)
    other = entrain.load_own(X, NAMES, seed=3)
    assert not np.array_equal(other.test.features, data.test.features)
    with pytest.raises(InputError, match="y belongs to arrays"):
        entrain.load_own(table, NAMES)
    with pytest.raises(TypeError, match="got 3"):
        entrain.load_own(3)


def test_examples_of_other_classes_are_refused(refuse: Refuse) -> None:
    on_chips = ["--hardware", "typical", "--dataset"]
    for command, *more in (["evaluate", "mnist-74"], ["yield", "mnist-74", *on_chips]):
        message = refuse(command, *more, "fashion-mnist")
        assert "fashion-mnist has the classes T-shirt/top, Trouser" in message
        assert "the model has 0, 1, 2" in message


def test_examples_of_another_dataset_are_reported(tmp_path: Path, tiny_run: Run) -> None:
    with pytest.warns(UserWarning, match="was trained on mnist; these are examples of mnist-small"):
        name, _ = load_test_examples("mnist-74", "mnist-small")
    assert name == "mnist-small"
    model = dataclasses.replace(entrain.load("mnist-74"), dataset="mnist-small")
    model.save(tmp_path / "small.safetensors")
    with pytest.warns(UserWarning, match="mnist-small trains on some of them"):
        load_test_examples(tmp_path / "small.safetensors", "mnist")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_test_examples("mnist-74")
        load_test_examples("mnist-74", "mnist")
        load_test_examples(tiny_run.folder)
