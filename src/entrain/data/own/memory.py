"""Datasets of arrays, tensors, lists and data frames in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from entrain.data.own.arrays import from_arrays
from entrain.data.own.examples import Dataset, FeatureDataset, check_size, quoted
from entrain.data.own.tables import label_column
from entrain.data.own.targets import FRAMES
from entrain.data.preprocessing import as_array
from entrain.data.sequence_scaling import pad
from entrain.utils.errors import InputError

NAME = "data"
"""Name of a dataset without a file."""


def is_array_like(value: object) -> bool:
    """True for an array, a tensor, a data frame or a list."""
    if isinstance(value, str | bytes | bytearray):
        return False
    return hasattr(value, "__array__") or isinstance(value, Sequence) or hasattr(value, "toarray")


def from_memory(
    x: Any,
    y: Any,
    label: str | None,
    seed: int,
    kind: str | None = None,
    frames: int = FRAMES,
) -> Dataset:
    """The dataset of `x` with the targets `y`, as `load_own` reads it from a file.

    A data frame may hold its labels: `label`, or `y` as text, names their column.
    """
    if hasattr(x, "columns") and hasattr(x, "to_numpy"):
        return _from_frame(x, y, label, seed, kind)
    if label is not None or isinstance(y, str):
        column = quoted(y if label is None else label)
        raise InputError(f"label names the column {column}, but X has no column names; give y")
    if y is None:
        raise InputError("the labels are missing: give one for each row of X, as in train(X, y)")
    if _is_ragged(x):
        if kind not in (None, "sequence"):
            raise InputError(
                f"X is a list of arrays of different lengths, which are sequences; choose "
                f"task='sequence' in place of {kind!r}"
            )
        kind = "sequence"
    rows = pad(list(x)) if kind == "sequence" and isinstance(x, Sequence) else _array(x, "X")
    if rows.ndim == 4 and 1 in (rows.shape[1], rows.shape[3]):  # grey pictures with a channel
        rows = rows[:, 0] if rows.shape[1] == 1 else rows[..., 0]
    return from_arrays({"X": rows, "y": _labels(y)}, NAME, seed, kind, frames)


def _is_ragged(x: Any) -> bool:
    """True for a list of two-dimensional arrays of different lengths."""
    if not isinstance(x, Sequence) or not len(x):
        return False
    shapes = {np.shape(entry) for entry in x if hasattr(entry, "shape")}
    return len(shapes) > 1 and all(len(shape) == 2 for shape in shapes)


def _from_frame(
    frame: Any, y: Any, label: str | None, seed: int, kind: str | None
) -> FeatureDataset:
    # pandas has items, polars iterates over its columns
    pairs = frame.items() if hasattr(frame, "items") else ((c.name, c) for c in frame)
    columns = [(str(name), values) for name, values in pairs]
    notes = []
    if y is not None and label is not None:
        raise InputError(f"give y or the label column ({quoted(label)}), not both")
    if y is None or isinstance(y, str):
        column, note = label_column([name for name, _ in columns], label if y is None else y)
        y = columns.pop(column)[1]
        notes.append(f"labels come from {note}")
    rows = np.empty((len(frame), len(columns)))
    for i, (name, values) in enumerate(columns):
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "buif":
            raise InputError(
                f"column {quoted(name)} holds {getattr(values, 'dtype', numbers.dtype)}; expected "
                f"numbers: leave it out, X.drop(columns={name!r}), or encode its values, "
                f"pandas.get_dummies(X, columns=[{name!r}])"
            )
        rows[:, i] = numbers
    data = from_arrays({"X": rows, "y": _labels(y)}, NAME, seed, kind)
    assert isinstance(data, FeatureDataset)
    names = tuple(name for name, _ in columns)
    return replace(data, feature_names=names, notes=(*notes, *data.notes))


def _array(value: Any, name: str) -> np.ndarray:
    if hasattr(value, "toarray"):  # sparse, and perhaps far larger when it is not
        rows, columns = value.shape
        check_size(rows, columns, 8)
    try:
        return as_array(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error


def _labels(y: Any) -> np.ndarray:
    """Labels as numbers or as text; a mixture of both is refused."""
    # As objects, since NumPy would turn numbers beside text into text.
    if isinstance(y, list | tuple) and any(isinstance(v, Sequence | np.ndarray) for v in y[:1]):
        y = y if isinstance(y[0], str) else _array(y, "y")  # rows of numbers
    labels = np.array(y, dtype=object) if isinstance(y, list | tuple) else _array(y, "y")
    if labels.dtype.kind == "T":  # NumPy's text of variable length
        labels = labels.astype(object)
    if labels.dtype != object or labels.ndim != 1 or len(labels) == 0:
        return labels
    values = labels.tolist()
    if all(isinstance(value, str) for value in values):
        return np.array(values)
    for row, value in enumerate(values):
        array = np.asarray(value)
        if isinstance(value, str) or array.ndim or array.dtype.kind not in "buif":
            what = "text beside numbers" if isinstance(value, str) else "neither"
            raise InputError(
                f"y holds {quoted(str(value))} in row {row} (from 0), {what}; expected whole "
                "numbers or strings"
            )
    return np.array(values)
