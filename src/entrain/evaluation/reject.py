"""The reject option: answers with a small margin, to inputs unlike the training data, to faint
images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.tasks.metrics import margin
from entrain.utils.errors import InputError, positive_float
from entrain.utils.summary import Summary

SMALL_MARGIN, UNLIKE, FAINT = "small margin", "unlike the training data", "faint"

ERRORS_KEPT = 1 / 3  # of the error rate remains among sure examples
LEAST_COVERAGE = 0.5  # of the validation examples stay sure, whatever the error rate
UNLIKE_SHARE = 0.01  # of the validation examples count as unlike the training data
_FAINT_SHARE = 0.001  # of the training and validation images count as faint
MOST_DIRECTIONS, _MOST_NUMBERS = 24, 20_000  # numbers: of all directions
MOST_ROWS = 10_000  # training examples for the principal directions
_LEAST_VARIANCE = 1e-3  # of the mean variance: nearly constant directions do not decide alone


@dataclass(frozen=True, eq=False, repr=False)
class RejectOption(Summary):
    r"""An answer is unsure where its margin is below `margin`, or where the distance

        d(x)^2 = sum_k (e_k . (x - mean))^2 / v_k  +  |rest of x - mean|^2 / rest

    of the input x from the training inputs is above `distance`: the Mahalanobis distance of
    probabilistic PCA, with the principal directions e_k (K, D), their variances v_k and the mean
    variance `rest` of the others; or where the contrast of an image, which x has lost, is below
    `contrast`.

    Args:
        margin: Smallest margin of a sure answer, 0 to 2.
        distance: Largest distance of a sure answer.
        mean: Mean (D,) of the training inputs.
        directions: e (K, D), orthonormal.
        variances: v (K,).
        rest: Mean variance of the other directions.
        measured: Metrics on the validation examples.
        contrast: Smallest contrast of a sure answer; 0 for features.
    """

    margin: float
    distance: float
    mean: Tensor
    directions: Tensor
    variances: Tensor
    rest: float
    measured: dict[str, float]
    contrast: float = 0.0

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        return {"margin": f"{self.margin:.3g}", "distance": f"{self.distance:.3g}"}

    def __post_init__(self) -> None:
        for name in ("margin", "distance", "rest", "contrast"):
            value = getattr(self, name)
            if value != math.inf:  # no limit, during the fit
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
        """d (n,) of inputs (n, D), float64.

        Args:
            rows: Inputs (n, D), as in training.
        """
        away = rows.double().cpu() - self.mean.double()
        along = away @ self.directions.double().T
        squares = along.square()
        beyond = (away.square().sum(-1) - squares.sum(-1)).clamp(min=0.0)
        total: Tensor = (squares / self.variances.double()).sum(-1) + beyond / self.rest
        return total.sqrt()

    def reasons(
        self, rows: Tensor, scores: Tensor, contrasts: Tensor | None = None
    ) -> list[str | None]:
        """Reasons why answers are unsure, None where they are sure; NaN is never sure.

        Args:
            rows: Inputs (n, D), as in training.
            scores: Output activations (n, O).
            contrasts: Of images (n,).
        """
        checks = [(margin(scores.double().cpu()) >= self.margin, SMALL_MARGIN)]
        if contrasts is not None:
            checks.append((contrasts >= self.contrast, FAINT))
        checks.append((self.distances(rows) <= self.distance, UNLIKE))
        reasons: list[str | None] = [None] * len(rows)
        for passed, why in checks:  # the last reason counts
            reasons = [old if ok else why for old, ok in zip(reasons, passed.tolist(), strict=True)]
        return reasons

    @classmethod
    def fit(
        cls,
        train: Tensor,
        validation: Tensor,
        scores: Tensor,
        labels: Tensor,
        contrasts: Tensor | None = None,
    ) -> RejectOption:
        """An option with directions from training inputs, and thresholds from validation inputs.

        Args:
            train: Training inputs (n, D).
            validation: Validation inputs (m, D).
            scores: Their output activations (m, O).
            labels: Their labels (m,).
            contrasts: Of training and validation images; None of features.
        """
        mean, directions, variances, rest = _principal(train[:MOST_ROWS].double().cpu())
        unlimited = cls(0.0, math.inf, mean, directions, variances, rest, {})
        distances = unlimited.distances(validation)
        # The next float: a row at the quantile itself is like the training data.
        far = math.nextafter(float(distances.quantile(1 - UNLIKE_SHARE)), math.inf)
        margins = margin(scores.double().cpu()).nan_to_num(nan=-1.0)
        correct = (scores.argmax(-1) == labels.to(scores.device)).cpu()
        least = _least_margin(margins.numpy(), correct.numpy(), (distances <= far).numpy())
        sure = (margins >= least) & (distances <= far)
        faint = 0.0
        if contrasts is not None:
            faint = float(contrasts.quantile(_FAINT_SHARE))
            sure &= contrasts[-len(validation) :] >= faint
        measured = {
            "top1": 100.0 * float(correct.double().mean()),
            "coverage": 100.0 * float(sure.double().mean()),
            "top1_sure": 100.0 * float(correct[sure].double().mean()) if sure.any() else 0.0,
        }
        return cls(least, far, mean, directions, variances, rest, measured, faint)

    def header(self) -> dict[str, Any]:
        """Its JSON values, for a file."""
        names = ("margin", "distance", "rest", "measured", "contrast")
        return {name: getattr(self, name) for name in names}


def _principal(rows: Tensor) -> tuple[Tensor, Tensor, Tensor, float]:
    """Mean, principal directions and variances in float32, and the mean variance beyond them."""
    count, width = rows.shape
    rank = min(MOST_DIRECTIONS, _MOST_NUMBERS // width, width, count - 1)
    mean = rows.mean(0)
    away = rows - mean
    total = float(away.square().sum()) / count
    floor = max(_LEAST_VARIANCE * total / width, 1e-12)
    if rank <= 0:
        return mean.float(), torch.zeros(0, width), torch.zeros(0), max(total / width, floor)
    if width <= count:
        variances, vectors = torch.linalg.eigh(away.T @ away / count)
    else:  # the same directions, from the smaller of the two products
        variances, left = torch.linalg.eigh(away @ away.T / count)
        least = max(1e-12 * float(variances.max()), 1e-300)  # repeated rows have none
        vectors = away.T @ left / (variances.clamp(min=least) * count).sqrt()
    top, directions = variances.flip(0)[:rank], vectors.flip(1)[:, :rank].T
    # The sign of a direction is arbitrary: make its largest entry positive.
    signs = directions.gather(1, directions.abs().argmax(1, keepdim=True)).sign()
    rest = (total - float(top.sum())) / max(width - rank, 1)
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
    # A threshold can lie after the last of several equal margins only. A chip with a coarse readout
    # has few margins, so the first threshold with enough coverage may have much more.
    ends = np.flatnonzero(np.append(margins[order][1:] < margins[order][:-1], True))
    few_errors = ends[errors[ends] <= aim * counts[ends]]
    enough = ends[counts[ends] >= LEAST_COVERAGE * len(margins)]
    last = max([*few_errors[-1:], *enough[:1]], default=ends[-1])
    return max(0.0, float(margins[order[last]]))
