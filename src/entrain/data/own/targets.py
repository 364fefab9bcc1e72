"""Targets of a user's data: classes, or numbers to predict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from entrain.data.own.examples import classes_of, warn_many_integers
from entrain.tasks import Classification, Regression, Task
from entrain.tasks.labels import codes_of, label_texts
from entrain.tasks.regression import checked_numbers
from entrain.utils.errors import InputError, unknown_name

KINDS = ("classification", "regression", "sequence")
FRAMES, WINDOW = 32, 0.5  # of sequences
_NOTE = (
    "y holds fractions: they are learnt as numbers (regression); for classes choose "
    "task='classification'"
)


def check_kind(task: object) -> str | None:
    """The name of a task, or None; an `InputError` for another value."""
    if task is None or task in KINDS:
        return task
    if not isinstance(task, str):
        raise TypeError(f"task must be one of {', '.join(KINDS)}, got {task!r}")
    raise unknown_name("task", task, KINDS)


def are_numbers(y: np.ndarray, kind: str | None) -> bool:
    """True if targets are numbers to predict: those of a regression, and fractions."""
    if kind in ("classification", "regression"):
        return kind == "regression"
    return y.dtype.kind == "f" and bool((y % 1 != 0).any())


class Targets:
    """Targets of examples, and the task that is made of the training part.

    Args:
        y: Labels (n,), or numbers (n,) or (n, O).
        name: Name of the argument, for errors.
        kind: Name of the task, or None for the one that suits y.
        least: Examples that each class needs.
        names: Names of numbers; those of their columns by default.
    """

    def __init__(
        self,
        y: np.ndarray,
        name: str,
        kind: str | None,
        least: int,
        names: Sequence[str] | None = None,
    ) -> None:
        self.window = WINDOW if kind == "sequence" else 0.0
        self.have_classes = not are_numbers(y, kind)
        self.notes: tuple[str, ...] = ()
        if self.have_classes:
            texts = label_texts(y, name)
            self.names, self.values = classes_of(texts, name, least)
            if y.dtype.kind in "uif":
                warn_many_integers(self.names)
            return
        self.values = checked_numbers(y, name)
        if len(self.values) < 10:
            raise InputError(f"{len(self.values)} examples; expected at least 10")
        count = self.values.shape[1]
        columns = ["y"] if count == 1 else [f"y{i}" for i in range(count)]
        self.names = tuple(columns if names is None else names)
        if kind is None or kind == "sequence":
            self.notes = (_NOTE,)

    def others(self, y: np.ndarray, name: str) -> np.ndarray:
        """Targets of further examples.

        Args:
            y: Their labels or numbers.
            name: Name of the argument, for errors.
        """
        if not self.have_classes:
            return checked_numbers(y, name, outputs=self.values.shape[1])
        texts = label_texts(y, name)
        if foreign := sorted(set(texts) - set(self.names)):
            listed = ", ".join(map(ascii, self.names[:10])) + ", ..." * (len(self.names) > 10)
            raise InputError(
                f"{name} holds the label {foreign[0]!a}, which y does not; expected the "
                f"classes of y: {listed}"
            )
        return codes_of(texts, self.names)

    def task(self, training: np.ndarray) -> Task:
        """The task.

        Args:
            training: Targets of the training examples.
        """
        if self.have_classes:
            return Classification(self.names, window=self.window)
        return Regression.fit(training, self.names, self.window)
