"""A user's own data: how they are split and scaled, and which paths and names are taken."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from entrain.data import (
    FeatureScaling,
    balance,
    load_own,
)
from entrain.data.own.examples import safe_name
from entrain.utils.errors import InputError
from own_files import (
    LABELS,
    PARTS,
    RNG,
    ROWS,
    npz,
    parts_of,
)


@pytest.mark.parametrize(
    "counts", [[50, 50], [70, 21, 9], [3, 3, 4], [10] * 50, [1000, 3], [4, 5, 6, 7, 8]]
)
def test_splits_are_stratified_disjoint_and_complete(tmp_path: Path, counts: list[int]) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    np.random.default_rng(2).shuffle(labels)
    rows = np.stack([np.arange(len(labels)), labels], axis=1)
    data = load_own(npz(tmp_path / "x.npz", X=rows, y=labels))
    found, codes = parts_of(data)
    assert np.array_equal(np.sort(found[:, 0]), np.arange(len(labels)))
    assert np.array_equal(found[:, 1], codes)
    for part, share in zip(PARTS, (0.7, 0.15, 0.15), strict=True):
        each = np.bincount(getattr(data, part).labels, minlength=len(counts))
        assert each.min() >= 1
        assert (np.abs(each - share * np.array(counts)) < 2).all()
        assert getattr(data, part).labels.dtype == np.int64
    assert np.array_equal(
        np.bincount(data.validation.labels, minlength=len(counts)),
        np.bincount(data.test.labels, minlength=len(counts)),
    )


def test_many_small_classes_still_give_the_shares(tmp_path: Path) -> None:
    labels = np.repeat(np.arange(50), 10)
    data = load_own(npz(tmp_path / "x.npz", X=np.arange(500.0)[:, None], y=labels))
    assert [len(getattr(data, part)) for part in PARTS] == [350, 75, 75]


def test_a_seed_gives_the_same_split_again_and_another_another(tmp_path: Path) -> None:
    path = npz(tmp_path / "x.npz", X=ROWS, y=LABELS)
    first, again, other = load_own(path), load_own(path), load_own(path, seed=3)
    for part in PARTS:
        assert np.array_equal(getattr(first, part).features, getattr(again, part).features)
    assert not np.array_equal(first.test.features, other.test.features)


def test_the_split_looks_at_the_order_of_labels_only(tmp_path: Path) -> None:
    """The same labels in the same order split alike, whatever they are called or beside."""
    first = load_own(npz(tmp_path / "x.npz", X=np.arange(40.0)[:, None], y=LABELS))
    other = load_own(npz(tmp_path / "y.npz", X=np.arange(40)[:, None] + 7, y=LABELS == "b"))
    assert np.array_equal(first.test.features + 7, other.test.features)


def test_given_validation_and_test_examples_are_kept(tmp_path: Path) -> None:
    few = {"X": ROWS, "y": LABELS, "X_test": ROWS[:2] + 1000, "y_test": LABELS[:2]}
    data = load_own(npz(tmp_path / "x.npz", **few))
    assert np.array_equal(data.test.features, ROWS[:2] + 1000)
    assert len(data.train) == 34
    assert len(data.validation) == 6
    data = load_own(npz(tmp_path / "x.npz", **few, X_validation=ROWS[5:8], y_validation=["b"] * 3))
    assert np.array_equal(data.train.features, ROWS)
    assert np.array_equal(data.validation.features, ROWS[5:8])
    assert data.validation.labels.tolist() == [1, 1, 1]


def test_balance_counts_all_splits(tmp_path: Path) -> None:
    found = balance(load_own(npz(tmp_path / "x.npz", X=ROWS, y=LABELS)))
    assert found == {"counts": {"a": 12, "b": 28}, "imbalance": 28 / 12}
    json.dumps(found)


# Scaling


def test_training_rows_get_mean_0_sd_1_and_the_mean_length() -> None:
    rows = RNG.normal(5, [1.0, 1e-9, 1e9], (200, 3)) + np.array([0, 0, 1e12])
    scaling = FeatureScaling.fit(rows)
    inputs = scaling(rows)
    assert inputs.dtype == torch.float32
    z = inputs.numpy().astype(float) / scaling.factor
    assert np.allclose(z.mean(axis=0), 0, atol=1e-5)
    assert np.allclose(z.std(axis=0), 1, atol=1e-5)
    assert float(inputs.norm(dim=1).mean()) == pytest.approx(48.9, rel=1e-5)
    assert scaling.mean == pytest.approx(rows.mean(axis=0), rel=1e-12)
    assert scaling.sd == pytest.approx(rows.std(axis=0), rel=1e-6)
    assert FeatureScaling.fit(rows, norm=2.0).factor == pytest.approx(scaling.factor * 2 / 48.9)
    assert (scaling.inputs, scaling.image_shape) == (3, (1, 3))
    assert torch.equal(scaling(rows[4]), inputs[4:5])
    assert torch.equal(scaling(rows, unseen=False), inputs)


def test_a_constant_feature_is_harmless() -> None:
    rows = np.stack([np.arange(30.0), np.full(30, 0.1)], axis=1)
    scaling = FeatureScaling.fit(rows)
    assert scaling.mean[1] == 0.1
    assert scaling.sd[1] == 1.0
    assert not scaling(rows)[:, 1].any()
    assert float(scaling(np.array([[3.0, 0.2]]))[0, 1]) == pytest.approx(0.1 * scaling.factor)


def test_numbers_too_small_to_divide_by_are_refused() -> None:
    with pytest.raises(InputError, match=r"feature 0 \(from 0\) varies too little"):
        FeatureScaling.fit(np.array([[0.0], [1.0], [4.0]]) * 1e-320)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e306])
def test_extreme_units_do_not_matter(scale: float) -> None:
    rows = np.array([[0.0], [1.0], [4.0]]) * scale
    plain = FeatureScaling.fit(rows / scale)
    assert np.allclose(FeatureScaling.fit(rows)(rows), plain(rows / scale), rtol=1e-3)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.longdouble])
def test_any_real_numbers_will_do(dtype: type) -> None:
    rows = np.array([[0, 1], [1, 1], [1, 0]])
    expected = FeatureScaling.fit(rows)(rows)
    assert torch.equal(FeatureScaling.fit(rows.astype(dtype))(rows.astype(dtype)), expected)


def test_large_data_are_scaled_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = FeatureScaling.fit(ROWS)
    monkeypatch.setattr("entrain.data.features._CHUNK", 10)
    pieces = FeatureScaling.fit(ROWS)
    assert torch.allclose(whole(ROWS), pieces(ROWS))
    spoilt = ROWS.copy()
    spoilt[17, 2] = np.nan
    with pytest.raises(InputError, match=r"row 17, column 2 \(from 0\) holds nan"):
        whole(spoilt)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((2, 4)), r"shape \(rows, 3\), got shape \(2, 4\)"),
        (np.ones(4), r"shape \(rows, 3\)"),
        (np.ones((2, 3, 1)), r"shape \(rows, 3\)"),
        (np.ones((0, 3)), "at least one row"),
        (np.array([[0, np.nan, 0]]), "row 0, column 1"),
        (np.array([[0, 0, 0], [0, 0, -np.inf]]), "row 1, column 2 .* holds -inf"),
        (np.array([[1e300, 0, 0]]), "column 0 .* holds 1e.300; .* mean is"),
        (np.array([["1", "2", "3"]]), "real numbers"),
        (np.ones((1, 3), complex), "real numbers"),
    ],
)
def test_rows_that_cannot_be_scaled_are_refused(rows: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureScaling.fit(ROWS)(rows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((5, 2)), "every feature is constant over the 5 training rows"),
        (np.ones((5, 0)), "at least one feature"),
        (np.ones((0, 2)), "at least one row"),
        (np.array([[1e308, 0], [1e308, 1], [-1e308, 1]]), "feature 0 .* too large"),
    ],
)
def test_rows_without_a_scale_are_refused(rows: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureScaling.fit(rows)


def test_a_scaling_survives_json() -> None:
    scaling = FeatureScaling.fit(ROWS)
    assert FeatureScaling.from_json(json.loads(json.dumps(asdict(scaling)))) == scaling


GOOD = {"mean": [0, 1.5], "sd": [1, 2.0], "factor": 3}


@pytest.mark.parametrize(
    "values",
    [
        None,
        [],
        {},
        {**GOOD, "more": 1},
        {"mean": [0], "sd": [1]},
        *({**GOOD, "mean": bad} for bad in (None, 1.0, "ab", [], [0], [0, "1"], [0, float("nan")])),
        *({**GOOD, "mean": bad} for bad in ([0, True], [0, 10**400], [0, None], [[0], [1]])),
        *({**GOOD, "sd": bad} for bad in ([1, 0], [1, -1], [1, float("inf")], [1], {}, [1, 2, 3])),
        *({**GOOD, "factor": bad} for bad in (0, -1, float("nan"), "1", None, True, 10**400)),
    ],
    ids=lambda values: repr(values)[:60],
)
def test_json_of_no_scaling_is_refused(values: object) -> None:
    FeatureScaling.from_json(GOOD)
    with pytest.raises(InputError):
        FeatureScaling.from_json(values)


@pytest.mark.parametrize("name", ["nowhere", "nowhere.npz", "nowhere.csv", "no\0where.csv"])
def test_nothing_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        load_own(tmp_path / name)


def test_pipes_and_devices_are_refused_as_such(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", Path("/dev/zero")):
        with pytest.raises(InputError, match=f"{path}: is a pipe or a device"):
            load_own(path)


def test_files_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"")
    with pytest.raises(InputError, match=r"ends in '\.xlsx'; expected \.npz, \.csv, \.tsv, \.ts"):
        load_own(tmp_path / "x.xlsx")
    with pytest.raises(InputError, match="0 class folders"):
        load_own(tmp_path)


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_files_that_may_not_be_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        load_own(path)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, None])
def test_seeds_that_cannot_be(tmp_path: Path, seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be"):
        load_own(npz(tmp_path / "x.npz", X=ROWS, y=LABELS), seed=seed)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("Iris.csv", "iris"),
        ("Größe & Gewicht.csv", "grosse-gewicht"),
        ("../../etc/passwd.csv", "passwd"),
        ("日本.npz", "data"),
        ("a" * 60 + ".npz", "a" * 40),
        ("digits.csv", "digits-own"),
        ("v1.2_final-3.csv", "v1-2_final-3"),
    ],
)
def test_names_are_short_and_safe(file: str, name: str) -> None:
    assert safe_name(Path(file)) == name
