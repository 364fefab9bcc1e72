"""A trained model as one chip runs it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from entrain.data import Split
from entrain.evaluation import check_finite, evaluate
from entrain.evaluation.chips import scores_on_chips
from entrain.hardware import Chip, Hardware
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.models.model import Model


@dataclass(frozen=True)
class ModelOnChip:
    """A model as one chip runs it; the noise of a run is drawn by `noise_seed`.

    Its methods are those of `Model`. Of outputs that the chip reads alike the first is the answer.
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
        """Predicted class indices (n,)."""
        return np.asarray(self.scores(pixels).argmax(-1).cpu())

    def probabilities(self, pixels: np.ndarray) -> Tensor:
        """Class probabilities (n, O) that belong to the chip's scores, by the model's gain."""
        return self.model.probabilities_of(self.scores(pixels))

    def rejected(self, pixels: np.ndarray) -> np.ndarray:
        """Which of the chip's answers should not be believed (n,), by the model's reject option."""
        return np.array([reason is not None for reason in self.reject_reasons(pixels)], dtype=bool)

    def reject_reasons(self, pixels: np.ndarray) -> list[str | None]:
        """Why each of the chip's answers is unsure, None where it is sure."""
        return self.model.reject_reasons(pixels, self.scores(pixels))

    def evaluate(self, split: Split, *, unseen: bool = True) -> dict[str, float]:
        """Metrics on labelled images, as `Model.evaluate`, on this chip."""
        inputs, labels = self.model.examples(split, unseen=unseen)
        teacher = self.model.teacher
        targets = None if teacher is None else teacher.targets(inputs)
        return evaluate(self._scores(inputs), labels, targets)

    def _scores(self, inputs: Tensor) -> Tensor:
        found = scores_on_chips(
            self.model.one_run(),
            self.chip.hardware,
            [self.chip.seed],
            inputs,
            self.model.network.dynamics,
            noise_seed=self.noise_seed,
        )
        return found[0, 0]


def chip_of(chip: Chip | int, own: Hardware | None) -> Chip:
    """`chip`, or the chip of this seed of the kind `own` that a network was trained for."""
    if isinstance(chip, Chip):
        return chip
    if isinstance(chip, bool) or not isinstance(chip, Integral):
        raise TypeError(
            f"expected a chip, as hardware.sample(seed) gives it, or the seed of one, got {chip!r}"
        )
    if own is None:
        raise InputError(
            "the model was not trained for a kind of chip, so that a seed alone names none; give a "
            f"chip, such as entrain.hardware.preset('typical').sample({chip})"
        )
    return own.sample(int(chip))


def hardware_mismatch_message(own: Hardware | None, kind: Hardware) -> str | None:
    """What to say of a model trained for `own` on chips of `kind`; None where there is nothing.

    An ideal chip is no other kind: it does what the network's equations say.
    """
    if kind.is_identity or (own is not None and list(own.effects) == list(kind.effects)):
        return None
    if own is None or own.is_identity:
        return "the model was trained for the ideal network, not for chips"
    other = kind.name if kind.name != own.name else ""
    return (
        f"the model was trained for {own.name or 'another kind of chip'}, "
        f"not for {other or 'these chips'}"
    )
