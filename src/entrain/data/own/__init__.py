"""A user's own data: arrays (.npz), a table, sequences (.ts), or folders of pictures or sounds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from entrain.data.datasets import SPLIT_SEED
from entrain.data.own.arrays import from_npz
from entrain.data.own.examples import Dataset
from entrain.data.own.folders import from_folder
from entrain.data.own.memory import from_memory, is_array_like
from entrain.data.own.sounds import from_sounds, holds_sounds
from entrain.data.own.tables import from_table, is_table
from entrain.data.own.targets import FRAMES, check_kind
from entrain.data.own.ts_files import from_ts, is_ts
from entrain.utils.errors import InputError, positive_int, seed_number


def load_own(
    data: Any,
    y: Any = None,
    *,
    task: str | None = None,
    label: str | None = None,
    image_size: int = 28,
    frames: int = FRAMES,
    seed: int = SPLIT_SEED,
    on_progress: Callable[[float], None] | None = None,
) -> Dataset:
    """Your own data: an `ImageDataset`, a `FeatureDataset` or a `SequenceDataset`.

    `entrain.train` takes it, with a label column, a size of pictures or frames that differ from the
    defaults: `entrain.train(entrain.load_own("flowers.csv", label="species"))`. It reads:

    - arrays, tensors, lists and data frames with targets y, as in `entrain.train(X, y)`.
    - `.npz`: arrays X and y; X numbers (n, D) for features, (n, rows, columns) for images,
      integers from 0 to 255 or floats from 0 to 1, or (n, T, D) for sequences; y integers or
      strings (n,), or numbers to predict (n,) or (n, O). X_validation, y_validation, X_test and
      y_test are optional.
    - `.csv`, `.tsv`, `.csv.gz`: a header line, a label column, and numbers in all other columns;
      UTF-8, or UTF-16 with its mark.
    - `.ts`, `.ts.gz`: sequences as text, as of the UEA archive; the test examples of NAME_TRAIN.ts
      are those of NAME_TEST.ts beside it, if there is one.
    - a folder with a folder of pictures, or of WAV files, for each class; or a folder of WAV files
      LABEL_*.wav.

    Without validation or test examples, 15 % of each class are set aside for either, at least one.

    Args:
        data: A file, a folder, an array or a data frame; a list of arrays (T_i, D) for sequences.
        y: Targets of an array or a data frame: labels (n,), numbers or strings; or numbers to
            predict (n,) or (n, O).
        task: "classification", "regression", or "sequence" for X (n, T, D); by default fractions
            are numbers to predict, and all else labels.
        label: Label column of a table; by default the one called label, class, target or y, else
            the last.
        image_size: Side in pixels that pictures are scaled to.
        frames: Frames that sequences are interpolated to.
        seed: Seed of the split.
        on_progress: Called with the fraction of the pictures that is read.

    Examples:
        >>> table = np.arange(60.0).reshape(30, 2)
        >>> data = entrain.load_own(table, ["low"] * 15 + ["high"] * 15)
        >>> data.class_names, len(data.train.features), len(data.test.features)
        (('high', 'low'), 22, 4)
    """
    seed_number("seed", seed)
    kind, frames = check_kind(task), positive_int("frames", frames)
    image_size = positive_int("image_size", image_size)
    if not isinstance(label, str | None):
        raise TypeError(f"label must be the name of a column, got {label!r}")
    if not isinstance(data, str | os.PathLike):
        if not is_array_like(data):
            raise TypeError(
                f"data must be a path, an array or a DataFrame with labels y, got {data!r}"
            )
        return from_memory(data, y, label, seed, kind, frames)
    path = Path(data).expanduser()
    if y is not None:
        raise InputError(f"y belongs to arrays, {path} has labels of its own")
    source = {"path": str(path.absolute()), "label": label, "image_size": image_size}
    source |= _not_default(kind, frames, seed)
    try:
        dataset = _read(path, kind, label, image_size, frames, seed, on_progress)
    except InputError as error:
        if str(error).startswith(str(path)):
            raise
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error
    return replace(dataset, source=source)


def _not_default(task: str | None, frames: int, seed: int) -> dict[str, Any]:
    """The options of a source that are not at their defaults."""
    options = {"task": (task, None), "frames": (frames, FRAMES), "seed": (seed, SPLIT_SEED)}
    return {name: value for name, (value, usual) in options.items() if value != usual}


def _read(
    path: Path,
    kind: str | None,
    label: str | None,
    image_size: int,
    frames: int,
    seed: int,
    on_progress: Callable[[float], None] | None,
) -> Dataset:
    """The dataset of a file or a folder; see `load_own`."""
    is_folder, suffix = path.is_dir(), path.suffix.lower()
    if not is_folder and not path.is_file():
        message = "is a pipe or a device, expected a file or a folder"
        raise InputError(message if path.exists() else "no such file or folder")
    if not is_folder and is_table(path):
        return from_table(path, label, seed, kind)
    if label is not None:
        raise InputError(
            f"label ({label!r}) names a column, for .csv and .tsv files only; leave it out"
        )
    if is_folder and kind in (None, "classification", "sequence") and holds_sounds(path):
        return from_sounds(path, frames, seed, on_progress)
    if is_folder:
        if kind not in (None, "classification"):
            raise InputError(f"folders hold pictures of classes; task {kind!r} needs numbers")
        return from_folder(path, image_size, seed, on_progress)
    if suffix == ".npz":
        return from_npz(path, seed, kind, frames)
    if is_ts(path):
        return from_ts(path, seed, kind, frames)
    raise InputError(
        f"the name ends in {suffix!r}; expected .npz, .csv, .tsv, .ts or a folder with a "
        "folder of pictures or WAV files for each class; tables may be compressed, .csv.gz"
    )


def balance(dataset: Dataset) -> dict[str, Any]:
    """`counts` of the examples of each class over all splits, and `imbalance`, the quotient of the
    largest and the smallest (None if a class has no examples); empty without classes."""
    if not dataset.task.has_classes:
        return {}
    splits = (dataset.train, dataset.validation, dataset.test)
    labels = np.concatenate([split.labels for split in splits])
    counts = np.bincount(labels, minlength=len(dataset.class_names)).tolist()
    return {
        "counts": dict(zip(dataset.class_names, counts, strict=True)),
        "imbalance": max(counts) / min(counts) if min(counts) else None,
    }
