"""An experiment: stages to train, and measurements of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data import ImageDataset
from entrain.evaluation import evaluate, scores_of, summarise
from entrain.models.network import KuramotoNetwork
from entrain.models.teacher import Teacher
from entrain.physics import path_coefficients
from entrain.rules import TwoStage
from entrain.training import Stage, TrainingState, best_run, digest
from entrain_paper.experiments.comparison import Comparison
from entrain_paper.experiments.setting import Setting

Values = dict[str, Any]  # JSON values


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper, or an additional experiment.

    `stages` are trained first, `measure` turns them into JSON values, and `compare` compares these
    with the numbers that the paper prints. `source` is the label of the table or figure in the
    paper, "" if there is none.
    """

    name: str
    title: str
    source: str
    stages: Callable[[Setting], list[Stage]]
    measure: Callable[[ExperimentContext], Values]
    compare: Callable[[Values], Comparison] | None = None


@dataclass(frozen=True)
class TestExamples:
    """Test examples: inputs (M, D), labels (M,), and a teacher's targets for them."""

    inputs: Tensor
    labels: Tensor
    targets: Tensor  # (M, O)
    coefficients: Tensor  # (M, N)


class ExperimentContext:
    """The trained stages, the test examples and the device of a measurement."""

    def __init__(
        self,
        setting: Setting,
        states: Mapping[str, TrainingState],
        dataset: Callable[[str], ImageDataset],
        device: torch.device,
        on_progress: Callable[[float], None] | None = None,
        headers: Mapping[str, Values] | None = None,
    ) -> None:
        """`headers` has the training time and the device of each stage, by its key."""
        self.setting, self.device = setting, device
        self._headers = headers or {}
        self.on_progress = on_progress or (lambda fraction: None)
        self._states, self._dataset = states, dataset

    def state(self, stage: Stage) -> TrainingState:
        """The training state of a stage."""
        return self._states[stage.key]

    def seconds(self, stage: Stage) -> float | None:
        """Training time of a stage; None if unknown."""
        seconds = self._headers.get(stage.key, {}).get("seconds")
        return None if seconds is None else float(seconds)

    def trained_on(self, stage: Stage) -> str | None:
        """Device that trained a stage; None if unknown."""
        return self._headers.get(stage.key, {}).get("device")

    def data(self, name: str) -> ImageDataset:
        """The dataset that is used for the paper's `name`."""
        return self._dataset(self.setting.dataset(name))

    def teacher(self, stage: Stage) -> Teacher:
        """The teacher that a stage selected."""
        return stage.teacher(self.state(stage))

    def networks(self, stage: Stage) -> list[KuramotoNetwork]:
        """The selected network of every run."""
        return stage.networks(self.state(stage), self.device)

    def examples(self, name: str) -> tuple[Tensor, Tensor]:
        """Inputs (M, D) and labels (M,) of the test examples of the paper's dataset `name`."""
        data = self.data(name)
        inputs = data.preprocessing(data.test.features).to(self.device)
        return inputs, torch.from_numpy(data.test.labels).to(self.device)

    def test_examples(self, name: str, teacher: Teacher) -> TestExamples:
        """The test examples with the targets of a teacher."""
        inputs, labels = self.examples(name)
        activations = teacher.activations(inputs)
        targets = activations[:, -teacher.outputs :]
        return TestExamples(inputs, labels, targets, path_coefficients(activations))

    def test(self, name: str, stage: Stage) -> list[Values]:
        """Metrics of every run of a stage on the test examples, with its selected epoch.

        Agreement and endpoint RMSE are only of the paper's rules, each run against its teacher.
        """
        state, rows = self.state(stage), []
        inputs, labels = self.examples(name)
        targets: list[Tensor | None] = [None]
        if isinstance(stage.rule, TwoStage):
            targets = [self.teacher(teacher).targets(inputs) for teacher in stage.teachers]
        for run, network in enumerate(self.networks(stage)):
            scores = scores_of(network, inputs)
            rows.append(
                {
                    "run": stage.runs[run],
                    **evaluate(scores, labels, targets[run % len(targets)]),
                    "epoch": int(state.best_epoch[run]),
                    "diverged": int(state.diverged[run]),
                }
            )
        return rows

    def teacher_test(self, name: str, stage: Stage) -> Values:
        """Validation and test accuracy of the selected teacher, percent."""
        state, teacher = self.state(stage), self.teacher(stage)
        examples = self.test_examples(name, teacher)
        run = selected_initialisation(stage, state)
        return {
            "validation_top1": state.selected("top1", run),
            "validation_cross_entropy": state.selected("cross_entropy", run),
            "test_top1": evaluate(examples.targets, examples.labels)["top1"],
            "initialisation": run,
            "epoch": int(state.best_epoch[run]),
            "seed": stage.seed,
        }


def selected_initialisation(stage: Stage, state: TrainingState) -> int:
    """The initialisation that a stage selects: that of largest merit, or by its own rule."""
    select = getattr(stage, "initialisation", best_run)
    return int(select(state))


METRICS = ("top1", "top2", "agreement", "endpoint_rmse")
METRIC_NAMES = {
    "test_top1": "top-1 %",
    "top1": "top-1 %",
    "top2": "top-2 %",
    "agreement": "agreement %",
    "endpoint_rmse": "endpoint RMSE",
    "rmse_reduction": "RMSE reduction",
}


def summary(runs: list[Values], metrics: tuple[str, ...] = METRICS) -> Values:
    """Mean and sample SD of each metric over runs, and the runs themselves."""
    summaries = {metric: summarise([run[metric] for run in runs]) for metric in metrics}
    return {
        "mean": {metric: value.mean for metric, value in summaries.items()},
        "sd": {metric: value.sd for metric, value in summaries.items()},
        "runs": runs,
    }


def rounded(array: Tensor | np.ndarray, digits: int = 4) -> Any:
    """Nested lists of the numbers, rounded to `digits` decimals."""
    plain = array.detach().cpu().numpy() if isinstance(array, Tensor) else array
    return np.round(plain.astype(np.float64), digits).tolist()


@dataclass(frozen=True)
class Measurement:
    """The measurement of an experiment at a setting; its outcome is JSON."""

    experiment: Experiment
    setting: Setting

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages that are measured."""
        return tuple(self.experiment.stages(self.setting))

    @property
    def title(self) -> str:
        """Name in lists of jobs."""
        return f"measure {self.experiment.name}"

    @cached_property
    def key(self) -> str:
        """Name and digest of the setting and of the stages' keys."""
        needs = sorted(stage.key for stage in self.needs)
        return f"{self.experiment.name}-{digest([self.setting, needs])}"


def with_prerequisites(stages: Iterable[Stage]) -> list[Stage]:
    """These stages and all they start from, each once, prerequisites first."""
    ordered: dict[str, Stage] = {}
    for stage in stages:
        for need in with_prerequisites(stage.needs):
            ordered.setdefault(need.key, need)
        ordered.setdefault(stage.key, stage)
    return list(ordered.values())
