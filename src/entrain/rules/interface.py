"""The interface of a training rule: `Rule` as a value, `Training` when it trains networks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from entrain.data import Dataset, SequenceDataset
from entrain.hardware import Hardware
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules.chip_training import ChipTraining
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.models.teacher import Teacher
    from entrain.rules.external_teacher import ExternalTeacher
    from entrain.rules.training_data import TrainingData

Tensors = dict[str, Tensor]  # by name, each with a leading axis of runs
PerRun = float | tuple[float, ...]


class Training(Protocol):
    """A training in progress of R networks side by side: tensors are (R, ...), metrics (R,)."""

    epochs: int

    def initial(self) -> Tensors:
        """The tensors before the first epoch."""

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        """Mean losses of one pass over the data, `loss` among them; updates `tensors` in place.

        Args:
            tensors: The tensors of `initial`, as they are now.
            epoch: Counted from 0.
        """

    def validate(self, tensors: Tensors) -> Tensors:
        """Metrics on the validation examples.

        Args:
            tensors: The tensors of `initial`, as they are now.
        """

    def merit(self, metrics: Tensors) -> Tensor:
        """Numbers (R, n), compared in order, by which an epoch is selected; larger is better.

        Args:
            metrics: Losses and validation metrics of an epoch.
        """


@dataclass(frozen=True)
class Assignment:
    """Everything a rule needs to train: data on a device, a network, runs and what precedes them.

    Args:
        data: The dataset on a device.
        network: The network to train.
        runs: Training runs side by side.
        seed: Seed of initialisations and of the order of examples.
        teachers: One teacher for all runs, or one for each.
        start: Networks of the rule that this one continues.
        on_progress: Called with the share done, by rules that are one long epoch.
        external: The teacher of rules that name one by `external_teacher`.
    """

    data: TrainingData
    network: NetworkSpec
    runs: tuple[int, ...] = (0,)
    seed: int = 0
    teachers: tuple[Teacher, ...] = ()
    start: Tensors | None = None
    on_progress: Callable[[float], None] | None = None
    external: ExternalTeacher | None = None


class Rule(ABC):
    """A way to train, as a frozen dataclass with a `name`, `epochs` and a `start`.

    `kind` tags it in files; `start` is "zero", "random", or the name of the protocol whose
    networks it continues to train. A new rule is one file with the dataclass and its `Training`,
    and a line in `rules/__init__.py`; `GradientRule` is the base of those that estimate a gradient.
    """

    kind: ClassVar[str]
    name: str
    epochs: int
    start: str

    @property
    def uses_teacher(self) -> bool:
        """True if it learns from a teacher."""
        return False

    @property
    def external_teacher(self) -> str | None:
        """The digest of a teacher from outside that it learns from, if any."""
        digest: str | None = getattr(self, "teacher", None)
        return digest

    @property
    def trains_networks(self) -> bool:
        """True if it trains oscillator networks of this package."""
        return True

    @property
    def is_continuation(self) -> bool:
        """True if it starts from the networks of another protocol."""
        return self.start not in ("zero", "random")

    @property
    def is_prerequisite(self) -> bool:
        """True if other rules need its networks, so that divergence in the first epoch is an
        error."""
        return False

    @property
    def cost(self) -> float:
        """Duration of an epoch relative to one of PATH, for estimates of the time left."""
        return 4.0

    @property
    def dynamics(self) -> Dynamics | None:
        """The dynamics that it needs by default; None for the usual ones."""
        return None

    @property
    def hardware(self) -> Hardware | None:
        """The chips it trains for; None for the ideal network."""
        chips: ChipTraining | None = getattr(self, "chips", None)
        return None if chips is None else chips.hardware

    def gain_of(self, run: int) -> float | None:
        """Gain of the softmax of a run's outputs; None if it trains without one.

        Args:
            run: Index of the run.
        """
        return None

    def with_solver(self, solver: str) -> Self:
        """This rule with Stage I solved exactly or by SGD; itself if it has no Stage I.

        Args:
            solver: "exact" or "sgd".
        """
        return self

    def tuned_for(self, dataset: str, examples: int) -> Self:
        """This rule with the settings tuned for a dataset; itself if there are none.

        Args:
            dataset: Name of the dataset.
            examples: Number of training examples.
        """
        return self

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        """Raise an `InputError` if it cannot train such networks with such teachers.

        Args:
            network: The network to train.
            runs: Training runs side by side.
            teachers: The rules that train the teachers.
        """
        if bool(teachers) != self.uses_teacher:
            wanted = "a teacher" if self.uses_teacher else "no teacher"
            raise InputError(f"{self.name} needs {wanted}, got {len(teachers)}")

    def check_data(self, data: Dataset) -> None:
        """Raise an `InputError` if it cannot train on such data.

        Args:
            data: The dataset.
        """
        if self.uses_teacher and not data.task.has_classes:
            raise InputError(
                f"{self.name} learns a teacher's classes, but the data have "
                f"{data.task.description}; use DIRECT"
            )
        if self.learns_constant_inputs and isinstance(data, SequenceDataset):
            raise InputError(
                f"{self.name} learns from constant inputs, but the data are sequences; use DIRECT"
            )

        has_weights = data.train.weights is not None or data.validation.weights is not None
        if has_weights and not self.weights_examples:
            raise InputError(
                f"{self.name} counts all examples alike, but the data have weights; use DIRECT"
            )

    @property
    def weights_examples(self) -> bool:
        """True if examples may have weights."""
        return False

    @property
    def learns_constant_inputs(self) -> bool:
        """True if inputs in time are beyond it."""
        return True

    def parallel_runs(self, runs: int) -> int:
        """Number of networks trained side by side.

        Args:
            runs: Training runs of the stage.
        """
        return runs

    @abstractmethod
    def training(self, assignment: Assignment) -> Training:
        """The training by this rule.

        Args:
            assignment: Data, network, runs and what precedes them.
        """

    def settings(self) -> dict[str, Any]:
        """Its fields as JSON values."""
        assert is_dataclass(self)
        values = asdict(self)
        if self.hardware is not None:
            values["chips"]["hardware"] = self.hardware.to_json()
        return values

    @classmethod
    def from_settings(cls, values: dict[str, Any]) -> Self:
        """The rule of the fields that `settings` returns.

        Args:
            values: The fields as JSON values.
        """
        if values.get("chips") is not None:
            values = values | {"chips": ChipTraining.from_json(values["chips"])}
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """JSON values that `rules.from_json` turns back into this rule."""
        return {"rule": self.kind, **self.settings()}


def values_per_run(value: PerRun) -> list[float]:
    """The numbers of a setting that may differ per run: one for all runs, or one for each."""
    return list(value) if isinstance(value, tuple) else [value]


def per_run(name: str, value: PerRun, runs: int) -> list[float]:
    """`value` for each of `runs` runs; a tuple must have exactly that many numbers."""
    _check_count(name, value, runs)
    return list(value) if isinstance(value, tuple) else [value] * runs


def _check_count(name: str, value: PerRun, runs: int) -> None:
    """Raise an `InputError` unless `value` is one number or `runs` numbers."""
    if isinstance(value, tuple) and len(value) != runs:
        raise InputError(f"{name} must be one number or {runs}, one per run; got {len(value)}")


def check_per_run(rule: object, runs: int) -> None:
    """Raise an `InputError` if a field of `rule` holds another number of values than `runs`."""
    assert is_dataclass(rule)
    for field in fields(rule):
        if field.type == "PerRun":  # no list is made: files may claim any number of runs
            _check_count(field.name, getattr(rule, field.name), runs)


def check_chips(chips: object) -> None:
    """Raise an `InputError` unless the field `chips` of a rule is a `ChipTraining` or None."""
    if not isinstance(chips, ChipTraining | None):
        raise InputError(f"chips must be a ChipTraining, got {chips!r}")


def shuffled(stream: str, seed: int, runs: tuple[int, ...], epoch: int, count: int) -> Tensor:
    """Permutations (R, count) of the examples, a pure function of (stream, seed, run, epoch)."""
    distinct = tuple(dict.fromkeys(runs))  # the settings of a search have one run
    seeds = _seed_sequences(stream, seed, distinct, epoch)
    rows = {
        run: np.random.default_rng(sequence).permutation(count)
        for run, sequence in zip(distinct, seeds, strict=True)
    }
    return torch.from_numpy(np.stack([rows[run] for run in runs]))


def generators(
    stream: str, seed: int, runs: tuple[int, ...], epoch: int, device: torch.device
) -> list[torch.Generator]:
    """A generator for each run, a pure function of (stream, seed, run, epoch)."""
    seeds = _seed_sequences(stream, seed, runs, epoch)
    words = [int(each.generate_state(1, np.uint64)[0]) for each in seeds]
    return [torch.Generator(device).manual_seed(word) for word in words]


def _seed_sequences(
    stream: str, seed: int, runs: tuple[int, ...], epoch: int
) -> list[np.random.SeedSequence]:
    tag = int.from_bytes(stream.encode(), "little")
    return [np.random.SeedSequence([tag, seed, run, epoch]) for run in runs]
