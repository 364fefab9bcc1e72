"""The parameters of the scikit-learn classifier, checked when it is fitted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, Self

import torch
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from entrain.hardware import Hardware, find
from entrain.rules import Direct
from entrain.rules.chip_training import ChipTraining
from entrain.rules.direct import small_set, tuned
from entrain.rules.regression_settings import WEIGHT_DECAY, regression_set
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError

_BOUNDS: dict[str, dict[str, Any]] = {
    "weight_decay": {"zero": True},
    "validation_fraction": {"zero": True, "below": 1.0},
}


@dataclass(frozen=True)
class Settings:
    """Checked parameters of a classifier."""

    hidden: int
    observation_time: float
    steps: int
    epochs: int | None
    batch_size: int | None
    input_rate: float
    coupling_rate: float
    weight_decay: float | None
    validation_fraction: float
    hardware: Hardware | None
    device: torch.device
    verbose: int
    gain: float = 1.0  # of a softmax; a regressor has none
    ensemble: int = 1

    @classmethod
    def of(cls, classifier: Any) -> Self:
        """The parameters of a `KuramotoClassifier`."""
        names = [entry.name for entry in fields(cls) if hasattr(classifier, entry.name)]
        values = {name: getattr(classifier, name) for name in names}
        if isinstance(values["verbose"], bool):  # scikit-learn allows True and False
            values["verbose"] = int(values["verbose"])
        for entry in fields(cls):
            if entry.name not in values:
                continue
            name, value = entry.name, values[entry.name]
            if entry.type == "float" or (entry.type == "float | None" and value is not None):
                values[name] = number(name, value, **_BOUNDS.get(name, {}))
            elif entry.type == "int" or (entry.type == "int | None" and value is not None):
                values[name] = _integer(name, value, 0 if name == "verbose" else 1)
        hardware, device = values["hardware"], choose_device(values["device"])
        hardware = None if hardware is None else find(hardware)
        return cls(**values | {"hardware": hardware, "device": device})

    def protocol(self, examples: int, classes: int) -> Direct:
        """The rule DIRECT, tuned for tables; a single class takes one epoch, and 0 are numbers."""
        rule = replace(tuned(Direct(), "table"), **small_set(examples, self.batch_size))
        decay = rule.weight_decay
        if classes == 0:
            rule, decay = replace(rule, **regression_set(examples, rule.batch_size)), WEIGHT_DECAY
        if self.hardware is not None:
            rule = rule.for_chips(ChipTraining(self.hardware), "table")
        if self.epochs is not None:
            fine = max(1, self.epochs // 20)
            rule = replace(
                rule, epochs=self.epochs, fine_epochs=fine, validation_interval=0, patience=0
            )
        if classes == 1:
            rule = replace(rule, epochs=1)
        return replace(
            rule,
            input_rate=self.input_rate,
            coupling_rate=self.coupling_rate,
            gain=self.gain,
            weight_decay=decay if self.weight_decay is None else self.weight_decay,
        )


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
