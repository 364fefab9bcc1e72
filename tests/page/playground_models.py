"""Models of one's own that the playground's tests play."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_wine

import entrain
from entrain.data import FeatureScaling
from entrain.models.network import KuramotoNetwork
from entrain.sklearn.estimator import KuramotoClassifier
from entrain.tasks import Classification


def wine_rows() -> np.ndarray:
    return load_wine().data


def save_wine(path: Path) -> Path:
    """A classifier of scikit-learn's wines, 13 measurements each, trained in seconds."""
    wine = load_wine()
    classifier = KuramotoClassifier(hidden=20, epochs=20, random_state=0).fit(
        wine.data, wine.target
    )
    assert classifier.score(wine.data, wine.target) > 0.9
    scaling = FeatureScaling(
        tuple(classifier.mean_.tolist()), tuple(classifier.scale_.tolist()), classifier.factor_
    )
    model = entrain.Model(
        network=classifier.network_,
        preprocessing=scaling,
        task=Classification(tuple(map(str, wine.target_names))),
        dataset="wine",
        protocol="DIRECT",
        gain=classifier.gain_,
        details={"feature_names": list(wine.feature_names)},
    )
    model.save(path)
    return path


def save_untrained(
    path: Path, hidden: int, class_names: tuple[str, ...], inputs: int = 4, steps: int = 200
) -> Path:
    """An untrained network of these sizes that reads rows of features, in double precision."""
    random = np.random.default_rng(0)
    count = hidden + len(class_names)
    couplings = np.triu(random.normal(0, 0.3, (count, count)), 1)
    couplings[hidden:, hidden:] = 0
    network = KuramotoNetwork.from_arrays(
        torch.from_numpy(random.normal(0, 0.3, (hidden, inputs))),
        torch.from_numpy(random.normal(0, 1, count)),
        torch.from_numpy(couplings + couplings.T),
        observation_time=1.5,
        steps=steps,
    )
    scaling = FeatureScaling((1e-9,) * inputs, (1e-9,) * inputs, 5.0)
    entrain.Model(network, scaling, Classification(class_names), "made up", "DIRECT").save(path)
    return path
