"""The advice of errors and warnings about a user's own data works when it is followed."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest

from entrain.data import FeatureDataset, ImageDataset, load_own
from entrain.utils.errors import InputError

RNG = np.random.default_rng(0)
LABELS = np.arange(90) % 3
SERIES = RNG.random((90, 20, 3))
FRAME = pandas.DataFrame(
    {"a": RNG.normal(size=90), "city": RNG.choice(["x", "y"], 90), "label": LABELS}
)


def test_three_dimensional_floats_are_scaled_or_flattened() -> None:
    X = 3 * RNG.normal(size=(90, 8, 8))
    with pytest.raises(InputError, match=r"\(X - X.min\(\)\) / \(X.max\(\) - X.min\(\)\).*"):
        load_own(X, LABELS)
    assert isinstance(load_own((X - X.min()) / (X.max() - X.min()), LABELS), ImageDataset)
    assert isinstance(load_own(X.reshape(len(X), -1), LABELS), FeatureDataset)


def test_a_time_series_that_looks_like_images_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"images of 20 x 3 pixels.*X.reshape\(len\(X\), -1\)"):
        load_own(SERIES, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_own(SERIES.reshape(len(SERIES), -1), LABELS).preprocessing.inputs == 60
        load_own((255 * SERIES).astype(np.uint8), LABELS)


def test_numbers_to_predict_are_warned_of(tmp_path: Path) -> None:
    X, y = RNG.normal(size=(900, 2)), np.arange(900) % 30
    pandas.DataFrame(X).assign(label=y).to_csv(tmp_path / "x.csv", index=False)
    np.savez(tmp_path / "x.npz", X=X, y=y)
    for data in ((X, y), (X, y.astype(float)), (tmp_path / "x.csv",), (tmp_path / "x.npz",)):
        with pytest.warns(UserWarning, match="30 different whole numbers are learnt as 30 classes"):
            load_own(*data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_own(X, y.astype(str))
        assert len(load_own(X, pandas.qcut(y, 4, labels=False)).class_names) == 4


def test_numbers_with_few_examples_each_are_told_from_classes() -> None:
    with pytest.raises(InputError, match=r"For numbers to predict choose task='regression'"):
        load_own(RNG.normal(size=(60, 2)), RNG.integers(0, 40, 60))


def test_strings_of_pandas_are_saved_as_strings(tmp_path: Path) -> None:
    X, y = RNG.normal(size=(90, 2)), pandas.Series(RNG.choice(["u", "v"], 90))
    np.savez(tmp_path / "objects.npz", X=X, y=y.astype(object))
    with pytest.raises(InputError, match=r"save numpy.asarray\(y, dtype=str\)"):
        load_own(tmp_path / "objects.npz")
    np.savez(tmp_path / "strings.npz", X=X, y=np.asarray(y, dtype=str))
    assert load_own(tmp_path / "strings.npz").class_names == ("u", "v")


def test_columns_of_text_are_left_out_or_encoded(tmp_path: Path) -> None:
    encoded, FILE = pandas.get_dummies(FRAME, columns=["city"]), tmp_path / "x.csv"
    with pytest.raises(InputError, match=r"X.drop\(columns='city'\).*columns=\['city'\]"):
        load_own(FRAME)
    FRAME.to_csv(FILE, index=False)
    with pytest.raises(InputError, match=r"column 'city' holds no number in any row; leave it out"):
        load_own(FILE)
    assert load_own(FRAME.drop(columns="city")).feature_names == ("a",)
    assert load_own(encoded, label="label").feature_names == ("a", "city_x", "city_y")
    encoded.astype({"city_x": int, "city_y": int}).to_csv(FILE, index=False)
    assert load_own(FILE, label="label").preprocessing.inputs == 3
