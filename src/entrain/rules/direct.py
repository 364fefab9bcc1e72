"""DIRECT: AdamW on the cross-entropy with the labels, and the settings tuned for datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from entrain.data import DATASETS, Dataset, SequenceDataset
from entrain.physics import NetworkSpec
from entrain.physics.network_spec import TRAINED
from entrain.rules.augmentation import Augmentation
from entrain.rules.chip_training import ChipTraining
from entrain.rules.class_weights import check_class_weights
from entrain.rules.direct_task import DirectTask
from entrain.rules.input_distortions import InputDistortions
from entrain.rules.interface import (
    Assignment,
    PerRun,
    Rule,
    Task,
    check_chips,
    check_per_run,
    values_per_run,
)
from entrain.utils.errors import InputError, check_ranges, one_of, store_plain_numbers, unknown_name

_COUNTS = (
    "fine_epochs",
    "unaugmented_epochs",
    "second_order_steps",
    "validation_interval",
    "patience",
)
_IN_TIME = ("time_shift", "time_stretch")
DirectStart = Literal["random", "zero", "PATH", "TWO-STAGE-END", "GIVEN"]


@dataclass(frozen=True)
class Direct(Rule):
    r"""AdamW on the cross-entropy of softmax(gain cos theta_out(t_f)) with the labels.

    Rates rise linearly, then fall to zero as a cosine. The gradients of each run are clipped, of
    couplings those of the whole matrix. Validation uses the running mean of the parameters, whose
    decay is (1 + k) / (10 + k) after k steps, at most `averaging`.

    Args:
        name: Name of the protocol.
        start: "random" couplings and input weights, exact "zero", or the protocol to continue.
        epochs: Passes over the training examples.
        batch_size: Examples of a step.
        input_rate: Learning rate of input weights; like all rates, one number or one per run.
        coupling_rate: Learning rate of everything else.
        weight_decay: Decoupled decay of the input weights.
        gain: Factor of cos theta_out in the softmax.
        smoothing: Label smoothing, from 0 to 1.
        warm_up: Share of the steps in which rates rise.
        clip: Largest norm of the gradients of a run.
        averaging: Largest decay of the running mean; 0 switches it off.
        coarse_steps: Euler steps of all but the last `fine_epochs` epochs; validation always uses
            those of the network.
        fine_epochs: Epochs at the end with the network's own Euler steps.
        initial_couplings: Standard deviation of random couplings.
        initial_weights: Standard deviation of random input weights, times the root of the number
            of inputs.
        augmentation: Distortions of training images.
        unaugmented_epochs: Epochs at the end without distortions; mirroring continues.
        distillation: Share of the squared distance of cos theta_out from a teacher's signed
            outputs in the loss; 1 is the endpoint loss alone.
        class_weights: Weight of each class in the loss and in the accuracy that selects the epoch.
        chips: Imperfect chips to train for.
        frozen: Tensors that keep their initial values, such as "couplings".
        second_order_steps: Steps of order 2, those of Adams and Bashforth, in place of all coarse
            and fine ones where the compiled CPU kernels train; 0 takes Euler's steps everywhere.
        validation_interval: Epochs from one validation to the next; 0 validates after each.
        patience: The training ends when neither accuracy nor cross-entropy of the validation have
            become better for so many epochs; 0 trains for all epochs.
        input_noise: Standard deviation of noise on the inputs of a step, over their root mean
            square.
        time_shift: Most that sequences are moved in time, over their length.
        time_stretch: Most that sequences are slowed down or sped up, as a share.
    """

    kind: ClassVar[str] = "direct"

    name: str = "DIRECT"
    start: DirectStart = "random"
    epochs: int = 150
    batch_size: int = 256
    input_rate: PerRun = 3e-3
    coupling_rate: PerRun = 2e-2
    weight_decay: PerRun = 0.0
    gain: PerRun = 8.0
    smoothing: PerRun = 0.0
    warm_up: float = 0.03
    clip: float = 1.0
    averaging: float = 0.999
    coarse_steps: int = 50
    fine_epochs: int = 5
    initial_couplings: PerRun = 0.3
    initial_weights: PerRun = 0.3
    augmentation: Augmentation = field(default_factory=Augmentation)
    unaugmented_epochs: int = 0
    distillation: float = 0.0
    class_weights: tuple[float, ...] | None = None
    chips: ChipTraining | None = None
    frozen: tuple[str, ...] = ()
    second_order_steps: int = 0
    validation_interval: int = 0
    patience: int = 0
    input_noise: float = 0.0
    time_shift: float = 0.0
    time_stretch: float = 0.0

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        one_of("start", self.start, DirectStart)
        check_ranges(
            self,
            whole=("epochs", "batch_size", "coarse_steps"),
            positive=("input_rate", "coupling_rate", "gain", "clip"),
            non_negative=("weight_decay", "initial_couplings", "initial_weights", "input_noise"),
            shares=("smoothing", "distillation", "warm_up", "averaging", *_IN_TIME),
        )
        for name in _COUNTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"{name} must be a non-negative whole number, got {value!r}")
        if not isinstance(self.augmentation, Augmentation):
            raise InputError(f"augmentation must be an Augmentation, got {self.augmentation!r}")
        if self.distillation and not self.augmentation.is_identity:
            raise InputError(
                "a teacher's targets belong to undistorted images: choose distillation or "
                "augmentation"
            )
        for name in ("warm_up", "averaging"):
            if getattr(self, name) == 1:
                raise InputError(f"{name} must be from 0 to below 1, got {getattr(self, name)!r}")
        check_chips(self.chips)
        if self.class_weights is not None:
            check_class_weights(self.class_weights)
        for name in self.frozen:
            if name not in TRAINED:
                raise unknown_name("frozen tensor", str(name), TRAINED)

    @classmethod
    def from_settings(cls, values: dict[str, Any]) -> Direct:
        """The rule of the fields that `settings` returns.

        Args:
            values: The fields as JSON values.
        """
        distortions = values.get("augmentation", {})
        if not isinstance(distortions, dict):
            raise InputError(f"augmentation must be its fields by name, got {distortions!r}")
        return super().from_settings(values | {"augmentation": Augmentation(**distortions)})

    @property
    def input_distortions(self) -> InputDistortions:
        """The distortions of the inputs of a step."""
        return InputDistortions(self.input_noise, self.time_shift, self.time_stretch)

    @property
    def uses_teacher(self) -> bool:
        """True if a teacher is distilled."""
        return self.distillation > 0

    def gain_of(self, run: int) -> float:
        values = values_per_run(self.gain)
        return values[run if len(values) > 1 else 0]

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
        check_per_run(self, runs)

    @property
    def learns_constant_inputs(self) -> bool:
        return False

    @property
    def weights_examples(self) -> bool:
        return True

    def check_data(self, data: Dataset) -> None:
        super().check_data(data)
        if self.class_weights is not None and not data.task.has_classes:
            raise InputError(
                f"class_weights are of classes, but the data have {data.task.description}"
            )
        for name in _IN_TIME:
            if getattr(self, name) and not isinstance(data, SequenceDataset):
                raise InputError(f"{name} is of sequences, but {data.name} has constant inputs")

    def task(self, assignment: Assignment) -> Task:
        data, targets = assignment.data, None
        plain = self.augmentation.is_identity
        train, validation = (data.train, data.validation) if plain else data.images
        if self.uses_teacher:
            targets = assignment.teachers[0].targets(train.all_inputs()).float()
        return self._task_class(
            self,
            train,
            validation,
            assignment.network,
            data.task,
            teacher_outputs=targets,
            seed=assignment.seed,
            runs=assignment.runs,
            start=assignment.start,
        )

    @property
    def _task_class(self) -> type[DirectTask]:
        return DirectTask


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


def small_batch(examples: int) -> int:
    """Batch size for so many training examples."""
    return min(256, max(16, examples // 20))


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
