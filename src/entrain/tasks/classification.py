"""Classification: one output oscillator for each class, the largest cosine wins."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from entrain.tasks import metrics as measure
from entrain.tasks.labels import codes_of, label_texts
from entrain.tasks.task import Metric, Task
from entrain.utils.errors import InputError

TOP1 = Metric("top1", "top-1 %", ".2f", " %")


@dataclass(frozen=True)
class Classification(Task):
    r"""One of O classes: the output with the largest cos(theta_out), the first of equals.

    The loss is the cross-entropy of softmax(gain cos(theta_out)); validation accuracy selects the
    epoch, of equals the one with the smaller cross-entropy.

    Args:
        class_names: Names of the classes 0, 1, ...; different ones.
        window: See `Task`.

    Examples:
        >>> task = entrain.Classification(("cat", "dog"))
        >>> task.predict(torch.tensor([[0.9, -0.2], [-0.5, 0.1]]))
        array(['cat', 'dog'], dtype='<U3')
    """

    kind: ClassVar[str] = "classification"
    metrics: ClassVar[tuple[Metric, ...]] = (TOP1, Metric("top2", "top-2 %", ".2f", " %"))
    selection: ClassVar[tuple[Metric, ...]] = (Metric("weighted_top1", "", ".2f", " %"), TOP1)
    has_classes: ClassVar[bool] = True
    compiled_loss: ClassVar[str | None] = "cross-entropy"

    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.class_names, str) or not self.class_names:
            raise InputError(f"class_names must be a list of names, got {self.class_names!r}")
        object.__setattr__(self, "class_names", tuple(str(name) for name in self.class_names))
        names = Counter(name.strip() for name in self.class_names)
        if len(names) < len(self.class_names):
            raise InputError(
                f"class names must differ, apart from blanks; got {names.most_common(1)[0][0]!r} "
                "more than once"
            )

    @property
    def outputs(self) -> int:
        return len(self.class_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.class_names

    @property
    def description(self) -> str:
        return f"{self.outputs} classes: {', '.join(self.class_names)}"

    @property
    def classes(self) -> np.ndarray:
        """Labels of the classes (O,): integers if every class name is one, else the names."""
        integers = all(re.fullmatch("0|-?[1-9][0-9]*", name) for name in self.class_names)
        return np.array([int(name) if integers else name for name in self.class_names])

    def targets(self, values: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(values, self.outputs).float()

    def loss(self, activations: Tensor, targets: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
        log_probabilities = log_softmax(gain * activations)
        return -(targets * log_probabilities), gain * (log_probabilities.exp() - targets)

    def validate(
        self, activations: Tensor, values: Tensor, gain: Tensor, weights: Tensor | None
    ) -> dict[str, Tensor]:
        labels = values.expand(len(activations), -1)[..., None]
        entropy = -log_softmax(gain * activations).gather(-1, labels)[..., 0].double()
        result = {"top1": measure.top_k(activations, values), "cross_entropy": entropy.mean(1)}
        if weights is not None:
            hits = (activations.argmax(-1) == values) & ~activations.isnan().any(-1)
            result["cross_entropy"] = (weights * entropy).mean(1)
            result["weighted_top1"] = 100.0 * (weights * hits).mean(1)
        return result

    def merit(self, metrics: dict[str, Tensor]) -> Tensor:
        entropy = -metrics["cross_entropy"].nan_to_num(math.inf, math.inf)
        return torch.stack([metrics.get("weighted_top1", metrics["top1"]), entropy], dim=1)

    def evaluate(self, activations: Tensor, values: Tensor) -> dict[str, float]:
        return {
            "top1": float(measure.top_k(activations, values)),
            "top2": float(measure.top_k(activations, values, 2)),
        }

    def predict(self, activations: Tensor) -> np.ndarray:
        labels: np.ndarray = self.classes[np.asarray(activations.argmax(-1).cpu())]
        return labels

    def score(self, activations: Tensor, values: Tensor) -> float:
        return float((activations.argmax(-1) == values).double().mean())

    def encode(self, y: Any, count: int) -> np.ndarray:
        labels = label_texts(np.asarray(y), "y")
        names = [name.strip() for name in self.class_names]
        if len(labels) != count:
            raise InputError(f"expected {count} labels, one for each example, got {len(labels)}")
        if foreign := sorted(set(labels) - set(names)):
            raise InputError(
                f"y holds the label {foreign[0]!r}; expected the classes of the model: "
                f"{', '.join(names[:10])}{', ...' * (len(names) > 10)}"
            )
        return codes_of(labels, names)


def log_softmax(values: Tensor) -> Tensor:
    """In operations that take one thread for so few numbers: PyTorch's own starts a team whose
    spinning would go on into the adjoint."""
    shifted = values - values.amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()
