"""Teacher, Stage I, Stage II: one recipe carried out, resumable after every epoch."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Protocol

import torch

from entrain.data import OwnData
from entrain.learning.classroom import Classroom, chosen_teacher, perform
from entrain.learning.direct import DirectProtocol
from entrain.learning.recipe import Recipe
from entrain.learning.stages import DirectStage, Stage, StudentStage, TeacherStage
from entrain.learning.student_task import network_of
from entrain.learning.trainer import TrainingState
from entrain.model import Model
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
    """What a recipe gives: the teacher if it has one, the state of each stage, and the models."""

    recipe: Recipe
    teacher: Teacher | None
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
    data: OwnData,
    *,
    device: torch.device,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train the teacher, transfer its activations, train every protocol's runs."""
    room = Classroom(data, device)
    stages = stages_of(recipe)
    states: dict[str, TrainingState] = {}
    by_key: dict[str, TrainingState] = {}
    for name, stage in stages.items():
        states[name] = by_key[stage.key] = _run(name, stage, room, by_key, store, progress)
    taught = states.get(TEACHER_STAGE)
    teacher = None if taught is None else chosen_teacher(taught)
    models = {
        protocol.name: tuple(
            _model(recipe, data, teacher, states[protocol.name], protocol.name, run, device)
            for run in range(recipe.runs)
        )
        for protocol in recipe.protocols
    }
    return Trained(recipe, teacher, states, models)


def stages_of(recipe: Recipe) -> dict[str, Stage]:
    """The stages of a recipe in order: "teacher" if there is one, then by protocol."""
    teacher = TeacherStage(recipe.dataset, recipe.teacher, recipe.seed)
    stages: dict[str, Stage] = {TEACHER_STAGE: teacher} if recipe.needs_teacher else {}
    runs = tuple(range(recipe.runs))
    begun: dict[str, StudentStage] = {}  # what others may start from
    for protocol in recipe.protocols:
        start = begun.get(protocol.start)
        if isinstance(protocol, DirectProtocol):
            stages[protocol.name] = DirectStage(
                recipe.dataset,
                protocol,
                hidden=recipe.hidden,
                runs=runs,
                start=start,
                dynamics=recipe.dynamics,
                seed=recipe.seed,
            )
            continue
        stages[protocol.name] = begun[protocol.name] = StudentStage(
            protocol,
            (teacher,),
            runs=runs,
            start=start,
            dynamics=recipe.dynamics,
            seed=recipe.seed,
        )
    return stages


def _run(
    name: str,
    stage: Stage,
    room: Classroom,
    states: dict[str, TrainingState],
    store: Store | None,
    progress: Progress | None,
) -> TrainingState:
    saved = None if store is None else store.load(name)
    if saved is not None and progress is not None:
        progress.epoch(name, saved, stage.epochs)

    def after(state: TrainingState) -> None:
        if store is not None:
            over = state.epoch == stage.epochs or bool((state.diverged > 0).all())
            store.save(name, state, finished=over)
        if progress is not None:
            progress.epoch(name, state, stage.epochs)

    within = None if progress is None else functools.partial(progress.within, name)
    return perform(stage, room, states, saved=saved, on_epoch=after, on_progress=within)


def _model(
    recipe: Recipe,
    data: OwnData,
    teacher: Teacher | None,
    state: TrainingState,
    name: str,
    run: int,
    device: torch.device,
) -> Model:
    measured = ("top1", "agreement", "endpoint_rmse", "cross_entropy")
    selected = {m: state.selected(m, run) for m in measured if m in state.history}
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
