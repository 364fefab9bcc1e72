"""Metrics of output scores, and statistics over runs.

Accuracies are in percent; leading axes (runs) are kept.

`scores` (..., M, O) are output activations of M examples, `targets` (M, O) the teacher's,
`labels` (M,) the true classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from entrain.utils.errors import InputError


def top_k(scores: Tensor, labels: Tensor, k: int = 1) -> Tensor:
    """Share of examples whose label is among the k largest scores, percent (...)."""
    return percent(hits(scores, labels, k))


def hits(scores: Tensor, labels: Tensor, k: int = 1) -> Tensor:
    """True (..., M) where the label is among the k largest scores.

    A tie goes to the lower class index, as in argmax. An example with a NaN score is a miss.
    """
    correct = scores.gather(-1, labels.expand(scores.shape[:-1])[..., None])
    above = (scores > correct).sum(-1)
    classes = torch.arange(scores.shape[-1], device=scores.device)
    ties = ((scores == correct) & (classes < labels[:, None])).sum(-1)
    return (above + ties < k) & ~scores.isnan().any(-1)


def agreement(scores: Tensor, targets: Tensor) -> Tensor:
    """Share of examples on which student and teacher predict the same class, percent (...)."""
    same = scores.argmax(-1) == targets.argmax(-1)
    return percent(same & ~scores.isnan().any(-1))


def rmse(scores: Tensor, targets: Tensor) -> Tensor:
    """Root mean square of scores - targets over examples and outputs (...)."""
    return (scores.double() - targets.double()).square().mean((-2, -1)).sqrt()


def correlation(scores: Tensor, targets: Tensor) -> Tensor:
    """Pearson correlation of the flattened scores and targets (...)."""
    a = scores.double() - scores.double().mean((-2, -1), keepdim=True)
    b = targets.double() - targets.double().mean((-2, -1), keepdim=True)
    product = (a * b).sum((-2, -1))
    return product / (a.square().sum((-2, -1)) * b.square().sum((-2, -1))).sqrt()


def margin(scores: Tensor) -> Tensor:
    """Largest minus second-largest score of each example (..., M)."""
    best = scores.topk(2, dim=-1).values
    return best[..., 0] - best[..., 1]


def percent(hits: Tensor) -> Tensor:
    """Share (...) of the examples (..., M) that are hits, in percent."""
    return 100.0 * hits.double().mean(-1)


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


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (NaN for one run) of `runs` values."""

    mean: float
    sd: float
    runs: int


def summarise(values: Sequence[float]) -> Summary:
    """Mean and sample standard deviation of one value per run."""
    if len(values) == 0:
        raise InputError("there must be at least one run to summarise, got none")
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    return Summary(float(np.mean(values)), sd, len(values))
