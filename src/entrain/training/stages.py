"""The stages of a training as values: a rule, a network, data, teachers and a start.

A stage holds everything that decides its outcome, including the stages before it, so that equal
stages are trained once, however many experiments use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any

import torch

from entrain.hardware import Hardware
from entrain.models.network import KuramotoNetwork
from entrain.models.teacher import Teacher
from entrain.physics import NetworkSpec, Parameters
from entrain.rules import Assignment, Rule, TeacherSpec
from entrain.rules.distillation import check_external
from entrain.rules.external_teacher import ExternalTeacher
from entrain.rules.teacher import teacher_of
from entrain.rules.training_data import TrainingData
from entrain.training.convergence import time_hint
from entrain.training.loop import TrainingState, best_run, run_training
from entrain.utils.errors import InputError
from entrain.utils.hashing import sha256_of_json


class DivergedError(InputError):
    """A stage that others need became non-finite in its first epoch; the message begins with the
    name of its rule."""


@dataclass(frozen=True)
class Stage:
    """Networks, or teachers, trained side by side by one rule.

    Args:
        rule: The training rule.
        dataset: Name of the dataset.
        network: The network to train.
        teachers: Stages of one teacher for all runs, or of one for each.
        runs: Training runs; each has its own initialisation and order of examples.
        start: The stage whose networks the rule continues to train, each run that of the same
            number.
        seed: Seed of initialisations and of the order of examples.
    """

    rule: Rule
    dataset: str
    network: NetworkSpec = field(default_factory=NetworkSpec)
    teachers: tuple[Stage, ...] = ()
    runs: tuple[int, ...] = (0,)
    start: Stage | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        name = self.rule.name
        if self.rule.is_continuation != (self.start is not None):
            wanted = "a stage" if self.rule.is_continuation else "no stage"
            raise InputError(f"{name} starts from {self.rule.start}: give {wanted} to start")
        if self.start is not None:
            _check_start(self, self.start)
        for teacher in self.teachers:
            if teacher.dataset != self.dataset:
                raise InputError(
                    f"{name} trains on {self.dataset}, its teacher was trained on {teacher.dataset}"
                )
        self.rule.check(self.network, len(self.runs), [teacher.rule for teacher in self.teachers])

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages whose result this one uses."""
        return (*self.teachers, *(() if self.start is None else (self.start,)))

    @property
    def parallel_runs(self) -> int:
        """Number of networks trained side by side."""
        return self.rule.parallel_runs(len(self.runs))

    @property
    def epochs(self) -> int:
        """Passes over the training examples."""
        return self.rule.epochs

    @property
    def title(self) -> str:
        """A short description for lists."""
        if isinstance(self.rule, TeacherSpec):
            return f"{self.dataset} teacher {'-'.join(map(str, self.rule.widths))}"
        several = f" x {self.parallel_runs}" if self.parallel_runs > 1 else ""
        chips = self.rule.hardware
        made_for = "" if chips is None else f" for {chips.name or 'chips'}"
        size = f" H={self.network.hidden}" if self.rule.trains_networks else ""
        return f"{self.dataset} {self.rule.name}{size}{several}{made_for}"

    @cached_property
    def key(self) -> str:
        """A name that no other stage has: dataset, rule and a digest of `identity`."""
        return f"{self.dataset}-{self.rule.name.lower()}-{digest(self.identity())}"

    def identity(self) -> dict[str, Any]:
        """JSON values that decide the outcome."""
        return {field.name: _canonical(getattr(self, field.name)) for field in fields(self)}

    def parameters(self, state: TrainingState) -> Parameters:
        """The selected networks of all runs, side by side.

        Args:
            state: The trained stage.
        """
        outputs = state.best["biases"].shape[-1] - self.network.hidden
        spec = self.network.on(state.best["biases"], self.parallel_runs, outputs)
        return spec.parameters(state.best)

    def networks(self, state: TrainingState, device: torch.device) -> list[KuramotoNetwork]:
        """The selected network of every run.

        Args:
            state: The trained stage.
            device: Device of the networks.
        """
        parameters = self.parameters(state)
        return [
            KuramotoNetwork.from_parameters(
                parameters.run(run), self.network.dynamics, self.network.trainable
            ).to(device)
            for run in range(self.parallel_runs)
        ]

    def teacher(self, state: TrainingState) -> Teacher:
        """The selected teacher of all initialisations, of a stage that trains teachers.

        Args:
            state: The trained stage.
        """
        return teacher_of(state.best, best_run(state))


def teacher_stage(dataset: str, spec: TeacherSpec | None = None, seed: int = 0) -> Stage:
    """The stage that trains a teacher on a dataset."""
    spec = TeacherSpec() if spec is None else spec
    return Stage(spec, dataset, NetworkSpec(hidden=spec.hidden), seed=seed)


def train_stage(
    stage: Stage,
    data: TrainingData,
    states: Mapping[str, TrainingState],
    *,
    saved: TrainingState | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    external: ExternalTeacher | None = None,
) -> TrainingState:
    """Train `stage`, from the state `saved` if it was interrupted.

    `states` are those of the stages it needs, by key. `on_progress` is called with the share done
    of a stage that is one long epoch. `external` is the teacher of rules that name one.
    """
    check_external(stage.rule, external)
    if saved is not None:
        for tensors in (saved.current, saved.best):
            tensors |= {name: tensor.to(data.device) for name, tensor in tensors.items()}
    assignment = Assignment(
        data=data,
        network=stage.network,
        runs=stage.runs,
        seed=stage.seed,
        teachers=tuple(teacher.teacher(states[teacher.key]) for teacher in stage.teachers),
        start=_start(stage, data.device, states),
        on_progress=on_progress,
        external=None if stage.rule.external_teacher is None else external,
    )
    state = run_training(stage.rule.training(assignment), saved, on_epoch)
    if stage.rule.is_prerequisite and bool((state.best_epoch == 0).all()):
        name = stage.rule.name
        hint = None if name == TeacherSpec.name else time_hint(stage.network.dynamics)
        hint = hint or f"lower the learning rate of {name}"
        raise DivergedError(
            f"{name}: the loss became non-finite in the first epoch, so there is nothing to "
            f"continue from; {hint}"
        )
    return state


def digest(value: object) -> str:
    """16 hexadecimal digits that differ between different values.

    `value` is a stage, a dataclass, a tuple or a plain value. A field that is off (None, zero,
    empty) by default and off now does not count: a new option leaves earlier keys unchanged.
    """
    return sha256_of_json(_canonical(value))[:16]


def _canonical(value: object) -> object:
    if isinstance(value, Stage):
        return value.key
    if isinstance(value, Hardware):  # its name has no effect
        value = value.to_json() | {"name": ""}
    if isinstance(value, dict):
        return {name: _canonical(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(entry) for entry in value]
    if not is_dataclass(value):
        return value
    tag: dict[str, object] = {"rule": value.kind} if isinstance(value, Rule) else {}
    return tag | {
        field.name: _canonical(getattr(value, field.name))
        for field in fields(value)
        if not (_is_off(field.default) and _is_off(getattr(value, field.name)))
    }


def _is_off(value: object) -> bool:
    """True for None, zero, False, the empty text, and tuples of these."""
    return (
        all(map(_is_off, value)) if isinstance(value, tuple) else value is None or value in (0, "")
    )


def _check_start(stage: Stage, start: Stage) -> None:
    for what, expected, actual in (
        ("protocol", stage.rule.start, start.rule.name),
        ("dataset", stage.dataset, start.dataset),
        ("hidden oscillators", stage.network.hidden, start.network.hidden),
    ):
        if expected != actual:
            raise InputError(
                f"{stage.rule.name} needs a start stage of {what} {expected}, got {actual}"
            )
    if stage.runs != start.runs and len(set(start.runs)) != len(start.runs):
        raise InputError(
            f"the start stage has runs {start.runs}, one of them twice: runs must be the same, "
            f"got {stage.runs}"
        )
    lost = [name for name in start.network.trainable if name not in stage.network.trainable]
    if lost:
        raise InputError(
            f"the start stage trained {', '.join(lost)}, which {stage.rule.name} would drop; "
            "make them trainable here too"
        )
    if not set(stage.runs) <= set(start.runs):
        raise InputError(
            f"runs {stage.runs} are not part of the start stage, which has {start.runs}"
        )


def _start(
    stage: Stage, device: torch.device, states: Mapping[str, TrainingState]
) -> dict[str, torch.Tensor] | None:
    """The selected networks of the start stage, in the order of the runs of `stage`."""
    if stage.start is None:
        return None
    runs = list(range(stage.parallel_runs))
    if stage.runs != stage.start.runs:
        runs = [stage.start.runs.index(run) for run in stage.runs]
    best = states[stage.start.key].best
    return {name: tensor[runs].to(device) for name, tensor in best.items()}
