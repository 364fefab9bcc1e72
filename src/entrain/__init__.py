"""Entrain: train small networks of coupled oscillators to compute.

    import entrain

    trained = entrain.train("digits")   # teacher, Stage I, Stage II
    model = trained.model               # 74 oscillators that read raw pixels

The names below are the public interface; each is loaded when it is first used, so that
`entrain --help` does not wait for PyTorch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entrain.api import train
    from entrain.data import Dataset, Preprocessing, Split, load_dataset, load_own
    from entrain.errors import InputError
    from entrain.estimator import KuramotoClassifier
    from entrain.learning import PROTOCOLS, Protocol, Recipe, TeacherSpec, Trained
    from entrain.model import Model
    from entrain.models import load
    from entrain.network import KuramotoNetwork
    from entrain.physics import Dynamics
    from entrain.teacher import Teacher

__version__ = "0.1.0"

_HOMES = {
    "entrain.api": ["train"],
    "entrain.data": ["Dataset", "Preprocessing", "Split", "load_dataset", "load_own"],
    "entrain.errors": ["InputError"],
    "entrain.estimator": ["KuramotoClassifier"],
    "entrain.learning": ["PROTOCOLS", "Protocol", "Recipe", "TeacherSpec", "Trained"],
    "entrain.model": ["Model"],
    "entrain.models": ["load"],
    "entrain.network": ["KuramotoNetwork"],
    "entrain.physics": ["Dynamics"],
    "entrain.teacher": ["Teacher"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "PROTOCOLS",
    "Dataset",
    "Dynamics",
    "InputError",
    "KuramotoClassifier",
    "KuramotoNetwork",
    "Model",
    "Preprocessing",
    "Protocol",
    "Recipe",
    "Split",
    "Teacher",
    "TeacherSpec",
    "Trained",
    "load",
    "load_dataset",
    "load_own",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'entrain' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
