"""The datasets by name, with their fixed stratified splits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from entrain.data import sources
from entrain.data.features import checked_rows
from entrain.data.japanese_vowels import CHANNELS, NAMES, read_japanese_vowels
from entrain.data.preprocessing import Preprocessing
from entrain.data.sequence_scaling import checked_sequences
from entrain.tasks import Classification, Task
from entrain.tasks.regression import checked_numbers
from entrain.utils.errors import InputError, positive_float, unknown_name
from entrain.utils.summary import Summary

if TYPE_CHECKING:
    from entrain.data.sequences import SequenceDataset

# The split of every dataset. With this seed it has the preprocessing constants of the paper's
# table, to every printed digit, on MNIST and on Fashion-MNIST.
SPLIT_SEED = 16617

_DIGIT_NAMES = tuple(str(digit) for digit in range(10))
CLASS_NAMES: dict[str, tuple[str, ...]] = {
    "digits": _DIGIT_NAMES,
    "mnist": _DIGIT_NAMES,
    "fashion-mnist": (
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
}
# Splits of the bundled test images, to train on without a download.
SMALL = {f"{name}-small": name for name in ("mnist", "fashion-mnist")}
CLASS_NAMES |= {small: CLASS_NAMES[name] for small, name in SMALL.items()}
VOWELS: Literal["japanese-vowels"] = "japanese-vowels"
CLASS_NAMES[VOWELS] = NAMES
DATASETS = tuple(CLASS_NAMES)


@dataclass(frozen=True, repr=False)
class Split(Summary):
    """Examples with their targets, at least one.

    Args:
        features: Finite real numbers (n, D): raw pixels or columns of a table. Of sequences
            (n, T, D), shorter ones with NaN after their end.
        targets: Non-negative integers (n,), the classes; or numbers to predict (n, O), float64.
        weights: Non-negative weights (n,) of the examples in losses and in the selection of the
            epoch; None if all count alike.

    Examples:
        >>> split = entrain.Split(np.eye(3), np.array([0, 1, 1]))
        >>> split.rows([0, 2]).targets
        array([0, 1])
    """

    features: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None = None

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        size = " x ".join(f"{n:,}" for n in self.features.shape[1:])
        return {"examples": f"{len(self):,}", "of numbers": f"{size} {self.features.dtype}"}

    def __post_init__(self) -> None:
        features, targets = np.asarray(self.features), np.asarray(self.targets)
        features = checked_sequences(features) if features.ndim == 3 else checked_rows(features)
        if targets.dtype.kind == "f" and targets.ndim == 2:
            targets = checked_numbers(targets, "targets")
        elif targets.dtype.kind not in "ui" or targets.ndim != 1:
            raise InputError(
                f"targets must be integers of shape (n,), or floats of shape (n, O) to predict, "
                f"got {targets.dtype} of shape {targets.shape}"
            )
        if len(features) != len(targets):
            raise InputError(
                f"there must be as many targets as rows of features, got {len(targets)} targets "
                f"and {len(features)} rows"
            )
        if targets.ndim == 1:
            if int(targets.min()) < 0:
                raise InputError(f"labels must be non-negative integers, got {targets.min()}")
            targets = targets.astype(np.int64, copy=False)
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights, len(targets)))
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "targets", targets)

    @property
    def labels(self) -> np.ndarray:
        """Class indices (n,)."""
        if self.targets.ndim != 1:
            raise InputError("these examples have numbers to predict (targets), not labels")
        return self.targets

    def rows(self, selection: np.ndarray | slice) -> Split:
        """Some of the examples.

        Args:
            selection: Their indices, or a slice.
        """
        weights = None if self.weights is None else self.weights[selection]
        return Split(self.features[selection], self.targets[selection], weights)

    def __len__(self) -> int:
        return len(self.targets)


def _checked_weights(weights: np.ndarray, count: int) -> np.ndarray:
    values = np.asarray(weights)
    if values.dtype.kind not in "buif" or values.shape != (count,):
        raise InputError(
            f"weights must be {count} numbers, one for each example, got {values.dtype} of shape "
            f"{values.shape}"
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("weights must be finite and at least 0")
    return values.astype(np.float64, copy=False)


@dataclass(frozen=True, repr=False)
class ImageDataset(Summary):
    """Training, validation and test images.

    Args:
        name: Name of the dataset.
        train: Training images.
        validation: Images that select the epoch.
        test: Images for the final measurement.
        image_shape: Rows and columns.
        pixel_max: The largest pixel value possible.
        task: What is predicted, such as `Classification(class_names)`.
        test_has_own_norm: True if test images are scaled to their own norm, as the paper does with
            Fashion-MNIST.
        source: Where it was read, such as {"path": "flowers.csv", "label": "species"}, so that a
            run folder can read it again; None for arrays.
    """

    name: str
    train: Split
    validation: Split
    test: Split
    image_shape: tuple[int, int]
    pixel_max: float
    task: Task
    test_has_own_norm: bool = False
    source: dict[str, Any] | None = field(default=None, compare=False)

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        sizes = (f"{len(split):,}" for split in (self.train, self.validation, self.test))
        return {
            "named": repr(self.name),
            "examples": " / ".join(sizes),
            "pixels": "{} x {}".format(*self.image_shape),
            "predicts": self.task.description,
        }

    def __post_init__(self) -> None:
        rows, columns = self.image_shape
        check_parts(self, rows * columns, f"{rows} x {columns} pixels")
        positive_float("pixel_max", self.pixel_max)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes 0, 1, ...; empty without classes."""
        return class_names_of(self.task)

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """Preprocessing by the constants of the training images."""
        test = self.test.features if self.test_has_own_norm else None
        return Preprocessing.fit(self.train.features, self.image_shape, self.pixel_max, test)


def check_parts(data: Any, width: int, expected: str) -> None:
    """Refuse splits whose examples have not `width` numbers, or targets of another task."""
    if not isinstance(data.task, Task):
        raise InputError(
            f"task must be a task such as Classification(class_names), got {data.task!r}"
        )
    for part in ("train", "validation", "test"):
        split = getattr(data, part)
        if not isinstance(split, Split):
            raise InputError(f"{part} must be a Split, got {type(split).__name__}")
        if split.features.shape[-1] != width:
            raise InputError(
                f"{part} has {split.features.shape[-1]} features an example; expected {expected}"
            )
        check_targets(split.targets, data.task, part)


def check_targets(targets: np.ndarray, task: Task, what: str) -> None:
    """Refuse targets that are not those of a task."""
    if (targets.ndim == 1) != task.has_classes:
        expected = "labels" if task.has_classes else f"{task.outputs} numbers an example"
        raise InputError(f"{what} has targets of shape {targets.shape}; expected {expected}")
    if task.has_classes and int(targets.max()) >= task.outputs:
        raise InputError(
            f"{what} has the label {targets.max()}; expected labels below {task.outputs}, the "
            "number of class names"
        )
    if not task.has_classes and targets.shape[1] != task.outputs:
        raise InputError(
            f"{what} has {targets.shape[1]} numbers an example; expected {task.outputs}"
        )


def class_names_of(task: Task) -> tuple[str, ...]:
    """Names of the classes of a task; empty if it has none."""
    return task.class_names if isinstance(task, Classification) else ()


@overload
def load_dataset(  # type: ignore[overload-overlap]
    name: Literal["japanese-vowels"], data_dir: Path | str | None = None
) -> SequenceDataset: ...


@overload
def load_dataset(name: str, data_dir: Path | str | None = None) -> ImageDataset: ...


def load_dataset(name: str, data_dir: Path | str | None = None) -> ImageDataset | SequenceDataset:
    """A dataset by name, with fixed stratified splits.

    mnist and fashion-mnist have 50,000 training and 10,000 validation images of the official
    training set and the official 10,000 test images; digits 1,197 / 300 / 300. mnist-small and
    fashion-mnist-small have 3,000 / 1,000 / 1,000 of the official *test* images, for use without
    a download; do not compare them with results on the official split. japanese-vowels has 216 / 54
    sequences of the official 270, and the official 370 to test.

    Args:
        name: digits, mnist, fashion-mnist, mnist-small, fashion-mnist-small or japanese-vowels.
        data_dir: Folder with the idx files; by default ENTRAIN_DATA, the cache or a download.

    Examples:
        >>> digits = entrain.load_dataset("digits")
        >>> digits.train.features.shape, digits.test.features.shape
        ((1197, 64), (300, 64))
    """
    if name not in CLASS_NAMES:
        raise unknown_name("dataset", name, CLASS_NAMES)
    if name == VOWELS:
        return _japanese_vowels()
    task = Classification(CLASS_NAMES[name])
    source = None
    if data_dir is not None:
        source = {"data_dir": str(Path(data_dir).expanduser().absolute())}
    if name == "digits":
        table = _digits_table()
        images = Split(table[:, :-1].astype(np.uint8), table[:, -1].astype(np.int64))
        rest, test = stratified_split(images, 300)
        train, validation = stratified_split(rest, 300)
        return ImageDataset(name, train, validation, test, (8, 8), 16.0, task, source=source)
    if name in SMALL:
        rest, test = stratified_split(load_test_split(SMALL[name]), 1_000)
        rest, validation = stratified_split(rest, 1_000)
        _, train = stratified_split(rest, 3_000)
    else:
        train, validation = stratified_split(_official(name, "train", data_dir), 10_000)
        test = load_test_split(name, data_dir)
    own_norm = name.startswith("fashion")
    return ImageDataset(name, train, validation, test, (28, 28), 255.0, task, own_norm, source)


def _japanese_vowels() -> SequenceDataset:
    """The sequences of nine speakers, the official test sequences to test."""
    from entrain.data.sequences import SequenceDataset

    sequences, labels, count = read_japanese_vowels()
    rest, test = Split(sequences[:count], labels[:count]), Split(sequences[count:], labels[count:])
    train, validation = stratified_split(rest, 54)
    task = Classification(NAMES, window=0.5)
    return SequenceDataset(VOWELS, train, validation, test, task, CHANNELS)


def load_test_split(name: str, data_dir: Path | str | None = None) -> Split:
    """The test images of a dataset; those of MNIST and Fashion-MNIST come with the package.

    Args:
        name: As for `load_dataset`.
        data_dir: As for `load_dataset`.

    Examples:
        >>> test = entrain.load_test_split("mnist")
        >>> test.features.shape
        (10000, 784)
    """
    if name in sources.FILES:
        return _official(name, "t10k", data_dir)
    return load_dataset(name).test


def _official(name: str, part: sources.Part, data_dir: Path | str | None) -> Split:
    """The official training or test images of MNIST or Fashion-MNIST."""
    files = sources.locate(name, part, data_dir)
    return Split(files.images.reshape(len(files.images), -1), files.labels.astype(np.int64))


def stratified_split(images: Split, count: int, seed: int = SPLIT_SEED) -> tuple[Split, Split]:
    """The remaining images and `count` stratified ones; largest remainders are rounded up."""
    rows = split_rows(images.labels, class_shares(images.labels, count), 1, seed)
    rest, selected = (images.rows(part) for part in rows)
    return rest, selected


def class_shares(labels: np.ndarray, count: int) -> np.ndarray:
    """Examples of each class (classes,) among `count` stratified ones."""
    exact = np.bincount(labels) * count / len(labels)
    quota = np.floor(exact).astype(np.int64)
    quota[np.argsort(quota - exact, kind="stable")[: count - quota.sum()]] += 1
    return quota


def split_rows(labels: np.ndarray, quota: np.ndarray, parts: int, seed: int) -> list[np.ndarray]:
    """Ascending indices of the remaining rows, and of `parts` splits with `quota` (classes,)
    examples of each class.

    The splits never change: RandomState has a frozen stream, and scikit-learn's splitters promise
    no stable one.
    """
    order = np.random.RandomState(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]  # class by class
    counts = np.bincount(labels)
    rank = np.empty(len(labels), dtype=np.int64)  # of an example among those of its class
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = np.minimum(rank // np.maximum(quota[labels], 1), parts)
    part[quota[labels] == 0] = parts
    return [np.flatnonzero(part == index) for index in (parts, *range(parts))]


def _digits_table() -> np.ndarray:
    """scikit-learn's digits, 64 pixels and a label in a row: (1797, 65). The file is read without
    scikit-learn if possible, whose import takes a second."""
    package = find_spec("sklearn")
    for folder in package.submodule_search_locations or () if package else ():
        file = Path(folder) / "datasets" / "data" / "digits.csv.gz"
        if file.exists():
            return np.loadtxt(file, delimiter=",")
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return np.column_stack([bunch.data, bunch.target])
