"""Labels of classes as texts and as indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from entrain.utils.errors import InputError


def label_texts(y: np.ndarray, name: str) -> list[str]:
    """Labels as strings."""
    if y.dtype.kind == "f":
        integers = np.isfinite(y) & (np.abs(y) < 2**53)
        integers[integers] = y[integers] == np.rint(y[integers])
        if not integers.all():
            bad = np.flatnonzero(~integers)[0]
            raise InputError(
                f"{name} holds {y[bad]} in row {bad} (from 0); expected whole numbers or strings: "
                "for numbers to predict choose task='regression'"
            )
        y = y.astype(np.int64)
    try:
        if y.dtype.kind == "S":
            return [text.decode().strip() for text in y.tolist()]
        return [str(value).strip() for value in y.tolist()]
    except (ValueError, SystemError) as error:  # SystemError: not Unicode
        raise InputError(f"{name} holds strings that are not text ({error})") from error


def codes_of(labels: Iterable[str], names: Sequence[str]) -> np.ndarray:
    """Indices (n,) of the labels in `names`."""
    index = {name: i for i, name in enumerate(names)}
    return np.array([index[label] for label in labels], dtype=np.int64)
