"""Training of all stages of a recipe in order, resumable after every epoch."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import torch

from entrain.data import Dataset, Split
from entrain.models.model import Model
from entrain.models.teacher import Teacher
from entrain.rules.convolutional_teacher import ConvolutionalTeacher
from entrain.rules.distillation import check_external
from entrain.rules.external_teacher import ExternalTeacher
from entrain.rules.training_data import TrainingData
from entrain.training.convergence import collapsed_runs
from entrain.training.loop import TrainingState
from entrain.training.recipe import Recipe
from entrain.training.results import test_results
from entrain.training.stages import Stage, teacher_stage, train_stage
from entrain.training.teachers import AnyTeacher, check_used
from entrain.utils.summary import Summary

TEACHER_STAGE = "teacher"


class Store(Protocol):
    """Storage of the states of stages, such as a `RunFolder`, from which a training continues."""

    def load(self, stage: str) -> TrainingState | None:
        """The last saved state of `stage`, if any."""

    def save(self, stage: str, state: TrainingState, *, finished: bool) -> None:
        """Store `state`; called after every epoch."""


class Progress(Protocol):
    """Callbacks that report the progress of a training."""

    def epoch(self, stage: str, state: TrainingState, epochs: int) -> None:
        """Called after each of the `epochs` of a stage, and when a saved stage is loaded.

        Args:
            stage: Name of the stage: "teacher", or a protocol.
            state: The state of its training.
            epochs: The epochs that it will have.
        """

    def within(self, stage: str, fraction: float) -> None:
        """Called with the share done of a stage that is one long epoch.

        Args:
            stage: Name of the stage.
            fraction: From 0 to 1.
        """


@dataclass(frozen=True, repr=False)
class Trained(Summary):
    """The result of a training.

    Args:
        recipe: The recipe that was trained.
        teacher: The selected teacher, if the recipe has one.
        states: The final state of each stage by name: "convolutional" or "teacher", then protocols.
        models: The models of each protocol, one per run.
        data: The examples; `test` are those that neither training nor selection used.
    """

    recipe: Recipe
    teacher: Teacher | None
    states: dict[str, TrainingState]
    models: dict[str, tuple[Model, ...]]
    data: Dataset = field(repr=False)

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        network, protocols = self.model.network, self.recipe.protocols
        epochs = [self.model.details["epoch"], self.states[protocols[-1].name].epoch]
        selection = self.data.task.selection[-1]
        value = self.model.details["validation"].get(selection.name, float("nan"))
        return {
            "by": ", ".join(rule.name for rule in protocols),
            "on": repr(self.data.name),
            "oscillators": str(network.oscillators),
            "runs": str(self.recipe.runs),
            "selected epoch": "{} of {}".format(*epochs),
            f"validation {selection.title.removesuffix(' %')}": selection.text(value),
            "test examples": f"{len(self.test):,}",
        }

    @property
    def test(self) -> Split:
        """The test examples."""
        return self.data.test

    @cached_property
    def results(self) -> dict[str, Any]:
        """Metrics on the test examples, as in results.json: `results["results"]["DIRECT"]`."""
        return test_results(self)

    @property
    def model(self) -> Model:
        """The model of the last protocol, first run."""
        return self.models[self.recipe.protocols[-1].name][0]

    @property
    def diverged(self) -> dict[str, list[int]]:
        """Runs that became non-finite, by stage."""
        runs = {s: state.diverged.nonzero()[:, 0].tolist() for s, state in self.states.items()}
        return {stage: numbers for stage, numbers in runs.items() if numbers}

    @property
    def collapsed(self) -> dict[str, list[int]]:
        """Runs that became far worse while all numbers stayed finite, by protocol."""
        runs = {s: collapsed_runs(state) for s, state in self.states.items() if s in self.models}
        return {protocol: numbers for protocol, numbers in runs.items() if numbers}


def run_pipeline(
    recipe: Recipe,
    data: Dataset,
    *,
    device: torch.device,
    store: Store | None = None,
    progress: Progress | None = None,
    teacher: AnyTeacher | None = None,
) -> Trained:
    """The networks of a recipe, trained on `data` from the states in `store`, if any.

    `teacher` is the one that protocols learn from which name a teacher from outside.
    """
    check_used(recipe, teacher)
    stages = stages_of(recipe)
    for stage in stages.values():
        stage.rule.check_data(data)
        check_external(stage.rule, teacher)
    training_data = TrainingData(data, device)
    by_key: dict[str, TrainingState] = {}
    others: dict[str, TrainingState] = {}
    if isinstance(teacher, ConvolutionalTeacher):
        stage = Stage(teacher, recipe.dataset, seed=recipe.seed)
        state = _run(teacher.name, stage, training_data, by_key, store, progress)
        others[teacher.name] = state
        teacher = teacher.trained(state.best, training_data)
    for name, stage in stages.items():
        by_key[stage.key] = _run(name, stage, training_data, by_key, store, progress, teacher)
    states = others | {name: by_key[stage.key] for name, stage in stages.items()}
    own_teacher = None
    if recipe.needs_teacher:
        own_teacher = stages[TEACHER_STAGE].teacher(states[TEACHER_STAGE])
    models = {
        rule.name: _models(recipe, data, own_teacher, stages[rule.name], states[rule.name], device)
        for rule in recipe.protocols
    }
    return Trained(recipe, own_teacher, states, models, data)


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
    teacher: ExternalTeacher | None = None,
) -> TrainingState:
    saved = None if store is None else store.load(name)
    if saved is not None and progress is not None:
        progress.epoch(name, saved, stage.epochs)

    def after_epoch(state: TrainingState) -> None:
        if store is not None:
            store.save(name, state, finished=state.is_finished)
        if progress is not None:
            progress.epoch(name, state, stage.epochs)

    within = None if progress is None else functools.partial(progress.within, name)
    return train_stage(
        stage,
        data,
        states,
        saved=saved,
        on_epoch=after_epoch,
        on_progress=within,
        external=teacher,
    )


def _models(
    recipe: Recipe,
    data: Dataset,
    teacher: Teacher | None,
    stage: Stage,
    state: TrainingState,
    device: torch.device,
) -> tuple[Model, ...]:
    """The model of every run of a stage."""
    columns = getattr(data, "feature_names", None)  # of a table; images have none
    feature_names = {} if columns is None else {"feature_names": list(columns)}
    metrics = sorted(metric for metric in state.history if not metric.endswith("loss"))
    return tuple(
        Model(
            network=network,
            preprocessing=data.preprocessing,
            task=data.task,
            dataset=data.name,
            protocol=stage.rule.name,
            teacher=teacher,
            details={
                "run": run,
                "seed": recipe.seed,
                "epoch": int(state.best_epoch[run]),
                "diverged": int(state.diverged[run]),
                "validation": {metric: state.selected(metric, run) for metric in metrics},
                "recipe": recipe.to_json(),
                **feature_names,
            },
            gain=stage.rule.gain_of(run),
            hardware=stage.rule.hardware,
        ).with_reject_option(data.train.features, data.validation)
        for run, network in enumerate(stage.networks(state, device))
    )
