r"""The confusion matrix, and precision, recall and F1 of every class.

    precision_k = C_kk / sum_i C_ik,   recall_k = C_kk / sum_j C_kj,
    F1_k = 2 C_kk / (sum_i C_ik + sum_j C_kj),

C_ij examples of class i that were predicted to be j. A quotient without examples is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from entrain.utils.summary import Summary


@dataclass(frozen=True, repr=False)
class ClassReport(Summary):
    """Predictions compared with labels, by class.

    Args:
        class_names: Names of the classes (O,).
        confusion: Counts (O, O): rows are true classes, columns predicted ones.

    Examples:
        >>> labels, predicted = np.array([0, 1, 1]), np.array([0, 1, 0])
        >>> report = entrain.evaluation.ClassReport.of(labels, predicted, ("cat", "dog"))
        >>> report.confusion
        array([[1, 0],
               [1, 1]])
    """

    class_names: tuple[str, ...]
    confusion: np.ndarray

    @classmethod
    def of(
        cls, labels: np.ndarray, predicted: np.ndarray, class_names: tuple[str, ...]
    ) -> ClassReport:
        """The report of predictions.

        Args:
            labels: True classes (n,), indices into `class_names`.
            predicted: Predicted classes (n,).
            class_names: Names of the classes.
        """
        confusion = np.zeros((len(class_names), len(class_names)), dtype=np.int64)
        np.add.at(confusion, (labels, predicted), 1)
        return cls(class_names, confusion)

    @property
    def support(self) -> np.ndarray:
        """Examples of each class (O,)."""
        return np.asarray(self.confusion.sum(1))

    @property
    def precision(self) -> np.ndarray:
        """Share of the predictions of each class that are right (O,)."""
        return self._share(self.confusion.sum(0))

    @property
    def recall(self) -> np.ndarray:
        """Share of the examples of each class that are predicted right (O,)."""
        return self._share(self.support)

    @property
    def f1(self) -> np.ndarray:
        """Harmonic mean of precision and recall (O,); 0 for a class that is never right."""
        return self._share((self.support + self.confusion.sum(0)) / 2)

    @property
    def accuracy(self) -> float:
        """Share of all examples that are predicted right."""
        return float(np.trace(self.confusion) / max(1, self.confusion.sum()))

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        worst = self.class_names[int(np.nanargmin(self.recall))]
        return {
            "accuracy": f"{100 * self.accuracy:.2f} %",
            "examples": f"{self.support.sum():,}",
            "least recall": f"{100 * np.nanmin(self.recall):.2f} % ({worst})",
        }

    def __str__(self) -> str:
        """A line for each class: its metrics, and its row of the confusion matrix."""
        width = max(9, *(len(name) for name in self.class_names))
        lines = [f"{'class':>{width}}" + "".join(f"{name:>11}" for name in METRICS) + "  predicted"]
        for index, name in enumerate(self.class_names):
            shares = "".join(f"{getattr(self, m)[index]:11.3f}" for m in METRICS[:-1])
            counts = " ".join(f"{count:4d}" for count in self.confusion[index])
            lines.append(f"{name:>{width}}{shares}{self.support[index]:11d}  {counts}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Metrics by class, and the confusion matrix, as JSON values; null for NaN."""
        metrics = {name: getattr(self, name).tolist() for name in METRICS}
        classes = {
            name: {metric: values[index] for metric, values in metrics.items()}
            for index, name in enumerate(self.class_names)
        }
        return {"classes": classes, "confusion": self.confusion.tolist()}

    def _share(self, of: np.ndarray) -> np.ndarray:
        """The diagonal divided by these counts, NaN where they are 0."""
        hits = np.diagonal(self.confusion).astype(float)
        return np.asarray(np.divide(hits, of, out=np.full(len(hits), np.nan), where=of > 0))


METRICS = ("precision", "recall", "f1", "support")
