"""Data selected by a name, a path, a dataset, or arrays with their labels."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from entrain.data.datasets import DATASETS, load_dataset
from entrain.data.own import load_own
from entrain.data.own.examples import Dataset
from entrain.data.own.memory import is_array_like
from entrain.data.own.targets import FRAMES, check_kind
from entrain.utils.errors import InputError, positive_int, unknown_name

IMAGE_SIZE = 28


def own_source(
    data: str | os.PathLike[str],
    label: str | None = None,
    image_size: int = IMAGE_SIZE,
    task: str | None = None,
    frames: int = FRAMES,
) -> dict[str, Any] | None:
    """Path of a user's own data and how they are read, as JSON values; None for a dataset of the
    package."""
    side, kind = positive_int("image_size", image_size), check_kind(task)
    if isinstance(data, str) and data in DATASETS:
        if kind not in (None, "classification"):
            raise InputError(f"{data} has classes; task {kind!r} belongs to your own data")
        if label is not None:
            raise InputError(f"label belongs to your own tables, not to {data}")
        if frames != FRAMES:
            raise InputError(
                f"frames belongs to your own sequences, not to {data}; for others train on "
                f"dataclasses.replace(entrain.load_dataset({data!r}), frames={frames})"
            )
        return None
    path = Path(data).expanduser()
    if not path.exists():
        if path.suffix or len(path.parts) > 1 or not isinstance(data, str):
            raise InputError(f"{path}: no such file or folder")
        raise InputError(
            f"{unknown_name('dataset', data, DATASETS)}; or give an .npz, .csv or .tsv file, or "
            "a folder of pictures in a folder for each class"
        )
    source = {"path": str(path.absolute()), "label": label, "image_size": side}
    others = {"task": kind, "frames": None if frames == FRAMES else frames}
    return source | {name: value for name, value in others.items() if value is not None}


def read_source(
    name: str,
    own: dict[str, Any] | None,
    data_dir: Path | str | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Dataset:
    """The data that `own_source` describes, or the dataset called `name`."""
    if own is None:
        return load_dataset(name, data_dir)
    options = {name: value for name, value in own.items() if name != "path"}
    return load_own(own["path"], **options, on_progress=on_progress)


def select(data: Any, y: Any = None, task: str | None = None) -> Dataset:
    """The examples that the arguments of `entrain.train` name.

    Args:
        data: The name of a dataset, a path, a dataset, or arrays or a data frame.
        y: Targets of arrays or of a data frame.
        task: Name of the task of your own data.
    """
    if isinstance(data, str | os.PathLike):
        if y is not None:
            raise InputError(f"y belongs to arrays, {os.fspath(data)} has labels of its own")
        return read_source(str(data), own_source(data, task=task))
    if isinstance(data, Dataset):
        if y is not None or task is not None:
            raise InputError("y and task belong to arrays and tables; a dataset has its labels")
        return data
    if not is_array_like(data):
        raise TypeError(
            f"data must be the name of a dataset ({', '.join(DATASETS)}), a path, an array or a "
            f"DataFrame with labels y, or a dataset, got {data!r}"
        )
    return load_own(data, y, task=task)
