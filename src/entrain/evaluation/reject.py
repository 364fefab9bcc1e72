"""When a model should not be believed: a small margin, or an input unlike the training data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.evaluation.metrics import margin
from entrain.utils.errors import InputError, positive_float

SMALL_MARGIN, UNLIKE = "small margin", "unlike the training data"

ERRORS_KEPT = 1 / 3  # of the error rate, among the examples that are sure
LEAST_COVERAGE = 0.5  # of the validation examples that stay sure, whatever that costs
UNLIKE_SHARE = 0.01  # of the validation examples that count as unlike the training data
MOST_DIRECTIONS, _MOST_NUMBERS = 24, 20_000  # the latter over all directions
MOST_ROWS = 10_000  # training examples that the directions are found from
_LEAST_VARIANCE = 1e-3  # of the mean variance: a direction that hardly varies does not decide alone


@dataclass(frozen=True, eq=False)
class RejectOption:
    r"""An answer is unsure where its margin is below `margin`, or where the distance

        d(x)^2 = sum_k (e_k . (x - mean))^2 / v_k  +  |rest of x - mean|^2 / rest

    of the input x from the training inputs is above `distance`: the Mahalanobis distance of
    probabilistic PCA, with the principal directions e_k (K, D), their variances v_k and the mean
    variance `rest` of the others. `measured` says what that gives on the validation examples.
    """

    margin: float
    distance: float
    mean: Tensor  # (D,)
    directions: Tensor  # (K, D)
    variances: Tensor  # (K,)
    rest: float
    measured: dict[str, float]

    def __post_init__(self) -> None:
        for name in ("margin", "distance", "rest"):
            value = getattr(self, name)
            if value != math.inf:  # no limit, while it is fitted
                positive_float(f"reject: {name}", value, zero=True, most=1e30)
        count, width = len(self.variances), len(self.mean)
        if self.mean.ndim != 1 or self.directions.shape != (count, width):
            raise InputError(
                f"reject: {count} variances and {width} means need directions of {count} x {width}"
                f", got {tuple(self.directions.shape)}"
            )
        if not (self.rest > 0 and bool((self.variances > 0).all())):
            raise InputError("reject: variances must be above 0")

    def distances(self, rows: Tensor) -> Tensor:
        """d (n,) of inputs (n, D), float64."""
        away = rows.double().cpu() - self.mean.double()
        along = away @ self.directions.double().T
        squares = along.square()
        beyond = (away.square().sum(-1) - squares.sum(-1)).clamp(min=0.0)
        total: Tensor = (squares / self.variances.double()).sum(-1) + beyond / self.rest
        return total.sqrt()

    def reasons(self, rows: Tensor, scores: Tensor) -> list[str | None]:
        """Why each answer is unsure, None where it is sure; a NaN is never sure."""
        near = (self.distances(rows) <= self.distance).tolist()
        clear = (margin(scores.double().cpu()) >= self.margin).tolist()
        return [
            None if a and b else SMALL_MARGIN if a else UNLIKE
            for a, b in zip(near, clear, strict=True)
        ]

    @classmethod
    def fit(cls, train: Tensor, validation: Tensor, scores: Tensor, labels: Tensor) -> RejectOption:
        """Directions from the training inputs (n, D), thresholds from validation inputs (m, D),
        their `scores` (m, O) and `labels` (m,)."""
        mean, directions, variances, rest = _principal(train[:MOST_ROWS].double().cpu())
        unlimited = cls(0.0, math.inf, mean, directions, variances, rest, {})
        found = unlimited.distances(validation)
        # The next number up: a row at the quantile itself is like the training data.
        far = math.nextafter(float(found.quantile(1 - UNLIKE_SHARE)), math.inf)
        margins = margin(scores.double().cpu()).nan_to_num(nan=-1.0)
        correct = (scores.argmax(-1) == labels.to(scores.device)).cpu()
        least = _least_margin(margins.numpy(), correct.numpy(), (found <= far).numpy())
        sure = (margins >= least) & (found <= far)
        measured = {
            "top1": 100.0 * float(correct.double().mean()),
            "coverage": 100.0 * float(sure.double().mean()),
            "top1_sure": 100.0 * float(correct[sure].double().mean()) if sure.any() else 0.0,
        }
        return cls(least, far, mean, directions, variances, rest, measured)

    def tensors(self) -> dict[str, Tensor]:
        """What a file keeps of it as tensors."""
        return {"mean": self.mean, "directions": self.directions, "variances": self.variances}

    def header(self) -> dict[str, Any]:
        """What a file keeps of it as JSON."""
        return {
            "margin": self.margin,
            "distance": self.distance,
            "rest": self.rest,
            "measured": self.measured,
        }


def _principal(rows: Tensor) -> tuple[Tensor, Tensor, Tensor, float]:
    """Mean, principal directions and variances in float32, and the mean variance beyond them."""
    count, width = rows.shape
    kept = min(MOST_DIRECTIONS, _MOST_NUMBERS // width, width, count - 1)
    mean = rows.mean(0)
    away = rows - mean
    total = float(away.square().sum()) / count
    floor = max(_LEAST_VARIANCE * total / width, 1e-12)
    if kept <= 0:
        return mean.float(), torch.zeros(0, width), torch.zeros(0), max(total / width, floor)
    if width <= count:
        variances, vectors = torch.linalg.eigh(away.T @ away / count)
    else:  # the same directions, from the smaller of the two products
        variances, left = torch.linalg.eigh(away @ away.T / count)
        vectors = away.T @ left / (variances.clamp(min=1e-300) * count).sqrt()
    top, directions = variances.flip(0)[:kept], vectors.flip(1)[:, :kept].T
    # The sign of a direction has no meaning: the largest entry is made positive.
    signs = directions.gather(1, directions.abs().argmax(1, keepdim=True)).sign()
    rest = (total - float(top.sum())) / max(width - kept, 1)
    return (
        mean.float(),
        (directions * signs).float().contiguous(),
        top.clamp(min=floor).float(),
        max(rest, floor),
    )


def _least_margin(margins: np.ndarray, correct: np.ndarray, near: np.ndarray) -> float:
    """The smallest margin above which the error rate is `ERRORS_KEPT` times that of all."""
    aim = ERRORS_KEPT * float((~correct).mean())
    order = np.argsort(-margins, kind="stable")
    order = order[near[order]]
    if not len(order):
        return 0.0
    errors = np.cumsum(~correct[order])
    counts = np.arange(1, len(order) + 1)
    # Only after the last of several equal margins can a threshold lie. A chip that reads phases
    # coarsely has few margins: the first threshold that leaves enough sure may leave many more.
    ends = np.flatnonzero(np.append(margins[order][1:] < margins[order][:-1], True))
    few_errors = ends[errors[ends] <= aim * counts[ends]]
    enough = ends[counts[ends] >= LEAST_COVERAGE * len(margins)]
    last = max([*few_errors[-1:], *enough[:1]], default=ends[-1])
    return max(0.0, float(margins[order[last]]))
