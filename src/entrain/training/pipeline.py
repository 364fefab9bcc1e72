"""All stages of a recipe one after the other, resumable after every epoch."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Protocol

import torch

from entrain.data import Dataset
from entrain.models.model import Model
from entrain.models.teacher import Teacher
from entrain.rules.training_data import TrainingData
from entrain.training.collapse import collapsed
from entrain.training.loop import TrainingState
from entrain.training.recipe import Recipe
from entrain.training.stages import Stage, teacher_stage, train_stage

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

    @property
    def collapsed(self) -> dict[str, list[int]]:
        """Protocol -> runs that got far worse, all numbers finite."""
        found = {s: collapsed(state) for s, state in self.states.items() if s in self.models}
        return {protocol: runs for protocol, runs in found.items() if runs}


def run_pipeline(
    recipe: Recipe,
    data: Dataset,
    *,
    device: torch.device,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train the teacher if there is one, and every protocol's runs."""
    training_data = TrainingData(data, device)
    stages = stages_of(recipe)
    states: dict[str, TrainingState] = {}
    by_key: dict[str, TrainingState] = {}
    for name, stage in stages.items():
        state = _run(name, stage, training_data, by_key, store, progress)
        states[name] = by_key[stage.key] = state
    teacher = None
    if recipe.needs_teacher:
        teacher = stages[TEACHER_STAGE].teacher(states[TEACHER_STAGE])
    models = {
        protocol.name: _models(recipe, data, teacher, stages[protocol.name], states, device)
        for protocol in recipe.protocols
    }
    return Trained(recipe, teacher, states, models)


def stages_of(recipe: Recipe) -> dict[str, Stage]:
    """The stages of a recipe in order: "teacher" if there is one, then by protocol."""
    teacher = teacher_stage(recipe.dataset, recipe.teacher, recipe.seed)
    stages: dict[str, Stage] = {TEACHER_STAGE: teacher} if recipe.needs_teacher else {}
    for protocol in recipe.protocols:
        stages[protocol.name] = Stage(
            protocol,
            recipe.dataset,
            recipe.spec,
            teachers=(teacher,) if protocol.uses_teacher else (),
            runs=tuple(range(recipe.runs)),
            start=stages[protocol.start] if protocol.is_continuation else None,
            seed=recipe.seed,
        )
    return stages


def _run(
    name: str,
    stage: Stage,
    data: TrainingData,
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
    return train_stage(stage, data, states, saved=saved, on_epoch=after, on_progress=within)


def _models(
    recipe: Recipe,
    data: Dataset,
    teacher: Teacher | None,
    stage: Stage,
    states: dict[str, TrainingState],
    device: torch.device,
) -> tuple[Model, ...]:
    """The model of every run of a stage."""
    name, state = stage.rule.name, states[stage.rule.name]
    measured = sorted(metric for metric in state.history if not metric.endswith("loss"))
    return tuple(
        Model(
            network=network,
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
                "validation": {metric: state.selected(metric, run) for metric in measured},
                "recipe": recipe.to_json(),
                **_feature_names(data),
            },
            gain=stage.rule.gain_of(run),
            hardware=stage.rule.hardware,
        ).with_reject_option(data.train.features, data.validation)
        for run, network in enumerate(stage.networks(state, device))
    )


def _feature_names(data: Dataset) -> dict[str, list[str]]:
    """What the columns of a table are called; pictures have none."""
    names = getattr(data, "feature_names", None)
    return {} if names is None else {"feature_names": list(names)}
