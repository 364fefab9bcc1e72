"""DIRECT: the exact gradient of the loss, and the settings tuned for datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from entrain.data import DATASETS, Dataset
from entrain.physics import NetworkSpec
from entrain.rules.augmentation import Augmentation
from entrain.rules.chip_training import ChipTraining
from entrain.rules.direct_training import DirectTraining
from entrain.rules.distillation import logits_of_images, signed_outputs, teacher_logits
from entrain.rules.gradient_rule import GradientRule, check_count, small_batch
from entrain.rules.interface import Assignment, Rule
from entrain.utils.errors import InputError, check_ranges


@dataclass(frozen=True)
class Direct(GradientRule):
    r"""The exact gradient of the cross-entropy of softmax(gain cos theta_out(t_f)) with the labels,
    or of the loss of another task.

    Args:
        name, start, epochs, batch_size, input_rate, coupling_rate: See `GradientRule`.
        weight_decay, gain, smoothing, warm_up, clip, averaging: See `GradientRule`.
        coarse_steps, fine_epochs, initial_couplings, initial_weights: See `GradientRule`.
        augmentation, unaugmented_epochs, class_weights, chips, frozen: See `GradientRule`.
        validation_interval, patience, input_noise, time_shift, time_stretch: See `GradientRule`.
        distillation: Share of a teacher in the loss, from 0 to 1.
        temperature: T: the loss of the teacher is the cross-entropy with softmax(logits / T) of
            its logits, for distorted images too; 0 takes the squared distance of cos theta_out
            from the teacher's signed outputs, of undistorted images.
        teacher: Digest of a teacher from outside, see `entrain.train`; None for a `TeacherSpec`.
        second_order_steps: Steps of order 2, those of Adams and Bashforth, in place of all coarse
            and fine ones where the compiled CPU kernels train; 0 takes Euler's steps everywhere.

    Examples:
        >>> entrain.Direct(epochs=10, gain=8.0).epochs
        10
    """

    kind: ClassVar[str] = "direct"

    name: str = "DIRECT"
    distillation: float = 0.0
    temperature: float = 0.0
    teacher: str | None = None
    second_order_steps: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranges(self, shares=("distillation",), non_negative=("temperature",))
        check_count("second_order_steps", self.second_order_steps)
        if not isinstance(self.teacher, str | None):
            raise InputError(f"teacher must be the digest of one, got {self.teacher!r}")
        if self.distillation and not self.temperature and not self.augmentation.is_identity:
            raise InputError(
                "a teacher's signed outputs belong to undistorted images: choose distillation at a "
                "temperature, such as temperature=2, or no augmentation"
            )

    @property
    def uses_teacher(self) -> bool:
        """True if a teacher of the recipe is distilled."""
        return self.distillation > 0 and self.teacher is None

    def tuned_for(self, dataset: str, examples: int) -> Direct:
        rule = tuned(self, dataset)
        if dataset == "digits":  # 1,197 images: small batches, or there are few steps
            return replace(rule, batch_size=32, epochs=60)
        return rule if dataset in DATASETS else replace(rule, **small_set(examples))

    def for_chips(self, training: ChipTraining, dataset: str) -> Direct:
        """This rule for imperfect chips, with gentler distortions on datasets where those tuned
        for the ideal network leave too little room for imperfections.

        Args:
            training: How to train for which chips.
            dataset: Name of the dataset.
        """
        usual, gentle = (
            table.get(dataset.removesuffix("-small")) for table in (_AUGMENTATION, _ON_CHIPS)
        )
        distortions = gentle if gentle and self.augmentation == usual else self.augmentation
        rule = replace(self, chips=training, augmentation=distortions)
        if training.hardware.is_identity or not rule.second_order_steps:
            return rule
        return replace(rule, **_slow_set(rule))

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        super().check(network, runs, teachers)
        if len(teachers) > 1:
            raise InputError(f"{self.name} distils one teacher, got {len(teachers)}")

    def check_data(self, data: Dataset) -> None:
        super().check_data(data)
        for name in ("temperature", "teacher"):
            if getattr(self, name) and not self.distillation:
                raise InputError(
                    f"{self.name}: {name} has no effect without distillation, the share of a "
                    "teacher in the loss"
                )

    @property
    def learns_constant_inputs(self) -> bool:
        return False

    @property
    def training_class(self) -> type[DirectTraining]:
        return DirectTraining

    def _arguments(self, assignment: Assignment) -> dict[str, Any]:
        arguments = super()._arguments(assignment)
        if not self.distillation:
            return arguments
        if not self.temperature:
            return arguments | {"teacher_outputs": signed_outputs(assignment)}
        if self.augmentation.is_identity:
            return arguments | {"teacher_logits": teacher_logits(assignment)}
        return arguments | {"logits_of_images": logits_of_images(assignment)}


DIRECT_PROTOCOLS: dict[str, Direct] = {
    p.name: p
    for p in (
        Direct(),
        Direct("DIRECT-FROM-PATH", "PATH"),
        Direct("DIRECT-FROM-TWO-STAGE", "TWO-STAGE-END"),
    )
}

# Chosen on validation accuracy at 74 oscillators, from grids of rates, gains, starts and
# augmentations of 30 to 60 epochs.
_AUGMENTATION = {
    "mnist": Augmentation(shift=1.5, rotation=8.0, scale=0.1, shear=3.0, elastic=0.5),
    "fashion-mnist": Augmentation(shift=0.7, rotation=2.0, scale=0.03, flip=True),
}

# Chosen on validation accuracy over 50 chips of `typical`, of `lo-2023` and with a tenth of the
# couplers dead: results/hardware-trials.json.
_ON_CHIPS = {"mnist": Augmentation(shift=1.0, rotation=5.0, scale=0.07, shear=2.0, elastic=0.3)}


def augmentation_of(dataset: str) -> Augmentation:
    """Distortions tuned for a dataset; none for other data.

    Args:
        dataset: Name of the dataset.
    """
    return _AUGMENTATION.get(dataset.removesuffix("-small"), Augmentation())


def tuned(protocol: Direct, dataset: str, *, epochs: int = 150, augmented: bool = True) -> Direct:
    """`protocol` with the settings tuned for MNIST and Fashion-MNIST (and their small parts).

    Without augmentation training is a fifth as long: a longer one overfits.
    """
    rule = replace(
        protocol,
        epochs=epochs,
        input_rate=1e-2,
        coupling_rate=3e-2,
        gain=6.0,
        initial_weights=0.5,
        fine_epochs=max(1, epochs // 40),
    )
    distortions = _AUGMENTATION.get(dataset.removesuffix("-small"))
    if distortions is None or not augmented:
        fine = max(1, epochs // 100)
        return replace(rule, epochs=max(1, epochs // 5), fine_epochs=fine, weight_decay=1.0)
    return replace(rule, augmentation=distortions, unaugmented_epochs=max(1, epochs // 20))


# Steps of AdamW on a user's own data, chosen by benchmarks/own_data_defaults.py.
_STEPS, _STEPS_TO_VALIDATION = 1000, 40
_LEAST_EPOCHS, _MOST_EPOCHS = 20, 200
_PATIENCE = 120  # steps, and more the more rows: their accuracy still rises as rates fall


def small_set(examples: int, batch_size: int | None = None) -> dict[str, Any]:
    """Fields for a user's own data: small batches, at most about `_STEPS` steps, fewer if the
    validation cross-entropy stops falling, and a decay against overfitting few rows."""
    batch = batch_size or small_batch(examples)
    steps = math.ceil(examples / batch)
    epochs = min(_MOST_EPOCHS, max(_LEAST_EPOCHS, _STEPS // steps))
    return {
        "batch_size": batch,
        "epochs": epochs,
        "fine_epochs": max(1, epochs // 20),
        "weight_decay": 2.0,
        "averaging": 0.99,
        "second_order_steps": 16,
        "validation_interval": math.ceil(_STEPS_TO_VALIDATION / steps),
        "patience": max(math.ceil(_PATIENCE / steps), examples // 20),
    }


def _slow_set(rule: Direct) -> dict[str, Any]:
    """Fields of a rule of `small_set` for imperfect chips, which take all steps and more of them:
    imperfections grow and couplers are removed on the way."""
    epochs = min(_MOST_EPOCHS, 3 * rule.epochs)
    off = dict.fromkeys(("second_order_steps", "validation_interval", "patience"), 0)
    fine = {"fine_epochs": max(1, epochs // 20), "averaging": 0.999, "weight_decay": 10.0}
    return {"epochs": epochs, **off, **fine}
