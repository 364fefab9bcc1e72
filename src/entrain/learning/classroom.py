"""Training a stage: its data on a device, what its teachers say of them, and its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import torch
from torch import Tensor

from entrain.data import OwnData, Preprocessing, Split
from entrain.errors import InputError
from entrain.learning.direct_task import DirectTask, Examples
from entrain.learning.exact_task import ExactPathTask
from entrain.learning.stages import DirectStage, Stage, StudentStage, TeacherStage
from entrain.learning.student_task import StudentTask, TeacherData
from entrain.learning.teacher_task import TeacherTask, teacher_of
from entrain.learning.trainer import Task, TrainingState, best_lane, train
from entrain.physics import path_coefficients
from entrain.teacher import Teacher


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
    start = _start(stage, room, states)
    kind = ExactPathTask if stage.protocol.solver == "exact" else StudentTask
    return kind(
        stage.protocol,
        *room.lessons([chosen_teacher(states[teacher.key]) for teacher in stage.teachers]),
        stage.dynamics,
        seed=stage.seed,
        runs=stage.runs,
        start=start,
    )


def _start(
    stage: StudentStage | DirectStage, room: Classroom, states: Mapping[str, TrainingState]
) -> dict[str, Tensor] | None:
    """The selected networks that a stage goes on from, if it does."""
    if stage.start is None:
        return None
    best = states[stage.start.key].best
    return {name: tensor[stage.start_lanes].to(room.device) for name, tensor in best.items()}


def _direct_task(
    stage: DirectStage, room: Classroom, states: Mapping[str, TrainingState]
) -> DirectTask:
    start = _start(stage, room, states)
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
