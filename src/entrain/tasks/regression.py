"""Regression: the cosine of each output oscillator is a number on a scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from entrain.tasks.task import Metric, Task
from entrain.utils.errors import InputError, finite_numbers, positive_float

NRMSE = Metric("nrmse", "NRMSE", ".4f", larger_is_better=False)
_REACH = 0.8  # |cos| of the extreme training targets: room for others beyond
_LARGEST = 1e150  # its square is finite


@dataclass(frozen=True)
class Regression(Task):
    r"""O numbers: y_o = centre_o + scale_o cos(theta_out,o).

    The loss is the mean over outputs of (cos(theta_out) - z)^2, z = (y - centre) / scale. The
    smallest error on validation examples selects the epoch:

        NRMSE = sqrt( mean over outputs of  mean (prediction - y)^2 / variance_o ),

    with the variance of the training targets. 1 is the error of their mean.

    Args:
        names: Names of the numbers.
        centre: Middle of the range of each, in its unit.
        scale: Half of the range of each that the outputs reach, in its unit.
        deviation: Standard deviation of each over the training examples, in its unit.
        window: See `Task`.

    Examples:
        >>> task = entrain.Regression.fit(np.array([[0.0], [10.0]]), ("volts",))
        >>> task.values(torch.tensor([[0.0]]))
        tensor([[5.]], dtype=torch.float64)
    """

    kind: ClassVar[str] = "regression"
    metrics: ClassVar[tuple[Metric, ...]] = (
        NRMSE,
        Metric("rmse", "RMSE", ".4g", larger_is_better=False),
        Metric("mae", "MAE", ".4g", larger_is_better=False),
        Metric("r2", "R²", ".4f"),
    )
    selection: ClassVar[tuple[Metric, ...]] = (NRMSE,)
    compiled_loss: ClassVar[str | None] = "squared error"

    names: tuple[str, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    deviation: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.names, str) or not self.names:
            raise InputError(f"names must be a list of names, got {self.names!r}")
        object.__setattr__(self, "names", tuple(str(name) for name in self.names))
        for name in ("centre", "scale", "deviation"):
            values = finite_numbers(name, getattr(self, name))
            object.__setattr__(self, name, values)
            if len(values) != len(self.names):
                raise InputError(
                    f"{name} must be {len(self.names)} numbers, one for each target, got "
                    f"{len(values)}"
                )
            for value in values if name != "centre" else ():
                positive_float(name, value)

    @classmethod
    def fit(
        cls, y: np.ndarray, names: tuple[str, ...], window: float = 0.0, *, constant: bool = False
    ) -> Regression:
        """The task of training targets.

        Args:
            y: Training targets (M, O).
            names: Names of the O numbers.
            window: See `Task`.
            constant: True to take a constant target, with a scale of 1; False to refuse it.
        """
        low, high, deviation = y.min(axis=0), y.max(axis=0), y.std(axis=0)
        flat = low == high
        for name, least, is_flat in zip(names, low.tolist(), flat.tolist(), strict=True):
            if is_flat and not constant:
                raise InputError(
                    f"the target {name} is {least:g} in all {len(y)} training examples; expected "
                    "numbers that vary"
                )
        return cls(
            names,
            tuple((0.5 * (low + high)).tolist()),
            tuple(np.where(flat, 1.0, 0.5 * (high - low) / _REACH).tolist()),
            tuple(np.where(flat, 1.0, deviation).tolist()),
            window=window,
        )

    @property
    def outputs(self) -> int:
        return len(self.names)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def description(self) -> str:
        if self.outputs == 1:
            return f"a number, {self.names[0]}"
        return f"{self.outputs} numbers: {', '.join(self.names)}"

    def targets(self, values: Tensor) -> Tensor:
        centre, scale = self._units(values)
        return ((values.double() - centre) / scale).float()

    def values(self, activations: Tensor) -> Tensor:
        """Numbers (..., O) in their units, float64, of activations.

        Args:
            activations: a (..., O).
        """
        centre, scale = self._units(activations)
        return centre + scale * activations.double()

    def _units(self, like: Tensor) -> tuple[Tensor, Tensor]:
        options = {"dtype": torch.float64, "device": like.device}
        return torch.tensor(self.centre, **options), torch.tensor(self.scale, **options)  # type: ignore[arg-type]

    def loss(self, activations: Tensor, targets: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
        error = activations - targets
        return error.square() / self.outputs, (2.0 / self.outputs) * error

    def validate(
        self, activations: Tensor, values: Tensor, gain: Tensor, weights: Tensor | None
    ) -> dict[str, Tensor]:
        return {"nrmse": self._nrmse(self.values(activations), values, weights)}

    def _nrmse(self, predictions: Tensor, values: Tensor, weights: Tensor | None) -> Tensor:
        """NRMSE (...) of predictions (..., M, O)."""
        deviation = torch.tensor(self.deviation, dtype=torch.float64, device=values.device)
        squares = ((predictions - values) / deviation).square().mean(-1)
        if weights is not None:
            squares = squares * weights
        return squares.mean(-1).sqrt()

    def merit(self, metrics: dict[str, Tensor]) -> Tensor:
        return -metrics["nrmse"].nan_to_num(math.inf, math.inf)[:, None]

    def evaluate(self, activations: Tensor, values: Tensor) -> dict[str, float]:
        predictions = self.values(activations)
        error = predictions - values
        return {
            "nrmse": float(self._nrmse(predictions, values, None)),
            "rmse": float(error.square().mean().sqrt()),
            "mae": float(error.abs().mean()),
            "r2": self.score(activations, values),
        }

    def score(self, activations: Tensor, values: Tensor) -> float:
        """R^2, averaged over outputs: 1 - sum (prediction - y)^2 / sum (y - mean)^2; of constant y
        1 if all are predicted exactly, else 0.

        Args:
            activations: a (M, O).
            values: Numbers (M, O).
        """
        left = (self.values(activations) - values).square().sum(0)
        total = (values - values.mean(0)).square().sum(0)
        shares = torch.where(total > 0, 1.0 - left / total, (left == 0).double())
        return float(shares.mean())

    def predict(self, activations: Tensor) -> np.ndarray:
        values = self.values(activations).cpu().numpy()
        return values[:, 0] if self.outputs == 1 else values

    def encode(self, y: Any, count: int) -> np.ndarray:
        return checked_numbers(y, "y", count, self.outputs)


def checked_numbers(
    y: Any, name: str, count: int | None = None, outputs: int | None = None
) -> np.ndarray:
    """Numbers to predict as float64 (M, O).

    Args:
        y: Numbers (M,) or (M, O).
        name: Name of the argument, for errors.
        count: M, if known.
        outputs: O, if known.
    """
    values = np.asarray(y)
    if values.dtype.kind not in "buif":
        raise InputError(f"{name} holds {values.dtype}; expected numbers to predict")
    values = values.astype(np.float64)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(
            f"{name} has shape {np.asarray(y).shape}; expected (n,), or (n, O) for O numbers each"
        )
    if outputs is not None and values.shape[1] != outputs:
        raise InputError(f"{name} has {values.shape[1]} numbers an example; expected {outputs}")
    if count is not None and len(values) != count:
        raise InputError(f"expected {count} targets, one for each example, got {len(values)}")
    bad = np.argwhere(~(np.abs(values) <= _LARGEST))
    if len(bad):
        row, column = bad[0]
        where = "" if values.shape[1] == 1 else f", column {column}"
        raise InputError(
            f"{name} holds {values[row, column]} in row {row}{where} (from 0); expected finite "
            f"numbers below {_LARGEST:g}: leave the row out"
        )
    return values
