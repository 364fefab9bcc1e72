"""A user's own data in memory: arrays, tensors, lists and data frames with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from entrain.data.own.arrays import from_arrays
from entrain.data.own.examples import Dataset, FeatureDataset, quoted
from entrain.data.own.tables import label_column
from entrain.data.preprocessing import as_array
from entrain.utils.errors import InputError

NAME = "data"
"""Of a dataset that has no file to be named after."""


def is_array_like(value: object) -> bool:
    """Whether `value` holds numbers as an array, a tensor, a data frame or a list does."""
    if isinstance(value, str | bytes | bytearray):
        return False
    return hasattr(value, "__array__") or isinstance(value, Sequence) or hasattr(value, "toarray")


def from_memory(x: Any, y: Any, label: str | None, seed: int) -> Dataset:
    """The dataset of `x` with the labels `y`: as `load_own` reads the same numbers from a file.

    A data frame may hold its labels: `label`, or `y` as text, names their column.
    """
    if hasattr(x, "columns") and hasattr(x, "to_numpy"):
        return _from_frame(x, y, label, seed)
    if label is not None or isinstance(y, str):
        column = quoted(y if label is None else label)
        raise InputError(f"the label column {column} is named, and X has no names; give y")
    if y is None:
        raise InputError("the labels are missing: give one for each row of X, as in train(X, y)")
    rows = _array(x, "X")
    if rows.ndim == 4 and 1 in (rows.shape[1], rows.shape[3]):  # grey pictures with their channel
        rows = rows[:, 0] if rows.shape[1] == 1 else rows[..., 0]
    return from_arrays({"X": rows, "y": _labels(y)}, NAME, seed)


def _from_frame(frame: Any, y: Any, label: str | None, seed: int) -> FeatureDataset:
    columns = [(str(name), values) for name, values in _columns(frame)]
    notes = []
    if y is None or isinstance(y, str):
        if y is not None and label is not None:
            raise InputError(f"y and label both name a column, {quoted(y)} and {quoted(label)}")
        at, note = label_column([name for name, _ in columns], label if y is None else y)
        y = columns.pop(at)[1]
        notes.append(f"labels come from {note}")
    elif label is not None:
        raise InputError(f"give y or the label column ({quoted(label)}), not both")
    rows = np.empty((len(frame), len(columns)))
    for i, (name, values) in enumerate(columns):
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "buif":
            raise InputError(
                f"column {quoted(name)} holds {getattr(values, 'dtype', numbers.dtype)}; expected "
                "numbers: encode it as numbers or leave it out"
            )
        rows[:, i] = numbers
    found = from_arrays({"X": rows, "y": _labels(y)}, NAME, seed)
    assert isinstance(found, FeatureDataset)
    return replace(found, feature_names=tuple(name for name, _ in columns), notes=tuple(notes))


def _columns(frame: Any) -> list[tuple[Any, Any]]:
    """Names and values, column by column, of pandas' frames or of any that yields its columns."""
    return list(frame.items()) if hasattr(frame, "items") else [(c.name, c) for c in frame]


def _array(value: Any, name: str) -> np.ndarray:
    if hasattr(value, "toarray"):
        raise InputError(f"{name} is sparse; expected an array: give {name}.toarray()")
    if np.ma.is_masked(value):
        raise InputError(f"{name} has masked values; fill them in or remove their rows")
    try:
        return as_array(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error


def _labels(y: Any) -> np.ndarray:
    """Labels as numbers or as text; a mixture of both is refused."""
    # As objects, since NumPy would turn numbers beside text into text.
    found = np.array(y, dtype=object) if isinstance(y, list | tuple) else _array(y, "y")
    if found.dtype.kind == "T":  # NumPy's own text of any length
        found = found.astype(object)
    if found.dtype != object or found.ndim != 1 or len(found) == 0:
        return found
    values = found.tolist()
    if all(isinstance(value, str) for value in values):
        return np.array(values)
    for row, value in enumerate(values):
        if isinstance(value, str) or np.asarray(value).ndim or not _is_number(value):
            what = "text beside numbers" if isinstance(value, str) else "neither"
            raise InputError(
                f"y holds {quoted(str(value))} in row {row} (from 0), {what}; expected whole "
                "numbers or strings"
            )
    return np.array(values)


def _is_number(value: object) -> bool:
    return np.asarray(value).dtype.kind in "buif"
