"""Choosing examples to show by rule, not by eye."""

from __future__ import annotations

import numpy as np


def representative(scores: np.ndarray, labels: np.ndarray, count: int | None = None) -> np.ndarray:
    """Indices of `count` correctly classified examples (one per class by default), by class.

    Within each class they are those whose margin (largest minus second-largest score) is nearest
    to the class's median margin; classes take turns when there are more places than classes.
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
    places = len(ranked) if count is None else count
    turns = [(turn, rank[turn]) for rank in ranked for turn in range(len(rank))]
    taken = [index for _, index in sorted(turns, key=lambda entry: entry[0])[:places]]
    return np.array(sorted(taken, key=lambda index: labels[index]), dtype=np.int64)


def near_misses(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Indices of misclassified examples whose true class comes second, one per true class.

    Within each class it is the one whose lead of the predicted over the true class is nearest to
    the class's median; a class without such an example has none.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    rows = np.arange(len(labels))
    lead = scores[rows, order[:, 0]] - scores[rows, labels]
    second = order[:, 1] == labels
    taken = []
    for label in np.unique(labels):
        members = np.flatnonzero(second & (labels == label))
        if len(members):
            distance = np.abs(lead[members] - np.median(lead[members]))
            taken.append(members[distance.argmin()])
    return np.array(taken, dtype=np.int64)
