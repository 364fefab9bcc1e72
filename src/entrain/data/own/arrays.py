"""A user's own arrays, and .npz files of them, whose headers are not trusted."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterable
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
    feature_dataset,
    quoted,
    safe_name,
    three_splits,
)
from entrain.data.own.targets import FRAMES, Targets
from entrain.data.sequence_scaling import checked_sequences
from entrain.data.sequences import SequenceDataset
from entrain.utils.errors import InputError
from entrain.utils.zip_file import open_zip

Headers = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
"""Shape and dtype of each array of a file."""

_PARTS = ("X_validation", "y_validation", "X_test", "y_test")


def from_npz(path: Path, seed: int, kind: str | None = None, frames: int = FRAMES) -> Dataset:
    """The dataset of an .npz file."""
    check = functools.partial(check_shapes, kind=kind)
    arrays = read_npz(path, ("X", "y"), _PARTS, check)
    return from_arrays(arrays, safe_name(path), seed, kind, frames)


def from_arrays(
    arrays: dict[str, np.ndarray],
    name: str,
    seed: int,
    kind: str | None = None,
    frames: int = FRAMES,
) -> Dataset:
    """The dataset of X and y and, optionally, X_validation, X_test and their targets."""
    shapes = {key: (array.shape, array.dtype) for key, array in arrays.items()}
    check_shapes(shapes, kind)
    x, are_sequences = arrays["X"], kind == "sequence"
    present = [part for part in ("validation", "test") if f"X_{part}" in arrays]
    targets = Targets(arrays["y"], "y", kind, 3 - len(present))
    splits = {}
    # Black and white, or fractions: otherwise levels of 8 bits
    pixel_max = 1.0 if x.dtype.kind in "bf" or x.max() <= 1 else 255.0

    def checked(rows: np.ndarray, name: str) -> np.ndarray:
        return checked_sequences(rows) if are_sequences else _checked_x(rows, name, pixel_max)

    for part in present:
        rows = arrays[f"X_{part}"]
        if rows.shape[1 + are_sequences :] != x.shape[1 + are_sequences :]:
            raise InputError(
                f"X_{part} has shape {rows.shape}; expected (n, {', '.join(map(str, x.shape[1:]))})"
                f", as X has shape {x.shape}"
            )
        if x.ndim == 3 and (rows.dtype.kind == "f") != (x.dtype.kind == "f"):
            raise InputError(f"X_{part} holds {rows.dtype} and X {x.dtype}; expected one scale")
        values = targets.others(arrays[f"y_{part}"], f"y_{part}")
        splits[part] = Split(checked(rows, f"X_{part}"), values)
    x = checked(x, "X")
    three = three_splits(x, targets.values, seed, **splits)
    task, notes = targets.task(three[0].targets), targets.notes
    if are_sequences:
        channels = tuple(map(str, range(x.shape[2])))
        return SequenceDataset(name, *three, task, channels, frames, notes)
    if arrays["X"].ndim == 3:
        rows, columns = arrays["X"].shape[1:]
        if rows != columns and arrays["X"].dtype != np.uint8:
            warnings.warn(
                f"X is read as images of {rows} x {columns} pixels; for sequences of {rows} "
                f"frames of {columns} channels choose task='sequence'; give features as rows: "
                "X.reshape(len(X), -1)",
                stacklevel=3,
            )
        return ImageDataset(name, *three, (rows, columns), pixel_max, task)
    hint = "X is read as features; save it as (n, rows, columns) if it holds images"
    notes = notes + ((hint,) if arrays["X"].dtype == np.uint8 else ())
    return feature_dataset(name, three, task, tuple(map(str, range(x.shape[1]))), notes)


def read_x(path: Path) -> tuple[np.ndarray, list[str] | None]:
    """X, the rows to classify, and y if it is in the .npz file."""
    arrays = read_npz(path, ("X",), ("y",), check_shapes)
    y = arrays.get("y")
    return arrays["X"], None if y is None else [str(value) for value in y.tolist()]


def _checked_x(x: np.ndarray, name: str, pixel_max: float) -> np.ndarray:
    """Rows (n, D) of X: float64 features, or images of uint8, or of float32 or float64 from 0 to 1.
    Images that are constant, or on another scale than the others, are refused."""
    if x.ndim == 2:
        try:
            return checked_rows(x).astype(np.float64, copy=False)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    low, high, floats = x.min(), x.max(), x.dtype.kind == "f"
    if not (low >= 0 and high <= pixel_max):  # NaN neither
        raise InputError(
            f"{name} has shape {x.shape} and holds {x.dtype}; its values reach from {low} to "
            f"{high}: expected "
            + ("images of uint8 (0 to 255), " if pixel_max > 1 or floats else "images ")
            + "of floats from 0 to 1 or of truth values"
            + ("" if name == "X" else ", on the scale of X")
            + f". Scale images, ({name} - X.min()) / (X.max() - X.min()); give features, such as "
            f"time series, as rows: {name}.reshape(len({name}), -1)"
        )
    dtype = np.uint8 if not floats else np.float32 if x.dtype.itemsize <= 4 else np.float64
    pixels = x.reshape(len(x), -1).astype(dtype, copy=False)
    constant = np.flatnonzero(pixels.max(axis=1) == pixels.min(axis=1))
    if len(constant):
        bad = constant[0]
        raise InputError(
            f"{name}: image {bad} (from 0) is constant, every pixel {pixels[bad, 0]}; "
            "it has no content to classify: leave it out"
        )
    if pixel_max > 1 and len(black := np.flatnonzero(pixels.max(axis=1) <= 1)):
        raise InputError(
            f"{name}: image {black[0]} (from 0) holds 0 and 1 alone, and others levels up to 255; "
            "expected one scale for all: correct it or leave it out"
        )
    return pixels


def read_npz(
    path: Path,
    required: tuple[str, ...],
    optional: tuple[str, ...],
    check: Callable[[Headers], None],
) -> dict[str, np.ndarray]:
    """The required arrays of a file, and the optional ones that it has; `check` raises for shapes
    and dtypes before the arrays are read."""
    fault, headers, arrays = "not a complete .npz file", {}, {}
    try:
        with warnings.catch_warnings(), open_zip(path, ".npz file", 2 * examples.LIMIT) as archive:
            warnings.simplefilter("ignore")  # of old headers
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            _check_names(members, required, optional)
            selected = [name for name in (*required, *optional) if name in members]
            for name in selected:
                fault = f"the array {name} is corrupt"
                with archive.open(members[name]) as file:
                    headers[name] = _header(name, file, members[name].file_size)
            check(headers)
            for name in selected:
                fault = f"the array {name} is corrupt"
                with archive.open(members[name]) as file:
                    arrays[name] = np.asarray(npy.read_array(file, allow_pickle=False))
    except (InputError, MemoryError):
        raise
    except Exception as error:  # broken archives raise many kinds
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(
            f"{fault} ({str(error)[:300]}); expected one written by numpy.savez: write it again"
        ) from error
    return arrays


def _check_names(
    names: Iterable[str], required: tuple[str, ...], optional: tuple[str, ...]
) -> None:
    """Refuse a file without the required arrays or, beside X and y, with parts of other names."""
    for name in required:
        if name not in names:
            listed = ", ".join(quoted(name) for name in sorted(names)[:10]) or "nothing"
            expected = " and ".join(required)
            raise InputError(f"no array {name}: it holds {listed}; expected {expected}")
    for name in names if optional == _PARTS else ():
        if name.lower().startswith(("x_", "y_")) and name not in _PARTS:
            raise InputError(
                f"the array {quoted(name)} has no meaning here; expected X, y, "
                f"{', '.join(_PARTS)}: rename it or leave it out"
            )


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
            f"the array {name} holds Python objects; expected numbers or strings: save "
            f"numpy.asarray({name}, dtype={'str' if name.startswith('y') else 'float'})"
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


def check_shapes(headers: Headers, kind: str | None = None) -> None:
    """Refuse arrays whose shapes and dtypes cannot be those of X and y."""
    total = 0
    for name, (shape, dtype) in headers.items():
        if name.startswith("y"):
            several = len(shape) == 2 and 0 not in shape and dtype.kind in "buif"
            if several and (kind != "classification" and (kind or dtype.kind == "f")):
                continue  # several numbers to predict
            if len(shape) != 1 or shape[0] == 0:
                numbers = "" if kind == "classification" else ", or (n, O), O numbers for each row"
                raise InputError(
                    f"{name} has shape {shape}; expected (n,), one label for each row{numbers}"
                )
            if dtype.kind not in "buifSU":
                raise InputError(f"{name} holds {dtype}; expected whole numbers or strings")
            continue
        expected = "expected numbers of shape (n, D), or images of shape (n, rows, columns)"
        if kind == "sequence" and (len(shape) != 3 or 0 in shape):
            raise InputError(
                f"{name} has shape {shape}; expected sequences of shape (n, frames, channels)"
            )
        if len(shape) not in (2, 3) or 0 in shape:
            remedy = ": make colours grey first" if len(shape) == 4 else ""
            raise InputError(f"{name} has shape {shape}; {expected}{remedy}")
        if dtype.kind not in "buif":
            raise InputError(f"{name} holds {dtype}; {expected}")
        itemsize = dtype.itemsize if len(shape) == 3 else 8
        check_size(shape[0], math.prod(shape[1:]), itemsize)
        total += math.prod(shape) * itemsize
    if total > examples.LIMIT:
        raise InputError(f"the arrays take {total:,} bytes; expected at most {examples.LIMIT:,}")
    for part in ("", "_validation", "_test") if "y" in headers else ():
        x, y = f"X{part}", f"y{part}"
        if (x in headers) != (y in headers):
            missing = y if x in headers else x
            raise InputError(f"no array {missing}: expected both {x} and {y}")
        if x in headers and headers[x][0][0] != headers[y][0][0]:
            raise InputError(
                f"{x} has {headers[x][0][0]} rows and {y} has {headers[y][0][0]} labels; expected "
                "as many"
            )
