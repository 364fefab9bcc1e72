"""A user's own arrays, tables and pictures: what is read, how it is split, what is refused."""

from __future__ import annotations

import io
import json
import os
import re
import struct
import sys
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from entrain.data import (
    Dataset,
    FeatureDataset,
    FeatureScaling,
    OwnData,
    balance,
    load_own,
)
from entrain.data import own as own_module
from entrain.data.own import safe_name
from entrain.data.pictures import read_picture
from entrain.errors import InputError

RNG = np.random.default_rng(0)
ROWS = np.arange(120.0).reshape(40, 3) + RNG.normal(size=(40, 3))
LABELS = np.repeat(["b", "a"], [28, 12])
LEVELS = RNG.integers(0, 256, (40, 4, 5)).astype(np.uint8)
PARTS = ("train", "validation", "test")


def npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def parts_of(data: OwnData) -> tuple[np.ndarray, np.ndarray]:
    """All rows and labels, split after split."""
    splits = [getattr(data, part) for part in PARTS]
    rows = np.concatenate([split.pixels for split in splits])
    return rows, np.concatenate([split.labels for split in splits])


def folder_of_pictures(place: Path, counts: dict[str, int], size: tuple[int, int] = (9, 7)) -> Path:
    rng = np.random.default_rng(1)
    for name, count in counts.items():
        (place / name).mkdir(parents=True)
        for i in range(count):
            levels = rng.integers(0, 100, size).astype(np.uint8)
            Image.fromarray(levels).save(place / name / f"{i}.png")
    return place


# Splits


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
        assert np.array_equal(getattr(first, part).pixels, getattr(again, part).pixels)
    assert not np.array_equal(first.test.pixels, other.test.pixels)


def test_the_split_looks_at_the_order_of_labels_only(tmp_path: Path) -> None:
    """The same labels in the same order split alike, whatever they are called or beside."""
    first = load_own(npz(tmp_path / "x.npz", X=np.arange(40.0)[:, None], y=LABELS))
    other = load_own(npz(tmp_path / "y.npz", X=np.arange(40)[:, None] + 7, y=LABELS == "b"))
    assert np.array_equal(first.test.pixels + 7, other.test.pixels)


def test_given_validation_and_test_examples_are_kept(tmp_path: Path) -> None:
    few = {"X": ROWS, "y": LABELS, "X_test": ROWS[:2] + 1000, "y_test": LABELS[:2]}
    data = load_own(npz(tmp_path / "x.npz", **few))
    assert np.array_equal(data.test.pixels, ROWS[:2] + 1000)
    assert len(data.train) == 34
    assert len(data.validation) == 6
    data = load_own(npz(tmp_path / "x.npz", **few, X_validation=ROWS[5:8], y_validation=["b"] * 3))
    assert np.array_equal(data.train.pixels, ROWS)
    assert np.array_equal(data.validation.pixels, ROWS[5:8])
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


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e306])
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
    ("rows", "said"),
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
def test_rows_that_cannot_be_scaled_are_refused(rows: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
        FeatureScaling.fit(ROWS)(rows)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.ones((5, 2)), "every feature is constant over the 5 training rows"),
        (np.ones((5, 0)), "at least one feature"),
        (np.ones((0, 2)), "at least one row"),
        (np.array([[1e308, 0], [1e308, 1], [-1e308, 1]]), "feature 0 .* too large"),
    ],
)
def test_rows_without_a_scale_are_refused(rows: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
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


# Arrays


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (np.repeat([10, 9, -2], [14, 13, 13]), ("-2", "9", "10")),
        (np.repeat(["zwei", "eins"], 20), ("eins", "zwei")),
        (np.repeat([b"zwei", b"eins"], 20), ("eins", "zwei")),
        (np.repeat(["10", "9"], 20), ("9", "10")),
        (np.repeat([True, False], 20), ("False", "True")),
        (np.repeat([1.0, 0.0], 20), ("0", "1")),
        (np.repeat(np.array([2**64 - 1, 1], np.uint64), 20), ("1", str(2**64 - 1))),
        (np.repeat(["größer", "kleiner"], 20), ("größer", "kleiner")),
    ],
)
def test_labels_may_be_numbers_or_strings(
    tmp_path: Path, labels: np.ndarray, names: tuple[str, ...]
) -> None:
    data = load_own(npz(tmp_path / "My Data (2).npz", X=ROWS, y=labels))
    assert isinstance(data, FeatureDataset)
    assert data.class_names == names
    assert (data.name, data.image_shape) == ("my-data-2", (1, 3))
    texts = [x.decode() if isinstance(x, bytes) else str(x) for x in labels.tolist()]
    by_row = dict(zip(map(tuple, ROWS.tolist()), texts, strict=True))
    for row, code in zip(*parts_of(data), strict=True):
        assert by_row[tuple(row)].removesuffix(".0") == names[code]
    assert data.preprocessing is data.preprocessing
    assert data.preprocessing == FeatureScaling.fit(data.train.pixels)


def test_images_of_an_npz_are_its_pixels(tmp_path: Path) -> None:
    data = load_own(npz(tmp_path / "mnist.npz", X=LEVELS, y=LABELS))
    assert isinstance(data, Dataset)
    assert (data.image_shape, data.pixel_max, data.class_names) == ((4, 5), 255.0, ("a", "b"))
    assert data.name == "mnist-own"
    rows, _ = parts_of(data)
    assert rows.dtype == np.uint8
    assert set(map(bytes, rows)) == set(map(bytes, LEVELS.reshape(40, -1)))
    assert data.preprocessing(data.test.pixels).shape == (6, 20)


def test_flat_bytes_are_features_and_the_notes_say_so(tmp_path: Path) -> None:
    data = load_own(npz(tmp_path / "x.npz", X=LEVELS.reshape(40, -1), y=LABELS))
    assert isinstance(data, FeatureDataset)
    assert "(n, rows, columns)" in data.notes[0]


def test_compressed_arrays_in_columns_are_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", X=np.asfortranarray(ROWS), y=LABELS, extra=[1])
    rows, _ = parts_of(load_own(str(tmp_path / "x.npz")))
    assert np.array_equal(np.sort(rows, axis=0), np.sort(ROWS, axis=0))


def spoilt(array: np.ndarray, place: tuple[int, ...], value: float) -> np.ndarray:
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"X": None}, "no array X: it holds 'y'; expected X and y"),
        ({"y": None}, "no array y"),
        ({"X": None, "X_train": ROWS}, "no array X: it holds 'X_train', 'y'"),
        ({"X_val": ROWS}, "'X_val' has no meaning here; expected X, y, X_validation"),
        ({"X_test": ROWS}, "no array y_test"),
        ({"X": ROWS.astype(object)}, r"X holds Python objects; .* X.astype\(float\)"),
        ({"y": LABELS.astype(object)}, r"y holds Python objects; .* y.astype\(str\)"),
        ({"X": ROWS[:39]}, "X has 39 rows and y has 40 labels"),
        ({"X": ROWS[:, 0]}, r"X has shape \(40,\); expected numbers of shape \(n, D\)"),
        ({"X": np.float64(1)}, r"X has shape \(\)"),
        ({"X": ROWS[:, :0]}, r"X has shape \(40, 0\)"),
        ({"X": ROWS[:0], "y": LABELS[:0]}, r"X has shape \(0, 3\)"),
        ({"X": LEVELS.astype(float)}, "holds float64; .* images of uint8"),
        ({"X": np.stack([LEVELS] * 3, axis=-1)}, r"shape \(40, 4, 5, 3\).* make colours grey"),
        ({"X": ROWS.astype(complex)}, "X holds complex128"),
        ({"X": ROWS.astype(str)}, "X holds <U"),
        ({"X": np.zeros((40, 3), "f8,i4")}, "X holds"),
        ({"X": np.zeros((40, 3), "M8[s]")}, "X holds datetime64"),
        ({"X": spoilt(ROWS, (7, 2), np.nan)}, r"X: row 7, column 2 \(from 0\) holds nan"),
        ({"X": spoilt(ROWS, (0, 0), np.inf)}, "X: row 0, column 0"),
        ({"X": ROWS * 0}, "every feature is constant"),
        ({"X": np.where(ROWS > 60, 1.7e308, -1.7e308)}, "feature 0 .* too large"),
        ({"X": spoilt(LEVELS, (9,), 7)}, "image 9 .* every pixel 7"),
        ({"X": np.zeros((40, 400, 300), np.uint8)}, "120,000 numbers .* at most 100,000"),
        ({"X": np.zeros((40, 100_001), np.uint8)}, "100,001 numbers .* at most 100,000"),
        ({"y": LABELS[:, None]}, r"y has shape \(40, 1\); expected \(n,\)"),
        ({"y": np.arange(40) / 2}, "y holds 0.5 in row 1 .* whole numbers or strings"),
        ({"y": np.full(40, np.nan)}, "y holds nan in row 0"),
        ({"y": np.zeros(40, complex)}, "y holds complex128"),
        ({"y": np.zeros(40, "M8[s]")}, "y holds datetime64"),
        ({"y": np.zeros(40, int)}, "every label is '0'; expected at least 2 classes"),
        ({"y": np.full(40, "")}, "every label is ''"),
        ({"y": np.where(np.arange(40) < 9, " ", LABELS)}, "a label is empty"),
        ({"y": np.where(np.arange(40) < 9, "\x1b[31m", LABELS)}, "cannot be a class name"),
        ({"y": np.where(np.arange(40) < 9, "x" * 101, LABELS)}, "at most 100 printable"),
        ({"y": np.repeat([b"\xff", b"a"], 20)}, "not text"),
        ({"y": np.full(40, 2**31, np.uint32).view("<U1")}, "not text"),
        ({"y": np.r_[np.zeros(38), 1, 1]}, r"too few examples of '1' \(2\); expected at least 3"),
        ({"y": np.arange(40)}, r"'0' \(1\), .* and 35 more"),
        ({"X": np.eye(2002), "y": np.arange(2002) // 2}, "1,001 different labels .* at most 1,000"),
        ({"X": ROWS[:9], "y": np.arange(9) // 3}, "9 examples; expected at least 10"),
        ({"X_test": ROWS[:, :2], "y_test": LABELS}, r"X_test has shape \(40, 2\); .*\(n, 3\)"),
        ({"X_test": LEVELS, "y_test": LABELS}, "X_test has shape"),
        ({"X_test": ROWS[:2], "y_test": ["a", "c"]}, "y_test holds the label 'c'.*'a', 'b'"),
        ({"X_test": ROWS[:2], "y_test": LABELS}, "X_test has 2 rows and y_test has 40"),
        ({"X_test": ROWS * np.nan, "y_test": LABELS}, "X_test: row 0, column 0"),
        ({"X_test": ROWS + 1e300, "y_test": LABELS}, "nearer to the training rows"),
        ({"X_test": ROWS[:0], "y_test": LABELS[:0]}, r"X_test has shape \(0, 3\)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_that_cannot_be_used(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    arrays = {"X": ROWS, "y": LABELS} | changes
    path = tmp_path / "x.npz"
    np.savez_compressed(path, **{name: each for name, each in arrays.items() if each is not None})
    with pytest.raises(InputError, match=said) as caught:
        load_own(path)
    assert str(caught.value).startswith(f"{path}: ")


def npy_bytes(shape: str, descr: str = "'<f8'", data: bytes = b"", magic: bytes = b"\1\0") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + magic + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (npy_bytes("(1000000000, 3)"), r"claims shape \(1000000000, 3\) .* at most 4,000,000,000"),
        (npy_bytes("(10000, 3)"), "240,000 bytes, but has 0"),
        (npy_bytes("(10, 3)", data=b"\0" * 239), "240 bytes, but has 239"),
        (npy_bytes("(-1, -240)", data=b"\0" * 1920), "claims shape"),
        (npy_bytes(f"(0, {10**30})"), "claims shape"),
        (npy_bytes(f"({', '.join(['9' * 200] * 30)})"), "corrupt"),
        (npy_bytes("(40, 3)", "'|O'", b"cposix\nsystem\n(S'true'\ntR."), "Python objects"),
        (npy_bytes("(40, 3)", "[('a', '|O')]"), "Python objects"),
        (npy_bytes("(40, 3)", "'nonsense'"), "corrupt"),
        (npy_bytes("(" * 4000), "corrupt"),
        (npy_bytes("(40, 3)", magic=b"\7\0"), "corrupt|format"),
        (npy_bytes("(40, 3)", magic=b"\3\0"), "format"),
        (b"", "X is corrupt"),
        (b"\x93NUMPY", "X is corrupt"),
        (b"hello", "X is corrupt"),
    ],
    ids=[
        *("24-gigabytes", "missing", "short", "negative", "zero-by-huge", "astronomic", "pickle"),
        *("pickle-inside", "dtype", "nested", "magic-7", "magic-3", "empty", "cut", "text"),
    ],
)
def test_arrays_that_lie_about_themselves(tmp_path: Path, content: bytes, said: str) -> None:
    path = npz(tmp_path / "x.npz", y=LABELS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", content)
    with pytest.raises(InputError, match=said):
        load_own(path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_module, "LIMIT", 10**6)
    monkeypatch.setattr(own_module.npy, "read_array", None)
    path = tmp_path / "x.npz"
    for rows in (np.zeros((400, 400)), np.zeros((400, 400), np.uint8)):  # the latter as float64
        np.savez_compressed(path, X=rows, y=np.arange(400) % 2)
        with pytest.raises(InputError, match="1,280,000 bytes; expected at most 1,000,000"):
            load_own(path)
    half = np.zeros((200, 400))
    labels = np.arange(200) % 2
    np.savez_compressed(path, X=half, y=labels, X_test=half, y_test=labels)
    with pytest.raises(InputError, match="the arrays take 1,280,000 bytes"):
        load_own(path)


def whole_npz() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, X=ROWS, y=LABELS)
    return file.getvalue()


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"text", whole_npz()[:-30], whole_npz()[:200]])
def test_files_that_are_no_npz(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"not a complete \.npz file .* numpy\.savez"):
        load_own(path)


def loads_or_refuses(path: Path) -> None:
    try:
        data = load_own(path)
    except InputError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017 (either way is right)
    else:
        assert len(data.test) > 0
        assert data.preprocessing(data.test.pixels).isfinite().all()


FUZZ = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@FUZZ
@given(
    place=st.floats(0, 1, exclude_max=True),
    put=st.binary(min_size=1, max_size=6),
    cut=st.booleans(),
    stored=st.booleans(),
)
def test_a_damaged_npz_is_read_or_refused(
    tmp_path: Path, place: float, put: bytes, cut: bool, stored: bool
) -> None:
    file = io.BytesIO()
    (np.savez if stored else np.savez_compressed)(file, X=ROWS, y=LABELS)
    content = file.getvalue()
    at = int(place * len(content))
    path = tmp_path / "x.npz"
    path.write_bytes(content[:at] + (b"" if cut else put + content[at + len(put) :]))
    loads_or_refuses(path)


@FUZZ
@given(header=st.binary(max_size=80), text=st.booleans())
def test_a_damaged_array_header_is_read_or_refused(
    tmp_path: Path, header: bytes, text: bool
) -> None:
    path = npz(tmp_path / "x.npz", y=LABELS)
    with zipfile.ZipFile(path, "a") as archive:
        content = npy_bytes(header.decode("latin-1") if text else "(40, 3)", data=header)
        archive.writestr("X.npy", content if text else b"\x93NUMPY\1\0" + header)
    loads_or_refuses(path)


@FUZZ
@given(
    content=st.binary(max_size=300)
    | st.text(alphabet="ab1.5,;\t\"'\r\n\0 e-_", max_size=300).map(str.encode),
    suffix=st.sampled_from([".npz", ".csv", ".tsv"]),
)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    loads_or_refuses(path)


# Tables


def table(
    delimiter: str = ",",
    header: tuple[str, ...] = ("width", "height", "depth", "label"),
    change: Callable[[list[list[str]]], object] | None = None,
) -> str:
    lines = [list(header)]
    lines += [[*map(repr, row.tolist()), str(label)] for row, label in zip(ROWS, LABELS)]  # noqa: B905
    if change is not None:
        change(lines)
    return "\n".join(delimiter.join(line) for line in lines) + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".CSV"])
@pytest.mark.parametrize("prefix", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_tables_are_read(
    tmp_path: Path, delimiter: str, suffix: str, prefix: str, newline: str
) -> None:
    path = tmp_path / f"x{suffix}"
    text = prefix + table(delimiter).replace("\n", newline) + newline
    path.write_text(text, encoding="utf-8", newline="")
    data = load_own(path)
    arrays = load_own(npz(tmp_path / "x.npz", X=ROWS, y=LABELS))
    assert isinstance(data, FeatureDataset)
    assert data.feature_names == ("width", "height", "depth")
    assert (data.name, data.class_names) == ("x", ("a", "b"))
    for part in PARTS:
        assert np.array_equal(getattr(data, part).pixels, getattr(arrays, part).pixels)
        assert np.array_equal(getattr(data, part).labels, getattr(arrays, part).labels)
    assert data.notes == ("labels come from column 'label'",)


QUOTED = '"a,""b"""'


def test_quoted_cells_may_hold_delimiters_and_line_ends(tmp_path: Path) -> None:
    rows = [f'"{i}",{("c", QUOTED)[i % 2]}' for i in range(20)]
    text = "\n".join(['"size; total","la\nbel"', *rows])
    (tmp_path / "x.csv").write_text(text)
    data = load_own(tmp_path / "x.csv")
    assert data.class_names == ('a,"b"', "c")
    assert data.feature_names == ("size; total",)
    assert sorted(parts_of(data)[0][:, 0]) == list(range(20))


@pytest.mark.parametrize(
    ("header", "label", "column", "note"),
    [
        (("label", "b", "c"), None, 0, "column 'label'"),
        (("a", " Class ", "c"), None, 1, "column 'Class'"),
        (("TARGET", "b", "c"), None, 0, "column 'TARGET'"),
        (("a", "y", "c"), None, 1, "column 'y'"),
        (("a", "b", "c"), None, 2, "column 'c', the last one"),
        (("0", "1", "2"), None, 2, "column '2', the last one"),
        (("a", "label", "c"), "a", 0, "column 'a'"),
        (("2010", "2015", "kind"), "kind", 2, "column 'kind'"),
    ],
)
def test_the_label_column_is_named_or_found(
    tmp_path: Path, header: tuple[str, ...], label: str | None, column: int, note: str
) -> None:
    numbers = np.arange(60).reshape(20, 3)
    numbers[:, column] %= 2
    lines = [",".join(header), *(",".join(map(str, row)) for row in numbers)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    data = load_own(tmp_path / "x.csv", label=label)
    assert isinstance(data, FeatureDataset)
    assert data.class_names == ("0", "1")
    assert data.notes == (f"labels come from {note}",)
    left = tuple(name.strip() for i, name in enumerate(header) if i != column)
    assert data.feature_names == left


def cell(line: int, column: int, value: str) -> Callable[[list[list[str]]], object]:
    return lambda lines: lines[line - 1].__setitem__(column, value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("\n", "line 1 has 0 columns"),
        ("just text\nmore\n", "line 1 has 1 columns; .* commas, semicolons or tabs"),
        ("a,label\n", "0 examples; expected at least 10"),
        (table(change=lambda lines: lines.__delitem__(slice(9, None))), "8 examples"),
        (table(change=lambda lines: lines[4].pop()), "line 5 has 3 columns; expected 4"),
        (table(change=lambda lines: lines[4].append("1")), "line 5 has 5 columns; expected 4"),
        (table(change=cell(6, 1, "")), "line 6, column 'height' holds nothing; .* missing"),
        (table(change=cell(6, 1, " ")), "line 6, column 'height' holds nothing"),
        (table(change=cell(6, 0, "tall")), "line 6, column 'width' holds 'tall'; .* number"),
        (table(change=cell(6, 2, "nan")), "line 6, column 'depth' holds 'nan'; expected a finite"),
        (table(change=cell(6, 2, "-inf")), "line 6, column 'depth' holds '-inf'"),
        (table(change=cell(6, 2, "1e999")), "line 6, column 'depth' holds '1e999'"),
        (table(change=cell(6, 2, "1_000")), "line 6, column 'depth' holds '1_000'"),
        (table(change=cell(6, 2, "\x1b[2J")), r"holds '\\x1b\[2J'"),
        (table(";", change=cell(6, 2, "1,5")), "column 'depth' holds '1,5'; .* with a point"),
        (table(change=cell(6, 3, " ")), "line 6: no label in column 'label'"),
        (table(change=cell(6, 2, '"1')), "line 6: .* quotation marks"),
        (table(change=cell(6, 2, '"1"2')), "line 6: .* quotation marks"),
        (table(change=cell(6, 2, '"' + "1" * 200_000)), "line 6: .* quotation marks"),
        (table(change=cell(6, 2, "1\r2")), "line 6"),
        (table(header=("", "b", "c", "label")), "column 1 has no name; .* row numbers must go"),
        (table(header=("a", "a", "c", "label")), "the name 'a' comes twice"),
        (table(header=("5.1", "3.5", "1.4", "x")), "column 1 is called '5.1'; expected the names"),
        (table(header=("5", "3", "1", "x")), "line 1 holds numbers, '5, 3, 1'"),
        (table(header=("9" * 5000, "3", "1", "x")), "line 1 holds numbers"),
        (table(header=("a", "y", "c", "label")), "'y' and 'label' may all be labels"),
        (table(header=("a", "b", "label", "c")), "column 'c' holds 'b'.*from column 'label'"),
        (table(change=lambda lines: [line.reverse() for line in lines[1:]]), "column 'width'"),
        (
            "a,b\n" + "".join(f"{i},{i / 7}\n" for i in range(30)),
            "labels in column 'b', the last one: too few examples",
        ),
        ("a,b\n" + "".join(f"{i},1\n" for i in range(30)), "every label is '1'"),
        ("a,b\n" + "".join(f"1,{i % 2}\n" for i in range(30)), "every feature is constant"),
        (",".join(f"f{i}" for i in range(100_002)) + "\n", "100,001 numbers"),
    ],
    ids=lambda value: value[:40] if re.match("[a-z0-9']", value) and "\n" not in value else "",
)
def test_tables_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, newline="")
    with pytest.raises(InputError, match=said) as caught:
        load_own(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (table().encode("utf-16"), 1),
        (b"\x89PNG\r\n\x1a\n", 1),
        (table().replace("width", "höhe").encode("latin-1"), 1),
        ((table() * 50 + "ö").encode("latin-1"), None),
        (table(change=cell(30, 3, "ä")).encode("latin-1"), 30),
    ],
)
def test_tables_in_another_encoding_are_refused(
    tmp_path: Path, content: bytes, line: int | None
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"line {line} is not UTF-8 text" if line else "line 42"):
        load_own(path)


def test_a_label_column_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(table())
    with pytest.raises(InputError, match="unknown column 'lable': did you mean 'label'"):
        load_own(tmp_path / "x.csv", label="lable")
    (tmp_path / "wide.csv").write_text(",".join(f"f{i}" for i in range(50)))
    with pytest.raises(InputError, match="no column 'kind' among the 50"):
        load_own(tmp_path / "wide.csv", label="kind")
    with pytest.raises(InputError, match=r"for \.csv and \.tsv files only"):
        load_own(npz(tmp_path / "x.npz", X=ROWS, y=LABELS), label="label")
    with pytest.raises(InputError, match=r"for \.csv and \.tsv files only"):
        load_own(tmp_path, label="label")


def test_a_table_too_large_for_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 100)
    monkeypatch.setattr(own_module, "LIMIT", 100)
    with pytest.raises(InputError, match="404 bytes; expected at most 100"):
        load_own(path)
    monkeypatch.setattr(own_module, "LIMIT", 500)
    with pytest.raises(InputError, match="63 examples of 1 numbers take 504 bytes"):
        load_own(path)


# Pictures


@pytest.mark.parametrize("size", [8, 28])
def test_pictures_of_a_folder_are_those_predict_would_read(tmp_path: Path, size: int) -> None:
    place = folder_of_pictures(tmp_path / "Gute Bäume", {"10": 12, "9": 8})
    (place / "9" / "0.png").rename(place / "9" / "no suffix")
    (place / ".hidden").mkdir()
    (place / "9" / ".DS_Store").write_bytes(b"x")
    (place / "9" / "Thumbs.db").write_bytes(b"x")
    (place / "README.txt").write_text("x")
    seen: list[float] = []
    data = load_own(place, image_size=size, on_progress=seen.append)
    assert isinstance(data, Dataset)
    assert (data.name, data.class_names) == ("gute-baume", ("9", "10"))
    assert (data.image_shape, data.pixel_max) == ((size, size), 255.0)
    assert seen == sorted(seen)
    assert len(seen) == 20
    assert seen[-1] == 1.0
    expected = {
        read_picture(file, (size, size), 255.0).astype(np.float32).tobytes(): file.parent.name
        for file in place.glob("[19]*/*")
        if file.name[0] != "." and file.name != "Thumbs.db"
    }
    rows, codes = parts_of(data)
    assert len(expected) == len(rows) == 20
    for row, code in zip(rows, codes, strict=True):
        assert expected[row.tobytes()] == data.class_names[code]
    assert data.preprocessing(data.test.pixels).isfinite().all()


def test_pictures_of_the_size_agree_with_the_same_arrays(tmp_path: Path) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 10, "b": 10}, (8, 8))
    files = sorted(place.glob("*/*"))
    levels = np.stack([np.asarray(Image.open(file)) for file in files])
    arrays = load_own(npz(tmp_path / "x.npz", X=levels, y=[file.parent.name for file in files]))
    data = load_own(place, image_size=8)
    for part in PARTS:
        assert np.allclose(getattr(data, part).pixels, getattr(arrays, part).pixels, atol=1e-4)


def overwrite(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda place: (place / name).write_bytes(content)


def grey(place: Path) -> None:
    Image.new("L", (9, 7), 80).save(place / "a" / "grey.png")


def crowd(place: Path) -> None:
    for i in range(1001):
        (place / f"c{i}").mkdir()
        (place / f"c{i}" / "x.png").write_bytes(b"")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (overwrite("a/notes.txt", b"text"), r"notes\.txt: not a picture"),
        (overwrite("a/3.png", b""), r"3\.png: not a picture"),
        (overwrite("a/3.png", b"\x89PNG\r\n\x1a\n"), r"3\.png: "),
        (grey, r"grey\.png: the picture is constant"),
        (overwrite("loose.png", b""), r"loose\.png beside class folders"),
        (lambda place: (place / "empty").mkdir(), "empty: no pictures"),
        (lambda place: (place / "a" / "inner").mkdir(), "inner: a folder within a class folder"),
        (lambda place: (place / "b").rename(place / ".b"), "1 class folders; expected at least"),
        (lambda place: (place / "b").rename(place / "b\x1b"), "cannot be a class name"),
        (lambda place: [(place / "a" / f"{i}.png").unlink() for i in range(4)], r"'a' \(2\)"),
        (lambda place: [file.unlink() for file in place.glob("*/[0-2].png")], "9 examples"),
        (lambda place: os.symlink(place.parent / "o.png", place / "a/o.png"), "not followed"),
        (lambda place: os.symlink(place.parent / "other", place / "c"), "not followed"),
        (lambda place: os.symlink("nowhere", place / "a" / "l.png"), "leads nowhere"),
        (lambda place: os.symlink("l.png", place / "a" / "l.png"), "leads nowhere"),
        (lambda place: os.mkfifo(place / "a" / "pipe.png"), "no such picture"),
        (crowd, "1,003 different labels"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_folders_that_cannot_be_used(
    tmp_path: Path, change: Callable[[Path], object], said: str
) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 9})
    folder_of_pictures(tmp_path / "other", {"deep": 3})
    Image.fromarray(LEVELS[0]).save(tmp_path / "o.png")
    load_own(place, image_size=8)
    change(place)
    with pytest.raises(InputError, match=said) as caught:
        load_own(place, image_size=8)
    assert str(caught.value).startswith(str(place))


def test_links_within_the_folder_are_followed(tmp_path: Path) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 6})
    os.symlink(place / "a" / "0.png", place / "b" / "9.png")
    os.symlink(place, tmp_path / "link")
    assert balance(load_own(tmp_path / "link", image_size=8))["counts"] == {"a": 6, "b": 7}


@pytest.mark.parametrize("size", [0, -1, 2.5, True, 317])
def test_image_sizes_that_cannot_be(tmp_path: Path, size: Any) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 6})
    with pytest.raises(InputError, match=r"whole number|at most 100,000"):
        load_own(place, image_size=size)


def test_pictures_that_a_single_pixel_cannot_hold(tmp_path: Path) -> None:
    place = folder_of_pictures(tmp_path / "x", {"a": 6, "b": 6})
    with pytest.raises(InputError, match=r"0\.png: constant when made 1 x 1 pixels"):
        load_own(place, image_size=1)


# Paths


@pytest.mark.parametrize("name", ["nowhere", "nowhere.npz", "nowhere.csv", "no\0where.csv"])
def test_nothing_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        load_own(tmp_path / name)


def test_files_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"")
    with pytest.raises(InputError, match=r"ends in '\.xlsx'; expected \.npz, \.csv, \.tsv or a fo"):
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
