"""The stages of a training as values: a teacher, or students of teachers.

A stage holds everything that decides its outcome, the stages it starts from included, so that
equal stages are trained once, wherever they are asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property

import torch
from torch import Tensor

from entrain.data import OwnData, Preprocessing, Split
from entrain.errors import InputError
from entrain.learning.direct import DirectProtocol, DirectTask, Examples
from entrain.learning.exact_task import ExactPathTask
from entrain.learning.protocols import Protocol, TeacherSpec
from entrain.learning.student_task import StudentTask, TeacherData
from entrain.learning.teacher_task import TeacherTask, teacher_of
from entrain.learning.trainer import Task, TrainingState, best_lane, train
from entrain.physics import Dynamics, path_coefficients
from entrain.teacher import Teacher


@dataclass(frozen=True)
class TeacherStage:
    """A teacher trained on a dataset, all its initialisations side by side."""

    dataset: str
    spec: TeacherSpec = field(default_factory=TeacherSpec)
    seed: int = 0

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages whose outcome this one uses: none."""
        return ()

    @property
    def lanes(self) -> int:
        """How many are trained side by side."""
        return self.spec.initialisations

    @property
    def epochs(self) -> int:
        """How long it is trained."""
        return self.spec.epochs

    @property
    def title(self) -> str:
        """What to call it in a list."""
        return f"{self.dataset} teacher {'-'.join(map(str, self.spec.widths))}"

    @cached_property
    def key(self) -> str:
        """What tells this stage from every other."""
        return _key(self)


@dataclass(frozen=True)
class StudentStage:
    """Students trained side by side, by one protocol, in the training orders `runs`.

    They share one teacher, or each has its own of `teachers`. `start` is the PATH stage a protocol
    goes on from: a student starts from the one of the same order in it.
    """

    protocol: Protocol
    teachers: tuple[TeacherStage, ...]
    runs: tuple[int, ...] = (0,)
    start: StudentStage | None = None
    dynamics: Dynamics = field(default_factory=Dynamics)
    seed: int = 0

    def __post_init__(self) -> None:
        name = self.protocol.name
        if len(self.teachers) not in (1, len(self.runs)):
            raise InputError(
                f"{name} of {len(self.runs)} runs must have one teacher, or one for each; "
                f"got {len(self.teachers)}"
            )
        if len(self.teachers) > 1 and self.protocol.solver == "exact":
            raise InputError(f"{name} solved exactly must have one teacher for all runs")
        if (self.protocol.start == "PATH") != (self.start is not None):
            wanted = "a stage" if self.protocol.start == "PATH" else "no stage"
            raise InputError(f"{name} starts from {self.protocol.start}: give {wanted} to start")
        if self.start is not None and not set(self.runs) <= set(self.start.runs):
            raise InputError(
                f"{name} asks for the runs {self.runs}, its start has {self.start.runs}"
            )

    @property
    def dataset(self) -> str:
        """The dataset of its teachers."""
        return self.teachers[0].dataset

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages whose outcome this one uses."""
        return (*self.teachers, *(() if self.start is None else (self.start,)))

    @property
    def lanes(self) -> int:
        """How many are trained side by side."""
        return len(self.runs)

    @property
    def epochs(self) -> int:
        """How long it is trained."""
        return self.protocol.epochs

    @property
    def hidden(self) -> int:
        """Hidden oscillators: one for each hidden unit of a teacher."""
        return sum(self.teachers[0].spec.widths)

    @property
    def start_lanes(self) -> list[int]:
        """Where in `start` each student begins."""
        assert self.start is not None
        return _start_lanes(self.runs, self.start.runs)

    @property
    def title(self) -> str:
        """What to call it in a list."""
        several = f" x {self.lanes}" if self.lanes > 1 else ""
        return f"{self.dataset} {self.protocol.name} H={self.hidden}{several}"

    @cached_property
    def key(self) -> str:
        """What tells this stage from every other."""
        return _key(self)


@dataclass(frozen=True)
class DirectStage:
    """Networks trained on labels, side by side, from a random start or from students.

    `teacher` is the one to distil, where the protocol does.
    """

    dataset: str
    protocol: DirectProtocol = field(default_factory=DirectProtocol)
    hidden: int = 64
    runs: tuple[int, ...] = (0,)
    start: StudentStage | None = None
    teacher: TeacherStage | None = None
    dynamics: Dynamics = field(default_factory=Dynamics)
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.protocol.start in ("PATH", "TWO-STAGE-END")) != (self.start is not None):
            raise InputError(
                f"{self.protocol.name} starts from {self.protocol.start}: give a stage to start "
                "from exactly if that is a protocol"
            )
        if self.start is not None:
            _check_start(self, self.start)
        if self.teacher is not None and self.teacher.dataset != self.dataset:
            raise InputError(
                f"the teacher learnt {self.teacher.dataset}, the stage is of {self.dataset}"
            )
        if bool(self.protocol.distillation) != (self.teacher is not None):
            raise InputError(f"{self.protocol.name}: a teacher is given exactly if it is distilled")

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages whose outcome this one uses."""
        return tuple(stage for stage in (self.teacher, self.start) if stage is not None)

    @property
    def lanes(self) -> int:
        """How many are trained side by side."""
        return len(self.runs)

    @property
    def epochs(self) -> int:
        """How long it is trained."""
        return self.protocol.epochs

    @property
    def title(self) -> str:
        """What to call it in a list."""
        several = f" x {self.lanes}" if self.lanes > 1 else ""
        return f"{self.dataset} {self.protocol.name} H={self.hidden}{several}"

    @cached_property
    def key(self) -> str:
        """What tells this stage from every other."""
        return _key(self)


def _check_start(stage: DirectStage, start: StudentStage) -> None:
    for what, wanted, came in (
        ("protocol", stage.protocol.start, start.protocol.name),
        ("dataset", stage.dataset, start.dataset),
        ("hidden oscillators", stage.hidden, start.hidden),
    ):
        if wanted != came:
            raise InputError(f"a start of {what} {wanted} is needed, got {came}")
    if not set(stage.runs) <= set(start.runs):
        raise InputError(f"asked for are the runs {stage.runs}, the start has {start.runs}")


Stage = TeacherStage | StudentStage | DirectStage

LATER = {"later": True}  # metadata of a field added after the first release


def _start_lanes(runs: tuple[int, ...], start: tuple[int, ...]) -> list[int]:
    """Where each of `runs` begins: at its own order in `start`."""
    return list(range(len(runs))) if runs == start else [start.index(run) for run in runs]


def _key(stage: Stage) -> str:
    kind = "teacher" if isinstance(stage, TeacherStage) else stage.protocol.name.lower()
    return f"{stage.dataset}-{kind}-{digest(stage)}"


def digest(value: object) -> str:
    """What tells one value (of dataclasses, tuples and plain values) from another.

    A field that a later release adds may be marked with `LATER`: at its default it does not count,
    so that what was trained before keeps its name.
    """
    text = json.dumps(_canonical(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _canonical(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_canonical(entry) for entry in value]
    if not is_dataclass(value):
        return value
    return {
        each.name: _canonical(getattr(value, each.name))
        for each in fields(value)
        if LATER.items() - each.metadata.items() or getattr(value, each.name) != each.default
    }


class Classroom:
    """A dataset on a device: inputs and labels, and what teachers say of them."""

    def __init__(self, data: OwnData, device: torch.device) -> None:
        self.data, self.device = data, device
        self.train, self.validation = self._labelled(data.train), self._labelled(data.validation)

    @cached_property
    def pictures(self) -> tuple[Examples, Examples]:
        """Training and validation images, made into inputs when they are used."""
        return self._pictures(self.data.train), self._pictures(self.data.validation)

    def _pictures(self, split: Split) -> Examples:
        constants = self.data.preprocessing
        assert isinstance(constants, Preprocessing), "features cannot be distorted as images"
        pixels = torch.from_numpy(split.pixels.reshape(-1, *constants.image_shape))
        return Examples(
            labels=torch.from_numpy(split.labels).to(self.device),
            images=pixels.to(self.device, torch.float32) / constants.pixel_max,
            mean=constants.mean,
            sd=constants.sd,
            norm=constants.norm,
        )

    def lessons(self, teachers: Sequence[Teacher]) -> tuple[TeacherData, TeacherData]:
        """Training and validation examples with the words of one teacher, or of each."""
        return self._taught(teachers, self.train), self._taught(teachers, self.validation)

    def _labelled(self, split: Split) -> tuple[Tensor, Tensor]:
        inputs = self.data.preprocessing(split.pixels, unseen=False)
        return inputs.to(self.device), torch.from_numpy(split.labels).to(self.device)

    @staticmethod
    def _taught(teachers: Sequence[Teacher], examples: tuple[Tensor, Tensor]) -> TeacherData:
        if len(teachers) == 1:
            return teach(teachers[0], *examples)
        said = [teach(teacher, *examples) for teacher in teachers]
        return TeacherData(
            inputs=examples[0],
            coefficients=torch.stack([each.coefficients for each in said]),
            targets=torch.stack([each.targets for each in said]),
            labels=examples[1],
        )


def teach(teacher: Teacher, inputs: Tensor, labels: Tensor) -> TeacherData:
    """What the teacher says of inputs (M, D), ready for the students (in the inputs' dtype)."""
    activations = teacher.activations(inputs)
    return TeacherData(
        inputs=inputs,
        coefficients=path_coefficients(activations).to(inputs.dtype),
        targets=activations[:, -teacher.outputs :].to(inputs.dtype),
        labels=labels,
    )


def chosen_teacher(state: TrainingState) -> Teacher:
    """The frozen teacher a teacher stage selected, of all its initialisations."""
    return teacher_of(state.best, best_lane(state))


def perform(
    stage: Stage,
    room: Classroom,
    states: Mapping[str, TrainingState],
    *,
    saved: TrainingState | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> TrainingState:
    """Train `stage`, from `saved` where it was interrupted.

    `states` holds the outcome of every stage it needs, by key. `on_progress` is told the fraction
    done of a stage that is one long epoch.
    """
    if saved is not None:
        _move(saved, room.device)
    task = _task(stage, room, states)
    if isinstance(task, ExactPathTask):
        task.on_progress = on_progress
    state = train(task, saved, on_epoch)
    if isinstance(stage, TeacherStage) or stage.protocol.name == "PATH":
        _require_an_epoch(stage, state)  # others start from it
    return state


def _task(stage: Stage, room: Classroom, states: Mapping[str, TrainingState]) -> Task:
    if isinstance(stage, TeacherStage):
        outputs = len(room.data.class_names)
        return TeacherTask(stage.spec, room.train, room.validation, outputs, stage.seed)
    if isinstance(stage, DirectStage):
        return _direct_task(stage, room, states)
    start = None
    if stage.start is not None:
        best = states[stage.start.key].best
        start = {name: tensor[stage.start_lanes].to(room.device) for name, tensor in best.items()}
    kind = ExactPathTask if stage.protocol.solver == "exact" else StudentTask
    return kind(
        stage.protocol,
        *room.lessons([chosen_teacher(states[teacher.key]) for teacher in stage.teachers]),
        stage.dynamics,
        seed=stage.seed,
        runs=stage.runs,
        start=start,
    )


def _direct_task(
    stage: DirectStage, room: Classroom, states: Mapping[str, TrainingState]
) -> DirectTask:
    start = None
    if stage.start is not None:
        best = states[stage.start.key].best
        lanes = _start_lanes(stage.runs, stage.start.runs)
        start = {name: tensor[lanes].to(room.device) for name, tensor in best.items()}
    images = isinstance(room.data.preprocessing, Preprocessing)
    if stage.protocol.augmentation.is_nothing or not images:
        said = None
        if stage.teacher is not None:
            said = chosen_teacher(states[stage.teacher.key]).targets(room.train[0]).float()
        train = Examples(room.train[1], room.train[0], said)
        validation = Examples(room.validation[1], room.validation[0])
    else:
        train, validation = room.pictures
    sizes = (room.train[0].shape[1], stage.hidden, len(room.data.class_names))
    return DirectTask(
        stage.protocol,
        train,
        validation,
        sizes,
        stage.dynamics,
        seed=stage.seed,
        runs=stage.runs,
        start=start,
    )


def _require_an_epoch(stage: Stage, state: TrainingState) -> None:
    name = "teacher" if isinstance(stage, TeacherStage) else stage.protocol.name
    if bool((state.best_epoch == 0).all()):
        raise InputError(
            f"{name}: the loss became non-finite in the first epoch, so that there is nothing to "
            f"go on from; lower the learning rate of {name}"
            + (" (--path-learning-rate)" if name == "PATH" else "")
        )


def _move(state: TrainingState, device: torch.device) -> None:
    for tensors in (state.current, state.best):
        for name, tensor in tensors.items():
            tensors[name] = tensor.to(device)
