"""Sequences as text, .ts: lines of channels, which ":" separates, with the label at the end."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from entrain.data.own import examples
from entrain.data.own.arrays import from_arrays
from entrain.data.own.examples import quoted, safe_name
from entrain.data.own.tables import open_table
from entrain.data.sequence_scaling import pad
from entrain.data.sequences import SequenceDataset
from entrain.utils.errors import InputError

_LONGEST_LINE = 10_000_000
_TRAIN, _TEST = "_TRAIN", "_TEST"


def is_ts(path: Path) -> bool:
    """True for the name of a .ts file.

    Args:
        path: The file.
    """
    return path.name.lower().endswith((".ts", ".ts.gz"))


def from_ts(path: Path, seed: int, kind: str | None, frames: int) -> SequenceDataset:
    """The sequences of a file; of NAME_TRAIN.ts those of NAME_TEST.ts are the test examples.

    Args:
        path: The file.
        seed: Seed of the split.
        kind: Name of the task.
        frames: Frames to which sequences are interpolated.
    """
    if kind == "regression":
        raise InputError("task 'regression' needs numbers to predict; this file has classes")
    sequences, labels = read_ts(path)
    arrays = {"X": pad(sequences), "y": np.array(labels)}
    stem = re.sub(r"\.ts(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    other = path.with_name(path.name.replace(_TRAIN, _TEST))
    if other != path and other.is_file():
        try:
            sequences, labels = read_ts(other)
            arrays |= {"X_test": pad(sequences), "y_test": np.array(labels)}
        except InputError as error:
            raise InputError(f"its test examples, {other.name}: {error}") from error
    name = safe_name(Path(stem.removesuffix(_TRAIN)))
    data = from_arrays(arrays, name, seed, "sequence", frames)
    assert isinstance(data, SequenceDataset)
    return data


def read_ts(path: Path) -> tuple[list[np.ndarray], list[str]]:
    """Sequences (T_i, D) of a file, and their labels.

    Args:
        path: The file.
    """
    sequences, labels = [], []
    have_begun, numbers = False, 0
    with open_table(path) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE:
                raise InputError(f"line {number} is longer than {_LONGEST_LINE:,} characters")
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            if not have_begun:
                have_begun = _header_ends(text, number)
                continue
            sequence, label = _parsed(text, number)
            numbers += sequence.size
            if 8 * numbers > examples.LIMIT:
                raise InputError(f"holds more than {examples.LIMIT:,} bytes of numbers")
            sequences.append(sequence)
            labels.append(label)
    if not sequences:
        raise InputError("no sequences; expected lines of channels after a line @data")
    return sequences, labels


def _header_ends(text: str, number: int) -> bool:
    """True at the line @data; an `InputError` for headers of other kinds of files."""
    words = text.lower().split()
    if words[0] == "@data":
        return True
    if not words[0].startswith("@"):
        raise InputError(
            f"line {number}: expected a header line such as @classLabel, got {quoted(text)}"
        )
    if words[:2] == ["@timestamps", "true"]:
        raise InputError("the file has time stamps; expected values at equal distances in time")
    if words[0] == "@targetlabel" or words[:2] == ["@classlabel", "false"]:
        raise InputError(
            "the file has no classes; give sequences with numbers to predict as arrays"
        )
    return False


def _parsed(text: str, number: int) -> tuple[np.ndarray, str]:
    """The sequence (T, D) and the label of a line."""
    *channels, label = text.split(":")
    if not channels or not label.strip():
        raise InputError(f"line {number}: no label; expected CHANNEL:CHANNEL:...:LABEL")
    try:
        columns = [[float(value) for value in channel.split(",")] for channel in channels]
    except ValueError as error:
        raise InputError(
            f"line {number}: {error}; expected numbers, fill in missing values"
        ) from error
    longest = {len(column) for column in columns}
    if len(longest) > 1:
        raise InputError(
            f"line {number}: channels of {min(longest)} and {max(longest)} values; expected as "
            "many in each"
        )
    return np.array(columns).T, label.strip()
