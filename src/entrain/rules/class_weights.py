"""Weights of classes, for data in which some are rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.utils.errors import InputError, positive_float, unknown_name


def class_weights_of(
    class_weight: str | Mapping[Any, float] | None, labels: np.ndarray, names: Sequence[str]
) -> tuple[float, ...] | None:
    """Weights of the classes `names`, as in scikit-learn: "balanced" is the number of examples
    over (classes times examples of the class); a mapping has 1 for the classes it leaves out."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise InputError(
                f"class_weight must be 'balanced' or weights by class name, got {class_weight!r}"
            )
        counts = np.bincount(labels, minlength=len(names))
        return tuple((len(labels) / (len(names) * np.maximum(counts, 1))).tolist())
    weights = {str(name): weight for name, weight in class_weight.items()}
    for name in weights:
        if name not in names:
            raise unknown_name("class in class_weight", name, names)
    return tuple(
        positive_float("class_weight", weights.get(name, 1.0), zero=True) for name in names
    )


def check_class_weights(weights: object) -> None:
    """Raise an `InputError` unless `weights` are non-negative numbers, not all 0."""
    if not isinstance(weights, tuple) or not weights:
        raise InputError(f"class_weights must be numbers, one for each class, got {weights!r}")
    if not sum(positive_float("class_weights", weight, zero=True) for weight in weights):
        raise InputError(f"class_weights must not all be 0, got {weights!r}")


def check_class_count(weights: tuple[float, ...] | None, classes: int) -> None:
    """Raise an `InputError` unless there is a weight for each class, or none at all."""
    if weights is not None and len(weights) != classes:
        raise InputError(
            f"class_weights must be {classes} numbers, one for each class, got {len(weights)}"
        )


def example_weights(
    class_weights: tuple[float, ...] | None,
    labels: Tensor,
    classes: int,
    own: Tensor | None = None,
) -> Tensor | None:
    """Weights (M,) of examples, their `own` times those of their classes, of mean 1, in float64;
    None if all count alike."""
    if class_weights is None and own is None:
        return None
    weights = torch.ones(len(labels), dtype=torch.float64, device=labels.device)
    if class_weights is not None:
        check_class_count(class_weights, classes)
        weights = torch.tensor(class_weights, dtype=torch.float64, device=labels.device)[labels]
    if own is not None:
        weights = weights * own
    return weights / weights.mean().clamp(min=1e-300)  # 0 where all are 0
