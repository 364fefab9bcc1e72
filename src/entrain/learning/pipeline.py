"""Teacher, Stage I, Stage II: one recipe carried out, resumable after every epoch."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from entrain.data import Dataset, Split
from entrain.errors import InputError
from entrain.learning.exact_task import ExactPathTask
from entrain.learning.recipe import Recipe
from entrain.learning.student_task import StudentTask, TeacherData, network_of
from entrain.learning.teacher_task import TeacherTask, teacher_of
from entrain.learning.trainer import Task, TrainingState, best_lane, train
from entrain.model import Model
from entrain.physics import path_coefficients
from entrain.teacher import Teacher

TEACHER_STAGE = "teacher"


class Store(Protocol):
    """Where the state of each stage is kept between epochs."""

    def load(self, stage: str) -> TrainingState | None:
        """The state saved last, if any."""

    def save(self, stage: str, state: TrainingState, *, finished: bool) -> None:
        """Keep `state`; called after every epoch."""


class Progress(Protocol):
    """Who is told how far a training is."""

    def epoch(self, stage: str, state: TrainingState, epochs: int) -> None:
        """After each of the `epochs` of a stage, and when a stage goes on from a saved state."""

    def within(self, stage: str, fraction: float) -> None:
        """The fraction done of a stage that is one long epoch."""


@dataclass(frozen=True)
class Trained:
    """What a recipe gives: the teacher, the training state of each stage, and the models."""

    recipe: Recipe
    teacher: Teacher
    states: dict[str, TrainingState]  # by stage: "teacher", then protocol names
    models: dict[str, tuple[Model, ...]]  # by protocol, one per run

    @property
    def model(self) -> Model:
        """The model of the last protocol, first run."""
        return self.models[self.recipe.protocols[-1].name][0]

    @property
    def diverged(self) -> dict[str, list[int]]:
        """Stage -> runs that became non-finite."""
        found = {
            s: (state.diverged > 0).nonzero()[:, 0].tolist() for s, state in self.states.items()
        }
        return {stage: runs for stage, runs in found.items() if runs}


def carry_out(
    recipe: Recipe,
    data: Dataset,
    *,
    device: torch.device,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train the teacher, transfer its activations, train every protocol's runs."""
    outputs = len(data.class_names)

    def labelled(split: Split) -> tuple[Tensor, Tensor]:
        inputs = data.preprocessing(split.pixels, unseen=False)
        return inputs.to(device), torch.from_numpy(split.labels).to(device)

    def stage(name: str, task: Task) -> TrainingState:
        saved = None if store is None else store.load(name)
        if saved is not None:
            _move(saved, device)
            if progress is not None:
                progress.epoch(name, saved, task.epochs)

        def after(state: TrainingState) -> None:
            if store is not None:
                over = state.epoch == task.epochs or bool((state.diverged > 0).all())
                store.save(name, state, finished=over)
            if progress is not None:
                progress.epoch(name, state, task.epochs)

        state = train(task, saved, after)
        if name in (TEACHER_STAGE, "PATH"):  # what others start from
            _require_an_epoch(name, state)
        return state

    images, unseen = labelled(data.train), labelled(data.validation)
    task: Task = TeacherTask(recipe.teacher, images, unseen, outputs, recipe.seed)
    state = stage(TEACHER_STAGE, task)
    states = {TEACHER_STAGE: state}
    teacher = teacher_of(state.best, best_lane(state))
    lessons, exam = teach(teacher, *images), teach(teacher, *unseen)
    for protocol in recipe.protocols:
        kind = ExactPathTask if protocol.solver == "exact" else StudentTask
        task = kind(
            protocol,
            lessons,
            exam,
            recipe.dynamics,
            seed=recipe.seed,
            runs=tuple(range(recipe.runs)),
            start=states["PATH"].best if protocol.start == "PATH" else None,
        )
        if isinstance(task, ExactPathTask) and progress is not None:
            task.on_progress = functools.partial(progress.within, protocol.name)
        states[protocol.name] = stage(protocol.name, task)
    models = {
        protocol.name: tuple(
            _model(recipe, data, teacher, states[protocol.name], protocol.name, run, device)
            for run in range(recipe.runs)
        )
        for protocol in recipe.protocols
    }
    return Trained(recipe, teacher, states, models)


def teach(teacher: Teacher, inputs: Tensor, labels: Tensor) -> TeacherData:
    """What the teacher says of inputs (M, D), ready for the students (in the inputs' dtype)."""
    activations = teacher.activations(inputs)
    return TeacherData(
        inputs=inputs,
        coefficients=path_coefficients(activations).to(inputs.dtype),
        targets=activations[:, -teacher.outputs :].to(inputs.dtype),
        labels=labels,
    )


def _model(
    recipe: Recipe,
    data: Dataset,
    teacher: Teacher,
    state: TrainingState,
    name: str,
    run: int,
    device: torch.device,
) -> Model:
    selected = {metric: state.selected(metric, run) for metric in ("top1", "agreement")}
    selected["endpoint_rmse"] = state.selected("endpoint_rmse", run)
    return Model(
        network=network_of(state.best, run, recipe.dynamics).to(device),
        preprocessing=data.preprocessing,
        class_names=data.class_names,
        dataset=data.name,
        protocol=name,
        teacher=teacher,
        details={
            "run": run,
            "seed": recipe.seed,
            "epoch": int(state.best_epoch[run]),
            "diverged": int(state.diverged[run]),
            "validation": selected,
            "recipe": recipe.to_json(),
        },
    )


def _require_an_epoch(stage: str, state: TrainingState) -> None:
    if bool((state.best_epoch == 0).all()):
        raise InputError(
            f"{stage}: the loss became non-finite in the first epoch, so that there is nothing to "
            f"go on from; lower the learning rate of {stage}"
            + (" (--path-learning-rate)" if stage == "PATH" else "")
        )


def _move(state: TrainingState, device: torch.device) -> None:
    for tensors in (state.current, state.best):
        for name, tensor in tensors.items():
            tensors[name] = tensor.to(device)
