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

from entrain.utils.threads import configure_threads

if TYPE_CHECKING:
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
    from entrain.evaluation.chip_yield import yield_of
    from entrain.models.model import Model
    from entrain.models.network import KuramotoNetwork
    from entrain.models.pretrained import load
    from entrain.models.teacher import Teacher
    from entrain.physics import Dynamics, NetworkSpec, Parameters, PhaseModel
    from entrain.rules import PROTOCOLS, Augmentation, Direct, TeacherSpec, TwoStage
    from entrain.sklearn.estimator import KuramotoClassifier
    from entrain.training import Recipe, Stage, Trained
    from entrain.training.train import train
    from entrain.utils.errors import InputError

__version__ = "0.2.0"

_HOMES = {
    "entrain.training.train": ["train"],
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
    "entrain.utils.errors": ["InputError"],
    "entrain.sklearn.estimator": ["KuramotoClassifier"],
    "entrain.training": ["Recipe", "Stage", "Trained"],
    "entrain.models.model": ["Model"],
    "entrain.models.pretrained": ["load"],
    "entrain.models.network": ["KuramotoNetwork"],
    "entrain.physics": ["Dynamics", "NetworkSpec", "Parameters", "PhaseModel"],
    "entrain.rules": ["PROTOCOLS", "Augmentation", "Direct", "TwoStage", "TeacherSpec"],
    "entrain.models.teacher": ["Teacher"],
    "entrain.evaluation.chip_yield": ["yield_of"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "PROTOCOLS",
    "Augmentation",
    "Dataset",
    "Direct",
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
    "Recipe",
    "Split",
    "Stage",
    "Teacher",
    "TeacherSpec",
    "Trained",
    "TwoStage",
    "calibrate",
    "cost_of",
    "load",
    "load_dataset",
    "load_own",
    "load_test_split",
    "train",
    "yield_of",
]


configure_threads()  # before PyTorch is loaded


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'entrain' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
