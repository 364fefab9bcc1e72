"""Examples for figures, selected by rules."""

from __future__ import annotations

import numpy as np


def representative(scores: np.ndarray, labels: np.ndarray, count: int | None = None) -> np.ndarray:
    """Indices of `count` correctly classified examples (one per class by default), by class.

    Within each class they are those whose margin (largest minus second-largest score) is nearest
    to the class's median margin; beyond one per class, classes take turns.
    """
    ordered = np.sort(scores, axis=1)
    margins = ordered[:, -1] - ordered[:, -2]
    correct = scores.argmax(axis=1) == labels
    ranked = []
    for label in np.unique(labels):
        members = np.flatnonzero(correct & (labels == label))
        if len(members):
            distance = np.abs(margins[members] - np.median(margins[members]))
            ranked.append(members[np.argsort(distance, kind="stable")])
    count = len(ranked) if count is None else count
    turns = [(turn, index) for members in ranked for turn, index in enumerate(members)]
    selected = [index for _, index in sorted(turns, key=lambda entry: entry[0])[:count]]
    return np.array(sorted(selected, key=lambda index: labels[index]), dtype=np.int64)
