"""What a training rule is, to everything that does not want to know which one it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from entrain.hardware import Hardware
from entrain.physics import Dynamics, NetworkSpec
from entrain.utils.errors import InputError
from entrain.utils.errors import one_of as one_of

if TYPE_CHECKING:
    from entrain.models.teacher import Teacher
    from entrain.rules.training_data import TrainingData

Tensors = dict[str, Tensor]  # by name, each with a leading axis of runs
PerRun = float | tuple[float, ...]


class Task(Protocol):
    """A rule at work on data: tensors are (R, ...), metrics (R,)."""

    epochs: int

    def initial(self) -> Tensors:
        """The tensors before the first epoch."""

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        """Update `tensors` in place over one pass of the data; the mean losses, with `loss`."""

    def validate(self, tensors: Tensors) -> Tensors:
        """Metrics on the validation set."""

    def merit(self, metrics: Tensors) -> Tensor:
        """(R, n) numbers, compared in order, larger is better: how an epoch is selected."""


@dataclass(frozen=True)
class Assignment:
    """What a rule is given to train: data on a device, a network, teachers, a start, runs."""

    data: TrainingData
    network: NetworkSpec
    runs: tuple[int, ...] = (0,)
    seed: int = 0
    teachers: tuple[Teacher, ...] = ()  # one for all runs, or one for each
    start: Tensors | None = None  # the networks that it goes on from
    on_progress: Callable[[float], None] | None = None  # of a rule that is one long epoch


class Rule(ABC):
    """A way to train, as a frozen dataclass with a `name`, `epochs` and a `start`.

    `kind` tags it in files; `start` is "zero", "random", or the name of the protocol whose
    networks it goes on from. A new rule is one file: a dataclass, its task, and a line in
    `rules/__init__.py`.
    """

    kind: ClassVar[str]
    name: str
    epochs: int
    start: str

    @property
    def uses_teacher(self) -> bool:
        """Whether it learns from a teacher."""
        return False

    @property
    def trains_networks(self) -> bool:
        """Whether what it trains are oscillator networks of this package."""
        return True

    @property
    def is_continuation(self) -> bool:
        """Whether it starts from the networks of another protocol."""
        return self.start not in ("zero", "random")

    @property
    def is_prerequisite(self) -> bool:
        """Whether nothing can go on where it diverges at once."""
        return False

    @property
    def cost(self) -> float:
        """How long an epoch takes against one of PATH, roughly: for the time that is left."""
        return 4.0

    @property
    def dynamics(self) -> Dynamics | None:
        """The dynamics that it trains networks for unless told otherwise; None for the usual."""
        return None

    @property
    def hardware(self) -> Hardware | None:
        """The kind of chip it trains for; None for the ideal network."""
        return None

    def gain_of(self, run: int) -> float | None:
        """The gain of the softmax of a run's outputs, where it is trained with one."""
        return None

    def with_solver(self, solver: str) -> Self:
        """This rule with Stage I solved exactly or by SGD, where it has one."""
        return self

    def tuned_for(self, dataset: str, examples: int) -> Self:
        """This rule with the settings found for a dataset; itself where none were."""
        return self

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        """Raise an `InputError` where it cannot train such networks with such teachers."""
        if bool(teachers) != self.uses_teacher:
            wanted = "a teacher" if self.uses_teacher else "no teacher"
            raise InputError(f"{self.name} needs {wanted}, got {len(teachers)}")

    def lanes(self, runs: int) -> int:
        """How many networks are trained side by side in so many runs."""
        return runs

    @abstractmethod
    def task(self, assignment: Assignment) -> Task:
        """The rule at work."""

    def settings(self) -> dict[str, Any]:
        """Its fields as JSON values."""
        assert is_dataclass(self)
        return asdict(self)

    @classmethod
    def from_settings(cls, values: dict[str, Any]) -> Self:
        """The rule with these fields, as `settings` gives them."""
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """JSON values that `rules.from_json` turns back into this rule."""
        return {"rule": self.kind, **self.settings()}


def values_per_run(value: PerRun) -> list[float]:
    """One number for all runs, or one for each."""
    return list(value) if isinstance(value, tuple) else [value]


def per_run(name: str, value: PerRun, runs: int) -> list[float]:
    """`value` for each of `runs` runs; a tuple must have exactly that many."""
    values = values_per_run(value)
    if isinstance(value, tuple) and len(values) != runs:
        raise InputError(f"{name} must be one number or {runs}, one per run; got {len(values)}")
    return values * runs if len(values) == 1 else values


def check_per_run(rule: object, runs: int) -> None:
    """Refuse fields of `rule` that hold another number of values than there are runs."""
    assert is_dataclass(rule)
    for each in fields(rule):
        value = getattr(rule, each.name)
        if isinstance(value, tuple) and value and all(isinstance(v, int | float) for v in value):
            per_run(each.name, value, runs)


def shuffled(stream: str, seed: int, lanes: tuple[int, ...], epoch: int, count: int) -> Tensor:
    """Minibatch orders (R, count), a pure function of (stream, seed, lane, epoch)."""
    tag = int.from_bytes(stream.encode(), "little")
    orders = [np.random.default_rng([tag, seed, lane, epoch]).permutation(count) for lane in lanes]
    return torch.from_numpy(np.stack(orders))
