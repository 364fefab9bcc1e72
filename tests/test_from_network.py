"""A network that was trained in a loop of one's own becomes a model like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import torch
from sklearn.datasets import load_iris

import entrain
from command_line import Invoke
from entrain.data import FeatureScaling
from entrain.models.model import Model
from entrain.utils.errors import InputError

X, y = load_iris(return_X_y=True)
SCALING = FeatureScaling.fit(X)
NAMES = ("setosa", "versicolor", "virginica")


@pytest.fixture(scope="module")
def network() -> entrain.KuramotoNetwork:
    network = entrain.KuramotoNetwork(4, 8, 3, observation_time=1.0, steps=60)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(40):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(4 * network(SCALING(X)), torch.from_numpy(y))
        loss.backward()
        optimiser.step()
    return network


def test_it_answers_saves_and_loads(network: entrain.KuramotoNetwork, tmp_path: Path) -> None:
    model = Model.from_network(network, X, y=y, class_names=range(3), preprocessing=SCALING, gain=4)
    model.save(tmp_path / "iris.safetensors")
    again = entrain.load(tmp_path / "iris.safetensors")
    assert again.score(X, y) > 0.8
    assert np.array_equal(again.predict(X), network(SCALING(X)).argmax(-1).numpy())
    assert again.rejected(np.full((1, 4), 1e3)).all()
    assert again.rejected(X).mean() < 0.5


def test_without_scaling_and_labels_it_takes_the_inputs(network: entrain.KuramotoNetwork) -> None:
    u = SCALING(X).numpy()
    model = Model.from_network(network, u, class_names=NAMES)
    assert torch.equal(model.scores(u), network(SCALING(X)))
    assert model.rejected(100 * u[:1]).all()
    assert model.rejected(u).mean() < 0.3


def test_columns_of_a_frame_are_found_by_name(network: entrain.KuramotoNetwork) -> None:
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = Model.from_network(network, frame, class_names=NAMES, preprocessing=SCALING)
    assert np.array_equal(model.predict(frame[list("dcba")]), model.predict(X))


def test_labels_of_other_classes_are_refused(network: entrain.KuramotoNetwork) -> None:
    with pytest.raises(InputError, match="y holds the label '0'"):
        Model.from_network(network, X, y=y, class_names=NAMES, preprocessing=SCALING)


def test_show_prints_no_none(
    network: entrain.KuramotoNetwork, tmp_path: Path, invoke: Invoke
) -> None:
    classifier = entrain.KuramotoClassifier(4, epochs=1, random_state=0).fit(X, y)
    for model in (Model.from_network(network, X, class_names=NAMES), classifier.to_model()):
        model.save(tmp_path / "model.safetensors")
        assert "None" not in invoke("show", tmp_path / "model.safetensors").stdout
