"""Base of the rules that estimate a gradient and step with AdamW."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from entrain.data import Dataset, SequenceDataset
from entrain.physics import NetworkSpec
from entrain.physics.network_spec import TRAINED
from entrain.rules.augmentation import Augmentation
from entrain.rules.chip_training import ChipTraining
from entrain.rules.class_weights import check_class_weights
from entrain.rules.gradient_training import HIDDEN_COUPLINGS, GradientTraining
from entrain.rules.input_distortions import InputDistortions
from entrain.rules.interface import (
    Assignment,
    PerRun,
    Rule,
    check_chips,
    check_per_run,
    values_per_run,
)
from entrain.utils.errors import InputError, check_ranges, one_of, store_plain_numbers, unknown_name

GradientStart = Literal["random", "zero", "PATH", "TWO-STAGE-END", "GIVEN"]
_IN_TIME = ("time_shift", "time_stretch")
_REMOVED = ("distillation", "second_order_steps")  # off in files of rules that had them


@dataclass(frozen=True)
class GradientRule(Rule):
    r"""AdamW on an estimate of the gradient of a task's loss.

    Rates rise linearly, then fall to zero as a cosine. The gradients of each run are clipped, of
    couplings those of the whole matrix. Validation uses the running mean of the parameters, whose
    decay is (1 + k) / (10 + k) after k steps, at most `averaging`. A rule of its own is a frozen
    dataclass with a `kind` and a `training_class`, a `GradientTraining` with the estimate.

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
        class_weights: Weight of each class in the loss and in the accuracy that selects the epoch.
        chips: Imperfect chips to train for.
        frozen: Tensors that keep their initial values: "input_weights", "biases", "couplings" or
            "hidden_couplings", those between hidden oscillators.
        validation_interval: Epochs from one validation to the next; 0 validates after each.
        patience: The training ends when neither accuracy nor cross-entropy of the validation have
            become better for so many epochs; 0 trains for all epochs.
        input_noise: Standard deviation of noise on the inputs of a step, over their root mean
            square.
        time_shift: Most that sequences are moved in time, over their length.
        time_stretch: Most that sequences are slowed down or sped up, as a share.
    """

    name: str
    start: GradientStart = "random"
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
    class_weights: tuple[float, ...] | None = None
    chips: ChipTraining | None = None
    frozen: tuple[str, ...] = ()
    validation_interval: int = 0
    patience: int = 0
    input_noise: float = 0.0
    time_shift: float = 0.0
    time_stretch: float = 0.0

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        one_of("start", self.start, GradientStart)
        check_ranges(
            self,
            whole=("epochs", "batch_size", "coarse_steps"),
            positive=("input_rate", "coupling_rate", "gain", "clip"),
            non_negative=("weight_decay", "initial_couplings", "initial_weights", "input_noise"),
            shares=("smoothing", "warm_up", "averaging", *_IN_TIME),
        )
        for name in ("fine_epochs", "unaugmented_epochs", "validation_interval", "patience"):
            check_count(name, getattr(self, name))
        if not isinstance(self.augmentation, Augmentation):
            raise InputError(f"augmentation must be an Augmentation, got {self.augmentation!r}")
        for name in ("warm_up", "averaging"):
            if getattr(self, name) == 1:
                raise InputError(f"{name} must be from 0 to below 1, got {getattr(self, name)!r}")
        check_chips(self.chips)
        if self.class_weights is not None:
            check_class_weights(self.class_weights)
        for name in self.frozen:
            if name not in (*TRAINED, HIDDEN_COUPLINGS):
                raise unknown_name("frozen tensor", str(name), (*TRAINED, HIDDEN_COUPLINGS))

    @property
    @abstractmethod
    def training_class(self) -> type[GradientTraining]:
        """The training with this rule's gradient."""

    @classmethod
    def from_settings(cls, values: dict[str, Any]) -> Self:
        """The rule of the fields that `settings` returns.

        Args:
            values: The fields as JSON values.
        """
        distortions = values.get("augmentation", {})
        if not isinstance(distortions, dict):
            raise InputError(f"augmentation must be its fields by name, got {distortions!r}")
        off = [name for name in _REMOVED if not hasattr(cls, name) and values.get(name) == 0]
        known = {name: value for name, value in values.items() if name not in off}
        return super().from_settings(known | {"augmentation": Augmentation(**distortions)})

    @property
    def input_distortions(self) -> InputDistortions:
        """The distortions of the inputs of a step."""
        return InputDistortions(self.input_noise, self.time_shift, self.time_stretch)

    def gain_of(self, run: int) -> float:
        values = values_per_run(self.gain)
        return values[run if len(values) > 1 else 0]

    def for_chips(self, training: ChipTraining, dataset: str) -> Self:
        """This rule for imperfect chips.

        Args:
            training: How to train for which chips.
            dataset: Name of the dataset.
        """
        return replace(self, chips=training)

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        super().check(network, runs, teachers)
        check_per_run(self, runs)

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

    def training(self, assignment: Assignment) -> GradientTraining:
        return self.training_class(self, **self._arguments(assignment))

    def _arguments(self, assignment: Assignment) -> dict[str, Any]:
        """Arguments of the `training_class`."""
        data = assignment.data
        is_plain = self.augmentation.is_identity
        train, validation = (data.train, data.validation) if is_plain else data.images
        return {
            "train": train,
            "validation": validation,
            "network": assignment.network,
            "task": data.task,
            "seed": assignment.seed,
            "runs": assignment.runs,
            "start": assignment.start,
        }


def check_count(name: str, value: object) -> None:
    """Raise an `InputError` unless `value` is a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{name} must be a non-negative whole number, got {value!r}")


def small_batch(examples: int) -> int:
    """Batch size for so many training examples."""
    return min(256, max(16, examples // 20))
