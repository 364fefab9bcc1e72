"""Class names, splits and size limits of a user's own examples."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from entrain.data.datasets import (
    CLASS_NAMES,
    ImageDataset,
    Split,
    check_parts,
    class_names_of,
    class_shares,
    split_rows,
)
from entrain.data.features import FeatureScaling
from entrain.data.sequences import SequenceDataset
from entrain.tasks import Task
from entrain.tasks.labels import codes_of
from entrain.utils.errors import InputError
from entrain.utils.hashing import sha256
from entrain.utils.summary import Summary

LIMIT = 4 * 10**9
"""The most bytes the data may take in memory."""

MOST_CLASSES = 1_000
MOST_FEATURES = 100_000
LEAST_ROWS = 10
_SHARE = 0.15  # of the examples for validation, and as much for the test
_LONGEST_LABEL = 100
_MANY = 20  # integers, which may be numbers to predict
_NUMBERS = ". For numbers to predict choose task='regression', otherwise "


@dataclass(frozen=True, repr=False)
class FeatureDataset(Summary):
    """Training, validation and test rows of features.

    Args:
        name: Name of the data.
        train: Training rows (n, D).
        validation: Rows that select the epoch.
        test: Rows for the final measurement.
        task: What is predicted, such as `Classification(class_names)`.
        feature_names: Names of the D columns.
        notes: Remarks of the reader, such as the label column.
        source: Where it was read, such as {"path": "flowers.csv", "label": "species"}, so that a
            run folder can read it again; None for arrays.
        scaling: Scaling of rows to inputs; None is that of the training rows.
    """

    name: str
    train: Split
    validation: Split
    test: Split
    task: Task
    feature_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    source: dict[str, Any] | None = field(default=None, compare=False)
    scaling: FeatureScaling | None = None

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        sizes = (f"{len(split):,}" for split in (self.train, self.validation, self.test))
        return {
            "named": repr(self.name),
            "examples": " / ".join(sizes),
            "features": f"{len(self.feature_names):,}",
            "predicts": self.task.description,
        }

    def __post_init__(self) -> None:
        width = len(self.feature_names)
        check_parts(self, width, f"{width}, as there are so many feature names")

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes 0, 1, ...; empty without classes."""
        return class_names_of(self.task)

    @property
    def image_shape(self) -> tuple[int, int]:
        """(1, D), the shape of a row as a picture."""
        return 1, len(self.feature_names)

    @cached_property
    def preprocessing(self) -> FeatureScaling:
        """Scaling of rows, by default by the constants of the training rows."""
        return FeatureScaling.fit(self.train.features) if self.scaling is None else self.scaling


Dataset = ImageDataset | FeatureDataset | SequenceDataset


def fingerprint(data: Dataset) -> str:
    """SHA-256 of the training and validation examples, and of what decides their inputs."""
    splits = (data.train, data.validation)
    arrays = [array for split in splits for array in (split.features, split.targets)]
    arrays += [split.weights for split in splits if split.weights is not None]
    parts: list[Any] = [np.ascontiguousarray(array).data for array in arrays]
    if isinstance(data, SequenceDataset):
        parts.append(str((data.frames, data.task.window)))
    return sha256(*parts)


def safe_name(path: Path) -> str:
    """A short name of [a-z0-9_-] for the data at `path`, unlike those of the package's datasets."""
    stem = path.resolve().name if path.is_dir() else path.stem.removesuffix(".csv")
    plain = unicodedata.normalize("NFKD", stem.casefold()).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9_-]+", "-", plain)[:40].strip("-") or "data"
    return f"{name}-own" if name in CLASS_NAMES else name


def classes_of(labels: Sequence[str], what: str, least: int) -> tuple[tuple[str, ...], np.ndarray]:
    """Sorted class names (integers by value) and the labels as their indices; each class needs
    `least` examples."""
    if len(labels) < LEAST_ROWS:
        raise InputError(f"{len(labels)} examples; expected at least {LEAST_ROWS}")
    counts = Counter(labels)
    if len(counts) < 2:
        only = next(iter(counts))
        raise InputError(f"{what}: every label is {quoted(only)}; expected at least 2 classes")
    if len(counts) > MOST_CLASSES:
        raise InputError(
            f"{what}: {len(counts):,} different labels among {len(labels):,} examples; expected at "
            f"most {MOST_CLASSES:,} classes: for numbers to predict choose task='regression'"
        )
    for name in counts:
        if not name:
            raise InputError(f"{what}: a label is empty; expected a name or a number")
        if len(name) > _LONGEST_LABEL or not name.isprintable():
            raise InputError(
                f"{what}: the label {quoted(name)} cannot be a class name; expected at most "
                f"{_LONGEST_LABEL} printable characters"
            )
    small = [f"{name!r} ({count})" for name, count in counts.items() if count < least]
    if small:
        numbers = ": " if len(counts) <= _MANY or not _are_integers(counts) else _NUMBERS
        more = f" and {len(small) - 5} more" if len(small) > 5 else ""
        raise InputError(
            f"{what}: too few examples of {', '.join(small[:5])}{more}; expected at least {least} "
            f"of each class{numbers}add some, merge classes or leave the class out"
        )
    names = sorted(counts)
    if _are_integers(names):
        names.sort(key=int)
    return tuple(names), codes_of(labels, names)


def _are_integers(names: Iterable[str]) -> bool:
    return all(re.fullmatch(r"[+-]?[0-9]+", name) for name in names)


def warn_many_integers(names: Sequence[str]) -> None:
    """Warn if the classes may be numbers to predict."""
    if len(names) > _MANY and _are_integers(names):
        warnings.warn(
            f"{len(names)} different whole numbers are learnt as {len(names)} classes without "
            "order; for numbers to predict choose task='regression'. Labels that are strings are "
            "not warned of",
            stacklevel=4,
        )


def quoted(text: str) -> str:
    """The beginning of a text in quotation marks, in ASCII."""
    return ascii(text if len(text) <= 40 else f"{text[:40]}...")


def three_splits(
    x: np.ndarray, y: np.ndarray, seed: int, **present: Split
) -> tuple[Split, Split, Split]:
    """Training, validation and test examples. Those of validation and test that are not `present`
    are stratified parts of x and y, with at least one example of each class."""
    absent = [part for part in ("validation", "test") if part not in present]
    strata = y if y.ndim == 1 else np.zeros(len(y), dtype=np.int64)  # of numbers: one
    quota = np.maximum(class_shares(strata, round(len(y) * _SHARE)), 1)
    parts = zip(["train", *absent], split_rows(strata, quota, len(absent), seed), strict=True)
    splits = present | {part: Split(x[rows], y[rows]) for part, rows in parts}
    return splits["train"], splits["validation"], splits["test"]


def feature_dataset(
    name: str,
    splits: tuple[Split, Split, Split],
    task: Task,
    feature_names: tuple[str, ...],
    notes: tuple[str, ...],
) -> FeatureDataset:
    """The dataset; validation and test rows that its scaling cannot hold are refused."""
    data = FeatureDataset(name, *splits, task, feature_names, notes)
    for split in splits[1:]:
        data.preprocessing.check(split.features)
    return data


def check_size(count: int, width: int, bytes_each: int) -> None:
    """Refuse data with too many features or too many bytes."""
    if width > MOST_FEATURES:
        raise InputError(
            f"{width:,} numbers for each example; expected at most {MOST_FEATURES:,}: "
            "select features, or make images smaller"
        )
    if count * width * bytes_each > LIMIT:
        raise InputError(
            f"{count:,} examples of {width:,} numbers take {count * width * bytes_each:,} bytes; "
            f"expected at most {LIMIT:,}: leave out examples or features"
        )
