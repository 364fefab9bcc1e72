"""Splits and datasets are checked where they are made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import entrain
from entrain import FeatureDataset, InputError, Split
from entrain.tasks import Classification

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (X, Y[:3], "as many targets as rows of features, got 3 targets and 6 rows"),
        (X[:0], Y[:0], "at least one row"),
        (X[:, :0], Y, "at least one feature"),
        (X[0], Y, r"shape \(rows, D\), got shape \(2,\)"),
        (X.astype(np.uint8)[0], Y, r"shape \(rows, D\), got shape \(2,\)"),
        (X.astype(str), Y, "features must be real numbers"),
        (X.astype(object), Y, "features must be real numbers"),
        (np.where(X == 3, np.nan, X), Y, "row 1, column 1 .* holds nan"),
        (X, Y - 1, "labels must be non-negative integers, got -1"),
        (X, Y.astype(float), "targets must be integers .* got float64"),
        (X, Y.astype(str), "targets must be integers"),
        (X, Y[:, None], r"of shape \(n,\), .* got int64 of shape \(6, 1\)"),
        (None, Y, "features must be real numbers"),
    ],
)
def test_invalid_splits_are_refused(features: Any, labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Split(features, labels)


def test_a_split_keeps_its_arrays() -> None:
    split = Split(X, Y)
    assert split.features is X
    assert split.labels is Y
    assert Split(X, Y.astype(np.uint8)).labels.dtype == np.int64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": Classification(("a", "b"))}, "train has the label 2; expected labels below 2"),
        ({"feature_names": ("a",)}, "train has 2 features an example; expected 1"),
        ({"test": Split(np.ones((2, 3)), Y[:2])}, "test has 3 features an example; expected 2"),
        ({"validation": None}, "validation must be a Split, got NoneType"),
    ],
)
def test_what_is_no_dataset_is_refused(change: dict[str, Any], message: str) -> None:
    split = Split(X, Y)
    whole = FeatureDataset("mine", split, split, split, Classification(("a", "b", "c")), ("0", "1"))
    with pytest.raises(InputError, match=message):
        replace(whole, **change)


def test_pictures_have_the_pixels_of_their_shape() -> None:
    with pytest.raises(InputError, match="train has 64 features an example; expected 8 x 9 pixels"):
        replace(entrain.load_dataset("digits"), image_shape=(8, 9))
