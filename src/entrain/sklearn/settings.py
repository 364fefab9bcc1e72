"""The parameters of the scikit-learn classifier, checked when it is fitted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import torch
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from entrain.hardware import Hardware, find
from entrain.rules import Direct
from entrain.rules.chip_training import ChipTraining
from entrain.rules.direct import small_set, tuned
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Settings:
    """The parameters of an estimator, checked."""

    hidden: int
    observation_time: float
    steps: int
    epochs: int | None
    batch_size: int | None
    input_rate: float
    coupling_rate: float
    gain: float
    weight_decay: float
    validation_fraction: float
    hardware: Hardware | None
    device: torch.device
    verbose: int

    @classmethod
    def of(cls, given: Any) -> Self:
        """Those of a `KuramotoClassifier`."""
        return cls(
            hidden=_whole("hidden", given.hidden),
            observation_time=number("observation_time", given.observation_time),
            steps=_whole("steps", given.steps),
            epochs=None if given.epochs is None else _whole("epochs", given.epochs),
            batch_size=None if given.batch_size is None else _whole("batch_size", given.batch_size),
            input_rate=number("input_rate", given.input_rate),
            coupling_rate=number("coupling_rate", given.coupling_rate),
            gain=number("gain", given.gain),
            weight_decay=number("weight_decay", given.weight_decay, zero=True),
            validation_fraction=number(
                "validation_fraction", given.validation_fraction, zero=True, below=1.0
            ),
            hardware=None if given.hardware is None else find(given.hardware),
            device=choose_device(given.device),
            verbose=_whole("verbose", _count(given.verbose), least=0),
        )

    def protocol(self, examples: int, classes: int) -> Direct:
        """DIRECT as for any table of so many examples. A single class leaves nothing to learn."""
        changes: dict[str, Any] = small_set(examples, self.batch_size)
        if self.epochs is not None:
            changes |= {"epochs": self.epochs, "fine_epochs": max(1, self.epochs // 20)}
        if classes == 1:
            changes |= {"epochs": 1}
        return replace(
            tuned(Direct(), "table"),
            input_rate=self.input_rate,
            coupling_rate=self.coupling_rate,
            gain=self.gain,
            chips=None if self.hardware is None else ChipTraining(self.hardware),
            **changes | {"weight_decay": self.weight_decay},
        )


def _count(verbose: object) -> object:
    """True and False as scikit-learn's users write them."""
    return int(verbose) if isinstance(verbose, bool) else verbose


def _whole(name: str, value: object, least: int = 1) -> int:
    expected = f"{name} must be a whole number of at least {least}, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(expected)
    if value < least:
        raise InputError(expected)
    return int(value)


def number(name: str, value: object, *, zero: bool = False, below: float = math.inf) -> float:
    """`value` as a finite number; as scikit-learn has it, another type is a `TypeError`."""
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
    given: object, classes: NDArray[Any], y: NDArray[Any]
) -> tuple[float, ...] | None:
    """The weights of the classes, (n_classes,); None where all are alike."""
    if given is None:
        return None
    if not (isinstance(given, Mapping) or given == "balanced"):
        raise InputError(f"class_weight must be a dict, 'balanced' or None, got {given!r}")
    for weight in given.values() if isinstance(given, Mapping) else ():
        number("class_weight", weight, zero=True)
    return tuple(compute_class_weight(given, classes=classes, y=y).tolist())
