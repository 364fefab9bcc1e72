"""TwoStage DIRECT as a value: learning from labels alone, and what suits which data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from entrain.data import DATASETS
from entrain.hardware import Hardware
from entrain.physics import NetworkSpec
from entrain.physics.network_spec import TRAINED
from entrain.rules.augmentation import Augmentation
from entrain.rules.chip_training import ChipTraining, chips_of, settings_with_chips
from entrain.rules.interface import (
    Assignment,
    PerRun,
    Rule,
    Task,
    check_per_run,
    one_of,
    values_per_run,
)
from entrain.utils.errors import (
    InputError,
    positive_float,
    positive_int,
    store_plain_numbers,
    unknown_name,
)

DirectStart = Literal["random", "zero", "PATH", "TWO-STAGE-END", "GIVEN"]


@dataclass(frozen=True)
class Direct(Rule):
    r"""Cross-entropy of softmax(gain cos theta_out(t_f)) with the labels, by AdamW.

    Input weights learn at `input_rate`, biases and couplings at `coupling_rate`; both rise
    linearly over `warm_up` of all steps and fall to zero as a cosine. Gradients are clipped to the
    norm `clip` per run (of the coupling matrix, both triangles). What is validated and kept is the
    running mean of the weights (decay `averaging` a step, less at first: (1 + k) / (10 + k) after
    k steps; 0 is the weights themselves). All but the last `fine_epochs` epochs run
    with `coarse_steps` Euler steps, the rest and every validation with the network's own.
    `start` is small random couplings (`initial_couplings`, `initial_weights` are their standard
    deviations, the latter over the root of the inputs' number), exact zero, or another protocol's
    network. `distillation` is the share of the squared distance of cos theta_out from a teacher's
    signed outputs in the loss, the rest being the cross-entropy; 1 is the endpoint loss alone.
    Rates, gain and the like may differ per run. With `class_weights` w, one for each class, the
    loss is the mean of w_y l over the examples, over the mean of w_y; the epoch is then chosen by
    the share of weight that is classified correctly. With `chips` it is trained for imperfect
    hardware (`ChipTraining`). `frozen` names what stays as it began, such as "couplings".
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
    unaugmented_epochs: int = 0  # at the end; mirroring goes on
    distillation: float = 0.0
    class_weights: tuple[float, ...] | None = None
    chips: ChipTraining | None = None
    frozen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        one_of("start", self.start, DirectStart)
        for name in ("epochs", "batch_size", "coarse_steps"):
            positive_int(name, getattr(self, name))
        for name in ("input_rate", "coupling_rate", "gain"):
            for value in values_per_run(getattr(self, name)):
                positive_float(name, value)
        for name in ("weight_decay", "smoothing", "initial_couplings", "initial_weights"):
            for value in values_per_run(getattr(self, name)):
                positive_float(name, value, zero=True)
        positive_float("clip", self.clip)
        for name in ("fine_epochs", "unaugmented_epochs"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(f"{name} must be a whole number from 0 on, got {value!r}")
        for value in values_per_run(self.smoothing):
            if value > 1:
                raise InputError(f"smoothing must be from 0 to 1, got {value!r}")
        if not 0 <= positive_float("distillation", self.distillation, zero=True) <= 1:
            raise InputError(f"distillation must be from 0 to 1, got {self.distillation!r}")
        if not isinstance(self.augmentation, Augmentation):
            raise InputError(f"augmentation must be an Augmentation, got {self.augmentation!r}")
        if self.distillation and not self.augmentation.is_identity:
            raise InputError(
                "a teacher's targets belong to undistorted images: choose distillation or "
                "augmentation"
            )
        for name in ("warm_up", "averaging"):
            if not 0 <= positive_float(name, getattr(self, name), zero=True) < 1:
                raise InputError(f"{name} must be from 0 to below 1, got {getattr(self, name)!r}")
        if self.chips is not None and not isinstance(self.chips, ChipTraining):
            raise InputError(f"chips must be a ChipTraining, got {self.chips!r}")
        if self.class_weights is not None:
            _check_weights(self.class_weights)
        for each in self.frozen:
            if each not in TRAINED:
                raise unknown_name("frozen tensor", str(each), TRAINED)

    @classmethod
    def from_settings(cls, values: dict[str, Any]) -> Direct:
        """The protocol with these fields; the augmentation's are a dictionary of its own."""
        distorted = values.get("augmentation", {})
        if not isinstance(distorted, dict):
            raise InputError(f"augmentation must be its fields by name, got {distorted!r}")
        return cls(**values | {"augmentation": Augmentation(**distorted)} | chips_of(values))

    def settings(self) -> dict[str, Any]:
        """Its fields as JSON values, without chips that are not there: files are as they were."""
        return settings_with_chips(self)

    @property
    def uses_teacher(self) -> bool:
        """Where a teacher is distilled."""
        return self.distillation > 0

    @property
    def hardware(self) -> Hardware | None:
        """That of its chips."""
        return None if self.chips is None else self.chips.hardware

    def gain_of(self, run: int) -> float:
        """The gain of a run."""
        values = values_per_run(self.gain)
        return values[run if len(values) > 1 else 0]

    def tuned_for(self, dataset: str, examples: int) -> Direct:
        """With the settings found for the datasets of the package, or for `examples` of others."""
        found = tuned(self, dataset)
        if dataset == "digits":  # 1,197 images: small batches, or there are few steps
            return replace(found, batch_size=32, epochs=60)
        return found if dataset in DATASETS else replace(found, **small_set(examples))

    def for_chips(self, training: ChipTraining, dataset: str) -> Direct:
        """Trained for chips, with gentler distortions where those of the ideal network were found
        to leave too little room for the chips' imperfections."""
        usual, gentle = (
            each.get(dataset.removesuffix("-small")) for each in (_AUGMENTATION, _ON_CHIPS)
        )
        distorted = gentle if gentle and self.augmentation == usual else self.augmentation
        return replace(self, chips=training, augmentation=distorted)

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        """One teacher at most, and as many rates as runs."""
        super().check(network, runs, teachers)
        if len(teachers) > 1:
            raise InputError(f"{self.name} distils one teacher, got {len(teachers)}")
        check_per_run(replace(self, class_weights=None), runs)

    def task(self, assignment: Assignment) -> Task:
        """AdamW on the cross-entropy."""
        from entrain.rules.direct_task import DirectTask

        return DirectTask(*self.on_examples(assignment), **self.for_runs(assignment))

    def on_examples(self, assignment: Assignment) -> tuple[Any, ...]:
        """What a task of this rule learns from: itself, examples, a network, its outputs."""
        data = assignment.data
        train, validation = data.train, data.validation
        if not self.augmentation.is_identity:
            train, validation = data.images
        return self, train, validation, assignment.network, data.outputs

    def for_runs(self, assignment: Assignment) -> dict[str, Any]:
        """What decides the runs of a task of this rule."""
        targets = None
        if self.uses_teacher:
            _, train, *_ = self.on_examples(assignment)
            targets = assignment.teachers[0].targets(train.all_inputs()).float()
        return {
            "teacher_outputs": targets,
            "seed": assignment.seed,
            "runs": assignment.runs,
            "start": assignment.start,
        }


def class_weights_of(
    given: str | Mapping[Any, float] | None, labels: np.ndarray, names: Sequence[str]
) -> tuple[float, ...] | None:
    """Weights of the classes `names`, as scikit-learn has them: "balanced" is the number of
    examples over (classes times examples of the class), a mapping gives those that are not 1."""
    if given is None:
        return None
    if isinstance(given, str):
        if given != "balanced":
            raise InputError(
                f"class_weight must be 'balanced' or weights by class name, got {given!r}"
            )
        counts = np.bincount(labels, minlength=len(names))
        return tuple((len(labels) / (len(names) * np.maximum(counts, 1))).tolist())
    weights = {str(name): weight for name, weight in given.items()}
    for name in weights:
        if name not in names:
            raise unknown_name("class in class_weight", name, names)
    return tuple(
        positive_float("class_weight", weights.get(name, 1.0), zero=True) for name in names
    )


def _check_weights(weights: object) -> None:
    if not isinstance(weights, tuple) or not weights:
        raise InputError(f"class_weights must be numbers, one for each class, got {weights!r}")
    if not sum(positive_float("class_weights", weight, zero=True) for weight in weights):
        raise InputError(f"class_weights must not all be 0, got {weights!r}")


DIRECT_PROTOCOLS: dict[str, Direct] = {
    protocol.name: protocol
    for protocol in (
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
    """`protocol` with the settings found for MNIST and Fashion-MNIST (and their small parts).

    Without augmentation training is a fifth as long: a longer one overfits.
    """
    found = replace(
        protocol,
        epochs=epochs,
        input_rate=1e-2,
        coupling_rate=3e-2,
        gain=6.0,
        initial_weights=0.5,
        fine_epochs=max(1, epochs // 40),
    )
    distorted = _AUGMENTATION.get(dataset.removesuffix("-small"))
    if distorted is None or not augmented:
        fine = max(1, epochs // 100)
        return replace(found, epochs=max(1, epochs // 5), fine_epochs=fine, weight_decay=1.0)
    return replace(found, augmentation=distorted, unaugmented_epochs=max(1, epochs // 20))


def small_batch(examples: int) -> int:
    """A batch size for so many examples."""
    return min(256, max(16, examples // 20))


def small_set(examples: int, batch_size: int | None = None) -> dict[str, Any]:
    """Fields for a user's own data: batches and epochs for about 3,000 steps, and a decay against
    overfitting few rows."""
    batch = batch_size or small_batch(examples)
    epochs = min(200, max(20, 3000 * batch // examples))
    fine = max(1, epochs // 20)
    return {"batch_size": batch, "epochs": epochs, "fine_epochs": fine, "weight_decay": 10.0}
