"""The interface of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from torch import Tensor

from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Metric:
    """A metric as tables and progress bars show it.

    Args:
        name: Its name in results.
        title: Its column in a table.
        form: Format of its values.
        unit: Unit after a value, with its space.
        larger_is_better: False for errors.
    """

    name: str
    title: str
    form: str
    unit: str = ""
    larger_is_better: bool = True

    def text(self, value: float) -> str:
        """A value with its unit.

        Args:
            value: The value.
        """
        return f"{value:{self.form}}{self.unit}"


@dataclass(frozen=True)
class Task(ABC):
    """The use of the outputs of a network: targets, loss, metrics and predictions.

    Activations are a = cos(theta_out), of M examples and O outputs. A new task is one file with a
    frozen dataclass, and its name in `TASKS`.

    Args:
        window: Share of the inputs in time, at the end, over which activations are averaged; 0
            reads the outputs once, at the observation time.
    """

    kind: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    selection: ClassVar[tuple[Metric, ...]]
    has_classes: ClassVar[bool] = False
    compiled_loss: ClassVar[str | None] = None  # "cross-entropy" or "squared error", if it is one

    window: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.window, int | float) or not 0 <= self.window <= 1:
            raise InputError(f"window must be a share from 0 to 1, got {self.window!r}")

    @property
    @abstractmethod
    def outputs(self) -> int:
        """O, the number of output oscillators."""

    @property
    @abstractmethod
    def output_names(self) -> tuple[str, ...]:
        """Names of the O outputs."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The prediction in a few words, such as "3 classes: a, b, c"."""

    @abstractmethod
    def targets(self, values: Tensor) -> Tensor:
        """Targets (M, O) of activations, float32.

        Args:
            values: Targets as in `Split.targets`: class indices (M,), or numbers (M, O).
        """

    @abstractmethod
    def loss(self, activations: Tensor, targets: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
        """Losses by output (R, B, O), whose sum over outputs is that of an example, and their
        gradient with respect to the activations.

        Args:
            activations: a (R, B, O).
            targets: Those of `targets` (R, B, O).
            gain: Gain of a softmax (R, 1, 1).
        """

    @abstractmethod
    def validate(
        self, activations: Tensor, values: Tensor, gain: Tensor, weights: Tensor | None
    ) -> dict[str, Tensor]:
        """Metrics (R,) on validation examples.

        Args:
            activations: a (R, M, O).
            values: As for `targets`.
            gain: Gain of a softmax (R, 1, 1).
            weights: Weights (M,) of the examples, of mean 1.
        """

    @abstractmethod
    def merit(self, metrics: dict[str, Tensor]) -> Tensor:
        """Numbers (R, n), compared in order, by which an epoch is selected; larger is better.

        Args:
            metrics: Those of `validate`.
        """

    @abstractmethod
    def evaluate(self, activations: Tensor, values: Tensor) -> dict[str, float]:
        """The `metrics` of activations (M, O).

        Args:
            activations: a (M, O).
            values: As for `targets`.
        """

    @abstractmethod
    def predict(self, activations: Tensor) -> np.ndarray:
        """Predictions (M,), or (M, O) of several numbers.

        Args:
            activations: a (M, O).
        """

    @abstractmethod
    def encode(self, y: Any, count: int) -> np.ndarray:
        """Targets as in `Split.targets`; an `InputError` if they do not fit.

        Args:
            y: A user's targets.
            count: Number of examples.
        """

    @abstractmethod
    def score(self, activations: Tensor, values: Tensor) -> float:
        """scikit-learn's score: accuracy from 0 to 1, or R^2.

        Args:
            activations: a (M, O).
            values: As for `targets`.
        """

    def reading(self, activations: Tensor) -> Tensor:
        """Activations (..., O) of activations in time (..., T, O): their mean over the window.

        Args:
            activations: a after each of T inputs in time (..., T, O).
        """
        return activations[..., -self.frames_read(activations.shape[-2]) :, :].mean(-2)

    def frames_read(self, frames: int) -> int:
        """Number of the last inputs in time whose activations are averaged.

        Args:
            frames: T.
        """
        return max(1, round(self.window * frames))

    @property
    def is_default_reading(self) -> bool:
        """True if outputs are read once, at the observation time."""
        return self.window == 0

    def to_json(self) -> dict[str, Any]:
        """JSON values that `tasks.from_json` turns back into this task."""
        return {"task": self.kind, **asdict(self)}
