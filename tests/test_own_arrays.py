"""A user's own arrays: what is read of an .npz file, and what is refused."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entrain.data import (
    FeatureDataset,
    FeatureScaling,
    ImageDataset,
    load_own,
)
from entrain.data.own import arrays, examples
from entrain.utils.errors import InputError
from own_files import (
    LABELS,
    LEVELS,
    ROWS,
    loads_or_refuses,
    npz,
    parts_of,
)


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
    assert data.preprocessing == FeatureScaling.fit(data.train.features)


def test_images_of_an_npz_are_its_pixels(tmp_path: Path) -> None:
    data = load_own(npz(tmp_path / "mnist.npz", X=LEVELS, y=LABELS))
    assert isinstance(data, ImageDataset)
    assert (data.image_shape, data.pixel_max, data.class_names) == ((4, 5), 255.0, ("a", "b"))
    assert data.name == "mnist-own"
    rows, _ = parts_of(data)
    assert rows.dtype == np.uint8
    assert set(map(bytes, rows)) == set(map(bytes, LEVELS.reshape(40, -1)))
    assert data.preprocessing(data.test.features).shape == (6, 20)


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
    ("changes", "message"),
    [
        ({"X": None}, "no array X: it holds 'y'; expected X and y"),
        ({"y": None}, "no array y"),
        ({"X": None, "X_train": ROWS}, "no array X: it holds 'X_train', 'y'"),
        ({"X_val": ROWS}, "'X_val' has no meaning here; expected X, y, X_validation"),
        ({"X_test": ROWS}, "no array y_test"),
        ({"X": ROWS.astype(object)}, r"X holds Python objects; .* numpy.asarray\(X, dtype=float\)"),
        ({"y": LABELS.astype(object)}, r"y holds Python objects; .* numpy.asarray\(y, dtype=str\)"),
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
def test_arrays_that_cannot_be_used(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    arrays = {"X": ROWS, "y": LABELS} | changes
    path = tmp_path / "x.npz"
    np.savez_compressed(path, **{name: each for name, each in arrays.items() if each is not None})
    with pytest.raises(InputError, match=message) as caught:
        load_own(path)
    assert str(caught.value).startswith(f"{path}: ")


def npy_bytes(shape: str, descr: str = "'<f8'", data: bytes = b"", magic: bytes = b"\1\0") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + magic + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize(
    ("content", "message"),
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
def test_arrays_that_lie_about_themselves(tmp_path: Path, content: bytes, message: str) -> None:
    path = npz(tmp_path / "x.npz", y=LABELS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", content)
    with pytest.raises(InputError, match=message):
        load_own(path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "LIMIT", 10**6)
    monkeypatch.setattr(arrays.npy, "read_array", None)
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
