"""A trained model as one chip runs it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from entrain.data import Split
from entrain.data.own.arrays import label_texts
from entrain.data.preprocessing import as_array
from entrain.evaluation import check_finite, evaluate
from entrain.evaluation.chips import scores_on_chips
from entrain.hardware import Chip, Hardware
from entrain.models.network import KuramotoNetwork
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.models.model import Model


@dataclass(frozen=True)
class ModelOnChip:
    """A model as one chip runs it, with the methods of `Model`.

    If the chip reads several outputs alike, the first one is the answer.

    Args:
        model: The trained model.
        chip: The chip.
        noise_seed: Seed of the noise.
    """

    model: Model
    chip: Chip
    noise_seed: int = 0

    def scores(self, pixels: np.ndarray, *, unseen: bool = True) -> Tensor:
        """Output activations (n, O) as the chip reads them."""
        inputs = self.model.inputs(pixels, unseen=unseen)
        scores = self._scores(inputs)
        check_finite(scores, inputs)
        return scores

    def predict(self, pixels: np.ndarray) -> np.ndarray:
        """Predicted labels (n,), elements of `Model.classes`."""
        labels: np.ndarray = self.model.classes[self.predict_indices(pixels)]
        return labels

    def predict_indices(self, pixels: np.ndarray) -> np.ndarray:
        """Indices (n,) of the predicted classes."""
        return np.asarray(self.scores(pixels).argmax(-1).cpu())

    def score(self, X: np.ndarray, y: ArrayLike) -> float:
        """Fraction of correctly predicted labels, from 0 to 1."""
        return fraction_correct(self.predict_indices(X), y, self.model.class_names)

    def probabilities(self, pixels: np.ndarray) -> Tensor:
        """Class probabilities (n, O) of the chip's scores, by the model's gain."""
        return self.model.probabilities_of(self.scores(pixels))

    def rejected(self, pixels: np.ndarray) -> np.ndarray:
        """True (n,) where an answer of the chip is unsure, by the model's reject option."""
        return np.array([reason is not None for reason in self.reject_reasons(pixels)], dtype=bool)

    def reject_reasons(self, pixels: np.ndarray) -> list[str | None]:
        """Reasons why answers of the chip are unsure, None where they are sure."""
        return self.model.reject_reasons(pixels, self.scores(pixels))

    def evaluate(self, split: Split, *, unseen: bool = True) -> dict[str, float]:
        """Metrics in percent on labelled images, as `Model.evaluate`, on this chip."""
        inputs, labels = self.model.examples(split, unseen=unseen)
        teacher = self.model.teacher
        targets = None if teacher is None else teacher.targets(inputs)
        return evaluate(self._scores(inputs), labels, targets)

    def _scores(self, inputs: Tensor) -> Tensor:
        return scores_on_chips(
            self.model.batched_parameters(),
            self.chip.hardware,
            [self.chip.seed],
            inputs,
            self.model.network.dynamics,
            noise_seed=self.noise_seed,
        )[0, 0]


def fraction_correct(indices: np.ndarray, y: ArrayLike, class_names: tuple[str, ...]) -> float:
    """Fraction of predicted class indices (n,) that agree with the labels y (n,)."""
    labels = label_texts(as_array(y), "y")
    if len(labels) != len(indices):
        raise InputError(f"expected {len(indices)} labels, one for each example, got {len(labels)}")
    if foreign := sorted(set(labels) - set(class_names)):
        raise InputError(
            f"y holds the label {foreign[0]!r}; expected the classes of the model: "
            f"{', '.join(class_names[:10])}{', ...' * (len(class_names) > 10)}"
        )
    return float(np.mean([class_names[i] == name for i, name in zip(indices, labels, strict=True)]))


def chip_for(chip: Chip | int, network: KuramotoNetwork, trained_for: Hardware | None) -> Chip:
    """`chip`, or the chip of this seed of the hardware that the network was trained for.

    Refuses a chip that the network does not fit on, and warns if it is of other hardware.
    """
    if not isinstance(chip, Chip):
        if isinstance(chip, bool) or not isinstance(chip, Integral):
            raise TypeError(
                f"expected a chip, hardware.sample(seed), or the seed of one, got {chip!r}"
            )
        if trained_for is None:
            raise InputError(
                "the model was not trained for chips, so a seed does not define one; give a chip, "
                f"such as entrain.hardware.preset('typical').sample({chip})"
            )
        chip = trained_for.sample(int(chip))
    chip.hardware.check(network.hidden, network.outputs)
    if trained_for is not None and (
        message := hardware_mismatch_message(trained_for, chip.hardware)
    ):
        warnings.warn(message, stacklevel=3)
    return chip


def hardware_mismatch_message(trained_for: Hardware | None, hardware: Hardware) -> str | None:
    """A warning that a model runs on other hardware than it was trained for, or None.

    Ideal hardware never warns: it computes the network's equations.
    """
    if hardware.is_identity or (
        trained_for is not None and list(trained_for.effects) == list(hardware.effects)
    ):
        return None
    if trained_for is None or trained_for.is_identity:
        return "the model was trained for the ideal network, not for chips"
    other = hardware.name if hardware.name != trained_for.name else ""
    return (
        f"the model was trained for {trained_for.name or 'other chips'}, "
        f"not for {other or 'these chips'}"
    )
