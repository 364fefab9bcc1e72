"""A user's own arrays, and .npz files of them, whose headers are not trusted."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from entrain.data.datasets import ImageDataset, Split
from entrain.data.features import checked_rows
from entrain.data.own import examples
from entrain.data.own.examples import (
    Dataset,
    check_size,
    classes_of,
    codes_of,
    feature_dataset,
    own_split,
    quoted,
    safe_name,
)
from entrain.utils.errors import InputError

_ARRAYS = ("X", "y", "X_validation", "y_validation", "X_test", "y_test")


def from_npz(path: Path, seed: int) -> Dataset:
    """The dataset of an .npz file."""
    return from_arrays(_read_npz(path, _names_in_file), safe_name(path), seed)


def from_arrays(arrays: dict[str, np.ndarray], name: str, seed: int) -> Dataset:
    """The dataset of X and y and, optionally, X_validation, X_test and their labels."""
    check_shapes({key: (array.shape, array.dtype) for key, array in arrays.items()})
    x, labels = arrays["X"], label_texts(arrays["y"], "y")
    present = [part for part in ("validation", "test") if f"X_{part}" in arrays]
    names, codes = classes_of(labels, "y", 3 - len(present))
    splits = {}
    for part in present:
        rows = arrays[f"X_{part}"]
        if rows.shape[1:] != x.shape[1:]:
            raise InputError(
                f"X_{part} has shape {rows.shape}; expected (n, {', '.join(map(str, x.shape[1:]))})"
                f", as X has shape {x.shape}"
            )
        if x.ndim == 3 and (rows.dtype.kind == "f") != (x.dtype.kind == "f"):
            raise InputError(f"X_{part} holds {rows.dtype} and X {x.dtype}; expected one scale")
        texts = label_texts(arrays[f"y_{part}"], f"y_{part}")
        if foreign := sorted(set(texts) - set(names)):
            raise InputError(
                f"y_{part} holds the label {quoted(foreign[0])}, which y does not; expected the "
                f"classes of y: {', '.join(map(quoted, names[:10]))}{', ...' * (len(names) > 10)}"
            )
        splits[part] = Split(_checked_x(rows, f"X_{part}"), codes_of(texts, names))
    x = _checked_x(x, "X")
    absent = [part for part in ("validation", "test") if part not in present]
    for part, index in zip(["train", *absent], own_split(codes, len(absent), seed), strict=True):
        splits[part] = Split(x[index], codes[index])
    three = splits["train"], splits["validation"], splits["test"]
    if arrays["X"].ndim == 3:
        rows, columns = arrays["X"].shape[1:]
        pixel_max = 1.0 if x.dtype.kind == "f" else 255.0
        return ImageDataset(name, *three, (rows, columns), pixel_max, names)
    hint = "X is read as features; save it as (n, rows, columns) if it holds images"
    notes = (hint,) if arrays["X"].dtype == np.uint8 else ()
    return feature_dataset(name, three, names, tuple(map(str, range(x.shape[1]))), notes)


def read_x(path: Path) -> tuple[np.ndarray, list[str] | None]:
    """X, the rows to classify, and y if it is in the .npz file."""

    def names(members: Iterable[str]) -> list[str]:
        if "X" not in members:
            raise InputError(f"no array X: it holds {_listed(members)}; expected X")
        return [name for name in ("X", "y") if name in members]

    arrays = _read_npz(path, names)
    x, y = arrays["X"], arrays.get("y")
    if x.ndim not in (2, 3) or 0 in x.shape or x.dtype.kind not in "buif":
        raise InputError(
            f"X has shape {x.shape} and holds {x.dtype}; expected numbers of shape (n, D) or "
            "(n, rows, columns)"
        )
    if y is not None and y.shape != (len(x),):
        raise InputError(f"X has {len(x)} rows and y has shape {y.shape}; expected as many labels")
    return x, None if y is None else [str(value) for value in y.tolist()]


def _checked_x(x: np.ndarray, name: str) -> np.ndarray:
    """Rows (n, D) of X: float64 features, or images of uint8 or of floats from 0 to 1. Constant
    images are refused."""
    if x.ndim == 2:
        try:
            return checked_rows(x).astype(np.float64, copy=False)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    pixels = _pixels(x, name)
    constant = np.flatnonzero(pixels.max(axis=1) == pixels.min(axis=1))
    if len(constant):
        bad = constant[0]
        raise InputError(
            f"{name}: image {bad} (from 0) is constant, every pixel {pixels[bad, 0]}; "
            "it has no content to classify: leave it out"
        )
    return pixels


def _pixels(x: np.ndarray, name: str) -> np.ndarray:
    """Images (n, rows, columns) as rows (n, D): integers up to 255 as uint8, floats up to 1 as
    float32 or float64."""
    low, high = x.min(), x.max()
    most = 1 if x.dtype.kind == "f" else 255
    if not (low >= 0 and high <= most):  # NaN neither
        raise InputError(
            f"{name} has shape {x.shape} and holds {x.dtype}; its values reach from {low} to "
            f"{high}: expected images of uint8 (0 to 255) or of floats from 0 to 1. Scale them, "
            f"{name} / {name}.max()"
        )
    pixels = x.reshape(len(x), -1)
    if most == 255:
        return pixels.astype(np.uint8, copy=False)
    return pixels.astype(np.float32 if x.dtype.itemsize <= 4 else np.float64, copy=False)


def label_texts(y: np.ndarray, name: str) -> list[str]:
    """Labels as strings."""
    if y.dtype.kind == "f":
        integers = np.isfinite(y) & (np.abs(y) < 2**53)
        integers[integers] = y[integers] == np.rint(y[integers])
        if not integers.all():
            bad = np.flatnonzero(~integers)[0]
            raise InputError(
                f"{name} holds {y[bad]} in row {bad} (from 0); expected whole numbers or strings: "
                "numbers to predict must be grouped into classes first"
            )
        y = y.astype(np.int64)
    try:
        if y.dtype.kind == "S":
            return [text.decode().strip() for text in y.tolist()]
        return [str(value).strip() for value in y.tolist()]
    except (ValueError, SystemError) as error:  # SystemError: not Unicode
        raise InputError(f"{name} holds strings that are not text ({error})") from error


def _read_npz(path: Path, names: Callable[[Iterable[str]], list[str]]) -> dict[str, np.ndarray]:
    """The arrays that `names` selects from the names in the file."""
    with _zip_errors("not a complete .npz file"), zipfile.ZipFile(path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        selected, headers, arrays = names(members), {}, {}
        for name in selected:
            with _zip_errors(f"the array {name} is corrupt"), archive.open(members[name]) as file:
                headers[name] = _header(name, file, members[name].file_size)
        if "y" in selected:
            check_shapes(headers)
        for name in selected:
            with _zip_errors(f"the array {name} is corrupt"), archive.open(members[name]) as file:
                arrays[name] = np.asarray(npy.read_array(file, allow_pickle=False))
        return arrays


@contextmanager
def _zip_errors(what: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old headers
            yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # broken archives raise many kinds
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(
            f"{what} ({str(error)[:300]}); expected one written by numpy.savez: write it again"
        ) from error


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name) for name in sorted(names)[:10]) or "nothing"


def _names_in_file(names: Iterable[str]) -> list[str]:
    """The arrays of a dataset that are in the file: X, y and those of the other splits."""
    for name in ("X", "y"):
        if name not in names:
            raise InputError(f"no array {name}: it holds {_listed(names)}; expected X and y")
    for name in names:
        if name not in _ARRAYS and name.lower().startswith(("x_", "y_")):
            raise InputError(
                f"the array {quoted(name)} has no meaning here; expected {', '.join(_ARRAYS)}: "
                "rename it or leave it out"
            )
    for part in ("validation", "test"):
        pair = [f"X_{part}", f"y_{part}"]
        missing = [name for name in pair if name not in names]
        if len(missing) == 1:
            raise InputError(f"no array {missing[0]}: expected both {pair[0]} and {pair[1]}")
    return [name for name in _ARRAYS if name in names]


def _header(name: str, file: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of an array; refused unless they fit the `size` of its file and the limit."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise InputError(f"the array {name} has a format {version}; expected numbers or strings")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, _, dtype = read(file)
    except MemoryError as error:  # a header nested too deeply
        raise InputError(f"the array {name} has a corrupt header") from error
    if dtype.hasobject:
        raise InputError(
            f"the array {name} holds Python objects; expected numbers or strings: convert it with "
            f"{name}.astype({'str' if name.startswith('y') else 'float'}) before saving"
        )
    declared = math.prod(shape) * dtype.itemsize
    if declared > examples.LIMIT or max(shape, default=0) > examples.LIMIT:
        raise InputError(
            f"the array {name} claims shape {shape} of {dtype}, {declared:,} bytes; expected at "
            f"most {examples.LIMIT:,}"
        )
    if min(shape, default=1) < 0 or declared != size - file.tell():
        raise InputError(
            f"the array {name} claims shape {shape} of {dtype}, {declared:,} bytes, but has "
            f"{size - file.tell():,}; write the file again"
        )
    return shape, dtype


def check_shapes(headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> None:
    """Refuse arrays whose shapes and dtypes cannot be those of X and y."""
    total = 0
    for name, (shape, dtype) in headers.items():
        if name.startswith("y"):
            _check_y(name, shape, dtype)
            rows = headers[name.replace("y", "X", 1)][0]
            if shape[0] != rows[0]:
                raise InputError(
                    f"{name.replace('y', 'X', 1)} has {rows[0]} rows and {name} has {shape[0]} "
                    "labels; expected as many"
                )
            continue
        _check_x(name, shape, dtype)
        itemsize = dtype.itemsize if len(shape) == 3 else 8
        check_size(shape[0], math.prod(shape[1:]), itemsize)
        total += math.prod(shape) * itemsize
    if total > examples.LIMIT:
        raise InputError(f"the arrays take {total:,} bytes; expected at most {examples.LIMIT:,}")


def _check_x(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    expected = "expected numbers of shape (n, D), or images of shape (n, rows, columns)"
    if len(shape) not in (2, 3) or 0 in shape:
        remedy = ": make colours grey first" if len(shape) == 4 else ""
        raise InputError(f"{name} has shape {shape}; {expected}{remedy}")
    if dtype.kind not in "buif":
        raise InputError(f"{name} holds {dtype}; {expected}")


def _check_y(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 1 or shape[0] == 0:
        raise InputError(f"{name} has shape {shape}; expected (n,), one label for each row")
    if dtype.kind not in "buifSU":
        raise InputError(f"{name} holds {dtype}; expected whole numbers or strings")
