"""Metrics of output scores. Accuracies are in percent; leading axes (runs) are kept.

`scores` (..., M, O) are output activations of M examples, `targets` (M, O) the teacher's,
`labels` (M,) the true classes.
"""

from __future__ import annotations

import torch
from torch import Tensor


def top_k(scores: Tensor, labels: Tensor, k: int = 1) -> Tensor:
    """Share of examples whose label is among the k largest scores, percent (...).

    A tie goes to the lower class index, as in argmax. An example with a NaN score is a miss.
    """
    correct = scores.gather(-1, labels.expand(scores.shape[:-1])[..., None])
    above = (scores > correct).sum(-1)
    classes = torch.arange(scores.shape[-1], device=scores.device)
    ties = ((scores == correct) & (classes < labels[:, None])).sum(-1)
    return _percent((above + ties < k) & ~scores.isnan().any(-1))


def agreement(scores: Tensor, targets: Tensor) -> Tensor:
    """Share of examples on which student and teacher predict the same class, percent (...)."""
    same = scores.argmax(-1) == targets.argmax(-1)
    return _percent(same & ~scores.isnan().any(-1))


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


def _percent(hits: Tensor) -> Tensor:
    return 100.0 * hits.double().mean(-1)
