"""Arrays and folders that the tests of own data share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from entrain.data import (
    Dataset,
    load_own,
)
from entrain.utils.errors import InputError

RNG = np.random.default_rng(0)
ROWS = np.arange(120.0).reshape(40, 3) + RNG.normal(size=(40, 3))
LABELS = np.repeat(["b", "a"], [28, 12])
LEVELS = RNG.integers(0, 256, (40, 4, 5)).astype(np.uint8)
PARTS = ("train", "validation", "test")


def npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def parts_of(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """All rows and labels, split after split."""
    splits = [getattr(data, part) for part in PARTS]
    rows = np.concatenate([split.features for split in splits])
    return rows, np.concatenate([split.labels for split in splits])


def folder_of_pictures(place: Path, counts: dict[str, int], size: tuple[int, int] = (9, 7)) -> Path:
    rng = np.random.default_rng(1)
    for name, count in counts.items():
        (place / name).mkdir(parents=True)
        for i in range(count):
            levels = rng.integers(0, 100, size).astype(np.uint8)
            Image.fromarray(levels).save(place / name / f"{i}.png")
    return place


def loads_or_refuses(path: Path) -> None:
    try:
        data = load_own(path)
    except InputError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017 (either way is right)
    else:
        assert len(data.test) > 0
        assert data.preprocessing(data.test.features).isfinite().all()
