"""Entrain: train small networks of coupled oscillators to compute.

    import entrain

    trained = entrain.train("digits")   # teacher, Stage I, Stage II
    model = trained.model               # 74 oscillators that read raw pixels
    model = entrain.train(X, y).model   # your own arrays, data frames or files

The names below are the public interface; each is loaded when it is first used, so that
`entrain --help` does not wait for PyTorch.
"""

import importlib
from typing import TYPE_CHECKING, Any

from entrain.threads import settle

if TYPE_CHECKING:
    from entrain.api import train
    from entrain.calibration.calibrate import calibrate
    from entrain.cost import cost_of
    from entrain.data import (
        Dataset,
        FeatureDataset,
        FeatureScaling,
        ImageDataset,
        Preprocessing,
        Split,
        load_dataset,
        load_own,
        load_test_split,
    )
    from entrain.errors import InputError
    from entrain.estimator import KuramotoClassifier
    from entrain.learning import Recipe, Stage, Trained
    from entrain.model import Model
    from entrain.models import load
    from entrain.network import KuramotoNetwork
    from entrain.physics import Dynamics, NetworkSpec, Parameters, PhaseModel
    from entrain.rules import PROTOCOLS, Augmentation, DirectProtocol, Protocol, TeacherSpec
    from entrain.teacher import Teacher
    from entrain.yields import yield_of

__version__ = "0.2.0"

_HOMES = {
    "entrain.api": ["train"],
    "entrain.calibration": ["calibrate"],
    "entrain.cost": ["cost_of"],
    "entrain.data": [
        "Dataset",
        "FeatureDataset",
        "FeatureScaling",
        "ImageDataset",
        "Preprocessing",
        "Split",
        "load_dataset",
        "load_own",
        "load_test_split",
    ],
    "entrain.errors": ["InputError"],
    "entrain.estimator": ["KuramotoClassifier"],
    "entrain.learning": ["Recipe", "Stage", "Trained"],
    "entrain.model": ["Model"],
    "entrain.models": ["load"],
    "entrain.network": ["KuramotoNetwork"],
    "entrain.physics": ["Dynamics", "NetworkSpec", "Parameters", "PhaseModel"],
    "entrain.rules": ["PROTOCOLS", "Augmentation", "DirectProtocol", "Protocol", "TeacherSpec"],
    "entrain.teacher": ["Teacher"],
    "entrain.yields": ["yield_of"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "PROTOCOLS",
    "Augmentation",
    "Dataset",
    "DirectProtocol",
    "Dynamics",
    "FeatureDataset",
    "FeatureScaling",
    "ImageDataset",
    "InputError",
    "KuramotoClassifier",
    "KuramotoNetwork",
    "Model",
    "NetworkSpec",
    "Parameters",
    "PhaseModel",
    "Preprocessing",
    "Protocol",
    "Recipe",
    "Split",
    "Stage",
    "Teacher",
    "TeacherSpec",
    "Trained",
    "calibrate",
    "cost_of",
    "load",
    "load_dataset",
    "load_own",
    "load_test_split",
    "train",
    "yield_of",
]


settle()  # before PyTorch is loaded


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'entrain' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
