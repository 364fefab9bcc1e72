"""From rows of features to network inputs: each feature standardised, then one common factor."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from entrain.utils.errors import InputError, finite_float, positive_float
from entrain.utils.summary import Summary

NORM = 48.9
"""Mean length of the training inputs, as of MNIST's; learning rates are tuned for it."""

_CHUNK = 2**22  # numbers at a time in float64


@dataclass(frozen=True, repr=False)
class FeatureScaling(Summary):
    r"""Scaling of rows x of D features to inputs u.

        z = (x - mean) / sd,   u = factor z

    Args:
        mean: Mean of each feature over the training rows.
        sd: Standard deviation (population) of each feature; 1 for a constant one.
        factor: Gives the training inputs a fixed mean length.

    Examples:
        >>> scaling = entrain.FeatureScaling.fit(np.array([[1.0, 10.0], [3.0, 30.0]]), norm=1)
        >>> scaling(np.array([[2.0, 20.0]]))
        tensor([[0., 0.]])
    """

    mean: tuple[float, ...]
    sd: tuple[float, ...]
    factor: float

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        return {"features": f"{self.inputs:,}", "factor": f"{self.factor:.4g}"}

    def __post_init__(self) -> None:
        if not self.mean:
            raise InputError("there must be at least one feature, got none")
        if len(self.mean) != len(self.sd):
            raise InputError(
                f"mean and sd must be equally long, got {len(self.mean)} and {len(self.sd)} numbers"
            )
        positive_float("factor", self.factor, least=1e-12, most=1e12)
        for i, (mean, sd) in enumerate(zip(self.mean, self.sd, strict=True)):
            finite_float(f"mean of feature {i}", mean)
            positive_float(f"sd of feature {i}", sd, least=sys.float_info.min)

    @property
    def inputs(self) -> int:
        """D, the number of features."""
        return len(self.mean)

    @property
    def image_shape(self) -> tuple[int, int]:
        """(1, D), the shape of a row as a picture."""
        return 1, self.inputs

    @classmethod
    def fit(cls, train: np.ndarray, norm: float = NORM) -> FeatureScaling:
        """The scaling of training rows.

        Args:
            train: Training rows (n, D).
            norm: Mean length of their inputs.
        """
        positive_float("norm", norm)
        rows = checked_rows(train)
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
        constant = low == high
        if constant.all():
            raise InputError(
                f"every feature is constant over the {len(rows)} training rows: "
                "there is nothing to learn from; expected at least one that varies"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.where(constant, low, _total(rows, np.asarray) / len(rows))
            reach = np.maximum(high - mean, mean - low)
            if len(bad := np.flatnonzero(~np.isfinite(reach))):
                raise InputError(
                    f"feature {bad[0]} (from 0) holds numbers too large to add up; "
                    "expected at most about 1e300: give it in a larger unit"
                )
            # In units of the reach, so that no square overflows or vanishes.
            unit = np.where(reach > 0, reach, 1.0)
            squares = _total(rows, lambda chunk: np.square((chunk - mean) / unit))
            sd = unit * np.sqrt(squares / len(rows))
        sd = np.where(constant | ~(sd > 0), 1.0, sd)
        if (sd < sys.float_info.min).any():
            raise InputError(
                f"feature {int(np.argmin(sd))} (from 0) varies too little to compute with; give it "
                "in a smaller unit"
            )
        lengths = math.fsum(
            float(np.linalg.norm((chunk - mean) / sd, axis=1).sum()) for _, chunk in _chunks(rows)
        )
        if not lengths > 0:
            raise InputError("the features vary too little to compute with; give smaller units")
        return cls(tuple(mean.tolist()), tuple(sd.tolist()), norm * len(rows) / lengths)

    @classmethod
    def from_json(cls, values: object) -> FeatureScaling:
        """The scaling of JSON values.

        Args:
            values: `dataclasses.asdict` of a scaling.
        """
        if not isinstance(values, Mapping) or set(values) != {"mean", "sd", "factor"}:
            content = sorted(map(str, values)) if isinstance(values, Mapping) else type(values)
            raise InputError(f"a feature scaling holds factor, mean and sd, got {content}")
        return cls(
            _numbers("mean", values["mean"]),
            _numbers("sd", values["sd"]),
            finite_float("factor", values["factor"]),
        )

    def __call__(self, features: np.ndarray, *, unseen: bool = True) -> Tensor:
        """Inputs (n, D), float32, of rows (n, D) or of one row; `unseen` makes no difference."""
        return torch.from_numpy(np.concatenate(list(self._scaled(features))))

    def check(self, features: np.ndarray) -> None:
        """Raise the `InputError` that a call would raise.

        Args:
            features: Rows (n, D).
        """
        for _ in self._scaled(features):
            pass

    def _scaled(self, features: np.ndarray) -> Iterator[np.ndarray]:
        rows = checked_rows(features, self.inputs)
        mean, sd = np.asarray(self.mean), np.asarray(self.sd)
        for start, chunk in _chunks(rows):
            with np.errstate(over="ignore"):
                inputs = (self.factor * ((chunk - mean) / sd)).astype(np.float32)
            if not np.isfinite(inputs).all():
                row, column = np.argwhere(~np.isfinite(inputs))[0]
                raise InputError(
                    f"row {start + row}, column {column} (from 0) holds {chunk[row, column]:g}; "
                    f"expected numbers nearer to the training rows', whose mean is "
                    f"{mean[column]:g} and SD {sd[column]:g}"
                )
            yield inputs


def checked_rows(features: np.ndarray, inputs: int | None = None) -> np.ndarray:
    """`features` as finite real rows (n, D), at least one, with D = `inputs` if given."""
    rows = np.asarray(features)
    if rows.dtype.kind not in "buif":
        raise InputError(f"features must be real numbers, got an array of {rows.dtype}")
    if inputs is not None and rows.shape == (inputs,):
        rows = rows[None]
    if rows.ndim != 2 or rows.shape[1] != (inputs or rows.shape[1]):
        raise InputError(
            f"features must have shape (rows, {inputs or 'D'}), got shape {rows.shape}"
        )
    if rows.size == 0:
        raise InputError(
            f"there must be at least one row and at least one feature, got shape {rows.shape}"
        )
    for start, chunk in _chunks(rows) if rows.dtype.kind == "f" else ():
        finite = np.isfinite(chunk)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise InputError(
                f"row {start + row}, column {column} (from 0) holds {chunk[row, column]}; expected "
                "finite numbers: fill in missing values or remove their rows"
            )
    return rows


def _chunks(rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows in chunks of float64, each with the index of its first row."""
    size = max(1, _CHUNK // rows.shape[1])
    with np.errstate(over="ignore"):
        for start in range(0, len(rows), size):
            yield start, rows[start : start + size].astype(np.float64, copy=False)


def _total(rows: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The sum of `function` over the rows, for each feature."""
    return sum((function(chunk).sum(axis=0) for _, chunk in _chunks(rows)), np.zeros(rows.shape[1]))


def _numbers(name: str, values: object) -> tuple[float, ...]:
    if not isinstance(values, list | tuple):
        raise InputError(f"{name} must be a list of numbers, got {type(values).__name__}")
    return tuple(finite_float(f"{name} of feature {i}", value) for i, value in enumerate(values))
