"""The parameters of the scikit-learn estimators, checked when they are fitted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from entrain.hardware import Hardware, find
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError

_BOUNDS: dict[str, dict[str, Any]] = {
    "weight_decay": {"zero": True},
    "validation_fraction": {"zero": True, "below": 1.0},
}


_GENERAL = ("batch_size", "observation_time", "steps")
_OF_DIRECT = ("input_rate", "coupling_rate", "gain", "weight_decay")


@dataclass(frozen=True)
class Settings:
    """Checked parameters of an estimator; None is the default of `entrain.train`."""

    hidden: int
    observation_time: float | None
    steps: int | None
    epochs: int | None
    batch_size: int | None
    input_rate: float | None
    coupling_rate: float | None
    weight_decay: float | None
    validation_fraction: float
    hardware: Hardware | None
    device: str
    verbose: int
    gain: float | None = None  # of a softmax; a regressor has none
    ensemble: int = 1

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """The parameters of a `KuramotoClassifier` or a `KuramotoRegressor`."""
        names = [entry.name for entry in fields(cls) if hasattr(estimator, entry.name)]
        values = {name: getattr(estimator, name) for name in names}
        if isinstance(values["verbose"], bool):  # scikit-learn allows True and False
            values["verbose"] = int(values["verbose"])
        for entry in fields(cls):
            name, kind = entry.name, str(entry.type)
            value = values.get(name)
            if name not in values or (value is None and kind.endswith("| None")):
                continue
            if kind.startswith("float"):
                values[name] = number(name, value, **_BOUNDS.get(name, {}))
            elif kind.startswith("int"):
                values[name] = _integer(name, value, 0 if name == "verbose" else 1)
        hardware = values["hardware"]
        choose_device(values["device"])
        return cls(**values | {"hardware": None if hardware is None else find(hardware)})

    def keywords(self) -> dict[str, Any]:
        """The keywords of `entrain.train`."""
        names = {name: name for name in _GENERAL}
        names |= {name: f"DIRECT.{name}" for name in _OF_DIRECT}
        values = {key: getattr(self, name) for name, key in names.items()}
        return {
            "protocol": "DIRECT",
            "network": self.hidden,
            "hardware": self.hardware,
            "epochs": self.epochs,
            "device": self.device,
            "settings": {key: value for key, value in values.items() if value is not None},
        }


def _integer(name: str, value: object, least: int = 1) -> int:
    expected = f"{name} must be an integer of at least {least}, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(expected)
    if value < least:
        raise InputError(expected)
    return int(value)


def number(name: str, value: object, *, zero: bool = False, below: float = math.inf) -> float:
    """`value` as a finite number; another type is a `TypeError`, as in scikit-learn."""
    bound = "at least 0" if zero else "above 0"
    end = "finite" if below == math.inf else f"below {below:g}"
    expected = f"{name} must be a number, {bound} and {end}, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(expected)
    number = float(value)
    if not 0.0 <= number < below or (number == 0.0 and not zero):
        raise InputError(expected)
    return number


def class_weights(
    class_weight: object, classes: NDArray[Any], y: NDArray[Any]
) -> tuple[float, ...] | None:
    """Weights of the classes (n_classes,), or None."""
    if class_weight is None:
        return None
    if not (isinstance(class_weight, Mapping) or class_weight == "balanced"):
        raise InputError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    for weight in class_weight.values() if isinstance(class_weight, Mapping) else ():
        number("class_weight", weight, zero=True)
    return tuple(compute_class_weight(class_weight, classes=classes, y=y).tolist())
