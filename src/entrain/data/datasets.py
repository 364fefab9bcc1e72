"""The datasets by name, with their fixed stratified splits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from entrain.data import sources
from entrain.data.features import checked_rows
from entrain.data.preprocessing import Preprocessing
from entrain.utils.errors import InputError, positive_float, unknown_name

# One fixed split for every dataset. This seed's split has the preprocessing constants printed in
# the paper's table, to every printed digit, on MNIST and on Fashion-MNIST.
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
# The bundled test images split once more: something to train on without a download.
SMALL = {f"{name}-small": name for name in ("mnist", "fashion-mnist")}
CLASS_NAMES |= {small: CLASS_NAMES[name] for small, name in SMALL.items()}
DATASETS = tuple(CLASS_NAMES)


@dataclass(frozen=True)
class Split:
    """Features (n, D), of images their raw pixels, and labels (n,), row by row.

    Features are finite real numbers, labels whole numbers from 0 on; there is at least one row.
    """

    features: np.ndarray
    labels: np.ndarray

    def __post_init__(self) -> None:
        features, labels = np.asarray(self.features), np.asarray(self.labels)
        if features.dtype.kind == "f":  # whole numbers are finite
            checked_rows(features)
        elif features.dtype.kind not in "bui" or features.ndim != 2 or 0 in features.shape:
            raise InputError(
                f"features must be numbers of shape (n, D), got {features.dtype} of shape "
                f"{features.shape}"
            )
        if labels.dtype.kind not in "ui" or labels.ndim != 1:
            raise InputError(
                f"labels must be whole numbers of shape (n,), got {labels.dtype} of shape "
                f"{labels.shape}"
            )
        if len(features) != len(labels):
            raise InputError(
                f"there must be as many labels as rows of features, got {len(labels)} labels and "
                f"{len(features)} rows"
            )
        if int(labels.min()) < 0:
            raise InputError(f"labels must be whole numbers from 0 on, got {labels.min()}")
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels.astype(np.int64, copy=False))

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class ImageDataset:
    """Training, validation and test images of one task."""

    name: str
    train: Split
    validation: Split
    test: Split
    image_shape: tuple[int, int]
    pixel_max: float
    class_names: tuple[str, ...]
    test_has_own_norm: bool = False

    def __post_init__(self) -> None:
        rows, columns = self.image_shape
        check_parts(self, rows * columns, f"{rows} x {columns} pixels")
        positive_float("pixel_max", self.pixel_max)

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """The constants of the training images."""
        test = self.test.features if self.test_has_own_norm else None
        return Preprocessing.fit(self.train.features, self.image_shape, self.pixel_max, test)


def check_parts(data: Any, width: int, expected: str) -> None:
    """Refuse splits of other than `width` numbers an example, or labels that have no class name."""
    for part in ("train", "validation", "test"):
        split = getattr(data, part)
        if not isinstance(split, Split):
            raise InputError(f"{part} must be a Split, got {type(split).__name__}")
        if split.features.shape[1] != width:
            raise InputError(
                f"{part} has {split.features.shape[1]} features an example; expected {expected}"
            )
        if int(split.labels.max()) >= len(data.class_names):
            raise InputError(
                f"{part} has the label {split.labels.max()}; expected labels below "
                f"{len(data.class_names)}, as there are so many class names"
            )


def load_dataset(name: str, data_dir: Path | str | None = None) -> ImageDataset:
    """A dataset by name: digits, mnist-small, fashion-mnist-small (nothing to download), mnist or
    fashion-mnist.

    MNIST and Fashion-MNIST: 50,000 training and 10,000 validation images, stratified, of the
    official training set; the official 10,000 test images. Digits: 1,197 / 300 / 300, stratified.
    Small: 3,000 / 1,000 / 1,000 of the official *test* images, stratified; not for comparison
    with results on the official split.
    """
    if name not in CLASS_NAMES:
        raise unknown_name("dataset", name, CLASS_NAMES)
    if name == "digits":
        return _digits()
    if name in SMALL:
        return _small(name)
    folder = Path(data_dir) if data_dir is not None else None
    train = sources.locate(name, "train", folder)
    images = Split(train.images.reshape(len(train.images), -1), train.labels.astype(np.int64))
    rest, validation = stratified_split(images, 10_000)
    return ImageDataset(
        name=name,
        train=rest,
        validation=validation,
        test=load_test_split(name, folder),
        image_shape=(28, 28),
        pixel_max=255.0,
        class_names=CLASS_NAMES[name],
        test_has_own_norm=name == "fashion-mnist",
    )


def load_test_split(name: str, data_dir: Path | None = None) -> Split:
    """The test images alone; those of MNIST and Fashion-MNIST come with the package."""
    if name not in CLASS_NAMES:
        raise unknown_name("dataset", name, CLASS_NAMES)
    if name == "digits":
        return _digits().test
    if name in SMALL:
        return _small(name).test
    test = sources.locate(name, "t10k", data_dir)
    return Split(test.images.reshape(len(test.images), -1), test.labels.astype(np.int64))


def stratified_split(images: Split, count: int, seed: int = SPLIT_SEED) -> tuple[Split, Split]:
    """(the rest, `count` images): each class in proportion, largest remainders rounded up."""
    rest, taken = split_rows(images.labels, class_shares(images.labels, count), 1, seed)
    return (
        Split(images.features[rest], images.labels[rest]),
        Split(images.features[taken], images.labels[taken]),
    )


def class_shares(labels: np.ndarray, count: int) -> np.ndarray:
    """How many of `count` examples each class gets: (classes,)."""
    exact = np.bincount(labels) * count / len(labels)
    quota = np.floor(exact).astype(np.int64)
    quota[np.argsort(quota - exact, kind="stable")[: count - quota.sum()]] += 1
    return quota


def split_rows(labels: np.ndarray, quota: np.ndarray, parts: int, seed: int) -> list[np.ndarray]:
    """Indices of the rest and of `parts` splits with `quota` (classes,) examples of each class,
    each in ascending order."""
    # RandomState, because its stream is frozen for good: the split must never move.
    order = np.random.RandomState(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]  # class by class
    counts = np.bincount(labels)
    rank = np.empty(len(labels), dtype=np.int64)  # of an example among those of its class
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = np.minimum(rank // np.maximum(quota[labels], 1), parts)
    part[quota[labels] == 0] = parts
    return [np.flatnonzero(part == each) for each in (parts, *range(parts))]


def _digits() -> ImageDataset:
    table = _digits_table()
    whole = Split(table[:, :-1].astype(np.uint8), table[:, -1].astype(np.int64))
    rest, test = stratified_split(whole, 300)
    train, validation = stratified_split(rest, 300)
    return ImageDataset("digits", train, validation, test, (8, 8), 16.0, CLASS_NAMES["digits"])


def _digits_table() -> np.ndarray:
    """scikit-learn's digits, 64 pixels and a label in a row: (1797, 65). Its file is read here
    because importing scikit-learn takes a second; where it is not, scikit-learn finds it."""
    package = find_spec("sklearn")
    for folder in package.submodule_search_locations or () if package else ():
        file = Path(folder) / "datasets" / "data" / "digits.csv.gz"
        if file.exists():
            return np.loadtxt(file, delimiter=",")
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return np.column_stack([bunch.data, bunch.target])


def _small(name: str) -> ImageDataset:
    rest, test = stratified_split(load_test_split(SMALL[name]), 1_000)
    rest, validation = stratified_split(rest, 1_000)
    _, train = stratified_split(rest, 3_000)
    return ImageDataset(
        name=name,
        train=train,
        validation=validation,
        test=test,
        image_shape=(28, 28),
        pixel_max=255.0,
        class_names=CLASS_NAMES[name],
        test_has_own_norm=name == "fashion-mnist-small",
    )
