"""A user's own data: arrays (.npz), a table (.csv, .tsv) or a folder of pictures for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from entrain.data.datasets import SPLIT_SEED
from entrain.data.own.arrays import from_npz
from entrain.data.own.examples import Dataset, FeatureDataset, fingerprint
from entrain.data.own.folders import from_folder
from entrain.data.own.tables import LabelColumnError, from_table
from entrain.utils.errors import InputError, seed_number

__all__ = [
    "Dataset",
    "FeatureDataset",
    "LabelColumnError",
    "balance",
    "fingerprint",
    "load_own",
]


def load_own(
    path: Path | str,
    *,
    label: str | None = None,
    image_size: int = 28,
    seed: int = SPLIT_SEED,
    on_progress: Callable[[float], None] | None = None,
) -> Dataset:
    """The data at `path`: images as an `ImageDataset`, features as a `FeatureDataset`.

    - `.npz`: arrays X and y; X numbers (n, D) for features, or (n, rows, columns) for images, whole
      numbers from 0 to 255 or floats from 0 to 1; y whole numbers or strings (n,). X_validation,
      y_validation, X_test and y_test may be there.
    - `.csv`, `.tsv`: a header line, the column `label` (otherwise one called label, class, target
      or y, otherwise the last), and numbers in all other columns; UTF-8, or UTF-16 with its mark.
    - a folder with a folder of pictures for each class, read as `image_size` x `image_size` pixels;
      `on_progress` gets the fraction read.

    Where no validation or test examples are given, 15 % of each class are taken for either, at
    least one example, by `seed`.
    """
    path = Path(path)
    seed_number("seed", seed)
    with _naming(path):
        if path.is_dir():
            _only_for_tables(label)
            return from_folder(path, image_size, seed, on_progress)
        suffix = path.suffix.lower()
        if not path.is_file():
            raise InputError("no such file or folder")
        if suffix == ".npz":
            _only_for_tables(label)
            return from_npz(path, seed)
        if suffix in (".csv", ".tsv"):
            return from_table(path, label, seed)
    raise InputError(
        f"{path}: the name ends in {suffix!r}; expected .npz, .csv, .tsv "
        "or a folder with a folder of pictures for each class"
    )


def balance(dataset: Dataset) -> dict[str, Any]:
    """`counts` of the examples of each class, all splits together, and `imbalance`, the largest
    by the smallest (none where a class has no examples)."""
    splits = (dataset.train, dataset.validation, dataset.test)
    classes = len(dataset.class_names)
    labels = np.concatenate([split.labels for split in splits])
    counts = np.bincount(labels, minlength=classes).tolist()
    return {
        "counts": dict(zip(dataset.class_names, counts, strict=True)),
        "imbalance": max(counts) / min(counts) if min(counts) else None,
    }


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors within name the file or folder they are about."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(str(path)):
            raise
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error


def _only_for_tables(label: str | None) -> None:
    if label is not None:
        raise InputError(
            f"a label column ({label!r}) can be named for .csv and .tsv files only; leave it out"
        )
