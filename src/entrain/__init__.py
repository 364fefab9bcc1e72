"""Entrain: train small networks of coupled oscillators to compute.

    import entrain

    trained = entrain.train("digits")   # teacher, Stage I, Stage II
    model = trained.model               # 74 oscillators that read raw pixels
    model = entrain.train(X, y).model   # your own arrays, data frames or files

The names below are the public interface. Each is loaded at first use, so that `import entrain`
and `entrain --help` do not wait for PyTorch.
"""

import importlib
from typing import TYPE_CHECKING, Any

from entrain.utils.threads import configure_environment

if TYPE_CHECKING:
    from entrain import (
        calibration,
        cluster,
        cost,
        data,
        evaluation,
        export,
        hardware,
        ising,
        kernels,
        memory,
        models,
        physics,
        plots,
        rules,
        sklearn,
        training,
    )
    from entrain.calibration.calibrate import calibrate
    from entrain.cost import cost_of
    from entrain.data import (
        Dataset,
        FeatureDataset,
        FeatureScaling,
        ImageDataset,
        Preprocessing,
        SequenceDataset,
        SequenceScaling,
        Split,
        load_dataset,
        load_own,
        load_test_split,
    )
    from entrain.evaluation.chip_yield import yield_of
    from entrain.ising.solver import solve
    from entrain.memory import Memory
    from entrain.models.model import Model
    from entrain.models.network import KuramotoNetwork
    from entrain.models.oscillators import Oscillators
    from entrain.models.pretrained import load
    from entrain.models.simulation import Simulation, order_parameter
    from entrain.models.teacher import Teacher
    from entrain.physics import Dynamics, NetworkSpec, Parameters, PhaseModel, ramp
    from entrain.rules import PROTOCOLS, Augmentation, Direct, TeacherSpec, TwoStage
    from entrain.sklearn import KuramotoClassifier, KuramotoRegressor
    from entrain.tasks import Classification, Regression
    from entrain.training import Recipe, Stage, Trained
    from entrain.training.train import train, train_recipe
    from entrain.utils.errors import InputError

__version__ = "0.2.0"

_MODULES: dict[str, list[str]] = {
    "entrain.calibration": ["calibrate"],
    "entrain.cluster": [],
    "entrain.cost": ["cost_of"],
    "entrain.data": [
        *("Dataset", "FeatureDataset", "FeatureScaling", "ImageDataset", "Preprocessing", "Split"),
        *("SequenceDataset", "SequenceScaling", "load_dataset", "load_own", "load_test_split"),
    ],
    "entrain.evaluation": [],
    "entrain.evaluation.chip_yield": ["yield_of"],
    "entrain.export": [],
    "entrain.hardware": [],
    "entrain.ising": [],
    "entrain.ising.solver": ["solve"],
    "entrain.kernels": [],
    "entrain.memory": ["Memory"],
    "entrain.models": [],
    "entrain.models.model": ["Model"],
    "entrain.models.network": ["KuramotoNetwork"],
    "entrain.models.oscillators": ["Oscillators"],
    "entrain.models.pretrained": ["load"],
    "entrain.models.simulation": ["Simulation", "order_parameter"],
    "entrain.models.teacher": ["Teacher"],
    "entrain.physics": ["Dynamics", "NetworkSpec", "Parameters", "PhaseModel", "ramp"],
    "entrain.plots": [],
    "entrain.rules": ["PROTOCOLS", "Augmentation", "Direct", "TeacherSpec", "TwoStage"],
    "entrain.tasks": ["Classification", "Regression"],
    "entrain.sklearn": ["KuramotoClassifier", "KuramotoRegressor"],
    "entrain.training": ["Recipe", "Stage", "Trained"],
    "entrain.training.train": ["train", "train_recipe"],
    "entrain.utils.errors": ["InputError"],
}
_ATTRIBUTES: dict[str, tuple[str, str | None]] = {
    name: (module, name) for module, names in _MODULES.items() for name in names
}
_ROOMS = [module for module in _MODULES if module.count(".") == 1]
_ATTRIBUTES |= {module.split(".")[1]: (module, None) for module in _ROOMS}

__all__ = ["PROTOCOLS", "Augmentation", "Direct", "Recipe", "Stage", "TeacherSpec", "TwoStage"]
__all__ += ["Dataset", "FeatureDataset", "FeatureScaling", "ImageDataset", "Preprocessing", "Split"]
__all__ += ["Classification", "Regression", "SequenceDataset", "SequenceScaling"]
__all__ += ["Dynamics", "KuramotoClassifier", "KuramotoNetwork", "KuramotoRegressor", "Model"]
__all__ += ["Memory", "NetworkSpec"]
__all__ += ["InputError", "Oscillators", "Parameters", "PhaseModel", "Simulation", "Teacher"]
__all__ += ["Trained", "order_parameter", "ramp"]
__all__ += ["calibrate", "cost_of", "load", "load_dataset", "load_own", "load_test_split"]
__all__ += ["solve", "train", "train_recipe", "yield_of"]
__all__ += ["calibration", "cluster", "cost", "data", "evaluation", "export", "hardware", "ising"]
__all__ += [
    "kernels",
    "memory",
    "models",
    "physics",
    "plots",
    "rules",
    "sklearn",
    "tasks",
    "training",
]


configure_environment()  # before PyTorch is loaded


def __getattr__(name: str) -> Any:
    if name not in _ATTRIBUTES:
        raise AttributeError(f"module 'entrain' has no attribute {name!r}")
    path, attribute = _ATTRIBUTES[name]
    module = importlib.import_module(path)
    return module if attribute is None else getattr(module, attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ATTRIBUTES})
