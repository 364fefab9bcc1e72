"""Data selected by a name, a path, a dataset, or arrays with their labels."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from entrain.data.datasets import DATASETS, SPLIT_SEED, ImageDataset, load_dataset
from entrain.data.own import load_own
from entrain.data.own.examples import Dataset, FeatureDataset
from entrain.data.own.memory import from_memory, is_array_like
from entrain.utils.errors import InputError, positive_int, unknown_name

IMAGE_SIZE = 28


def own_source(
    data: str | os.PathLike[str], label: str | None = None, image_size: int = IMAGE_SIZE
) -> dict[str, Any] | None:
    """Path, label column and image size of a user's own data, as JSON values; None for a dataset
    of the package."""
    side = positive_int("image_size", image_size)
    if isinstance(data, str) and data in DATASETS:
        if label is not None:
            raise InputError(f"label belongs to your own tables, not to {data}")
        return None
    path = Path(data).expanduser()
    if not path.exists():
        if path.suffix or len(path.parts) > 1 or not isinstance(data, str):
            raise InputError(f"{path}: no such file or folder")
        raise InputError(
            f"{unknown_name('dataset', data, DATASETS)}; or give an .npz, .csv or .tsv file, or "
            "a folder of pictures in a folder for each class"
        )
    return {"path": str(path.absolute()), "label": label, "image_size": side}


def read_source(
    name: str,
    own: dict[str, Any] | None,
    data_dir: Path | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Dataset:
    """The data that `own_source` describes, or the dataset called `name`."""
    if own is None:
        return load_dataset(name, data_dir)
    options = {"label": own["label"], "image_size": own["image_size"]}
    return load_own(own["path"], **options, on_progress=on_progress)


def in_memory(data: Any, y: Any = None, label: str | None = None) -> Dataset:
    """A dataset unchanged, or one made of arrays or a data frame with their labels `y`."""
    if isinstance(data, ImageDataset | FeatureDataset):
        if y is not None or label is not None:
            raise InputError("y and label belong to arrays and tables; a dataset has its labels")
        return data
    if not is_array_like(data):
        raise TypeError(
            f"data must be the name of a dataset ({', '.join(DATASETS)}), a path, an array or a "
            f"DataFrame with labels y, or a dataset, got {data!r}"
        )
    return from_memory(data, y, label, SPLIT_SEED)
