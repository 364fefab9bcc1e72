"""What an experiment is: stages to train, and what to measure of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from entrain.data import Dataset
from entrain.evaluation import evaluate, scores_of, summarise
from entrain.experiments.comparison import Comparison
from entrain.experiments.setting import Setting
from entrain.learning import (
    DirectStage,
    Stage,
    StudentStage,
    TeacherStage,
    TrainingState,
    best_lane,
    chosen_teacher,
    digest,
    network_of,
)
from entrain.network import KuramotoNetwork
from entrain.physics import path_coefficients
from entrain.teacher import Teacher

Values = dict[str, Any]  # JSON values


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    `stages` are what must be trained for it, `measure` turns them into JSON values, and `compare`
    sets these beside the paper's numbers, where it prints any. `source` is the label of the table
    or figure in the paper, "" where there is none.
    """

    name: str
    title: str
    source: str
    stages: Callable[[Setting], list[Stage]]
    measure: Callable[[Lab], Values]
    compare: Callable[[Values], Comparison] | None = None


@dataclass(frozen=True)
class Exam:
    """Test examples: inputs (M, D), labels (M,), and what a teacher says of them."""

    inputs: Tensor
    labels: Tensor
    targets: Tensor  # (M, O)
    coefficients: Tensor  # (M, N)


class Lab:
    """What an experiment measures with: trained stages, test examples, a device."""

    def __init__(
        self,
        setting: Setting,
        states: Mapping[str, TrainingState],
        dataset: Callable[[str], Dataset],
        device: torch.device,
        on_progress: Callable[[float], None] | None = None,
    ) -> None:
        self.setting, self.device = setting, device
        self.on_progress = on_progress or (lambda fraction: None)
        self._states, self._dataset = states, dataset

    def state(self, stage: Stage) -> TrainingState:
        """The training state of a stage."""
        return self._states[stage.key]

    def data(self, name: str) -> Dataset:
        """The dataset that stands for the paper's `name`."""
        return self._dataset(self.setting.dataset(name))

    def teacher(self, stage: TeacherStage) -> Teacher:
        """The teacher a stage selected."""
        return chosen_teacher(self.state(stage))

    def networks(self, stage: StudentStage | DirectStage) -> list[KuramotoNetwork]:
        """The selected network of every run."""
        best = self.state(stage).best
        return [
            network_of(best, lane, stage.dynamics).to(self.device) for lane in range(stage.lanes)
        ]

    def examples(self, name: str) -> tuple[Tensor, Tensor]:
        """Inputs (M, D) and labels (M,) of the test examples of the paper's dataset `name`."""
        data = self.data(name)
        inputs = data.preprocessing(data.test.pixels).to(self.device)
        return inputs, torch.from_numpy(data.test.labels).to(self.device)

    def exam(self, name: str, teacher: Teacher) -> Exam:
        """The same with what a teacher says of them."""
        inputs, labels = self.examples(name)
        activations = teacher.activations(inputs)
        targets = activations[:, -teacher.outputs :]
        return Exam(inputs, labels, targets, path_coefficients(activations))

    def test(self, name: str, stage: StudentStage | DirectStage) -> list[Values]:
        """Metrics of every run of a stage on the test examples, with its selected epoch.

        Those against a teacher are of students only, each against its own.
        """
        state, found = self.state(stage), []
        inputs, labels = self.examples(name)
        targets: list[Tensor | None] = [None]
        if isinstance(stage, StudentStage):
            targets = [self.teacher(teacher).targets(inputs) for teacher in stage.teachers]
        for lane, network in enumerate(self.networks(stage)):
            scores = scores_of(network, inputs)
            found.append(
                {
                    "run": stage.runs[lane],
                    **evaluate(scores, labels, targets[lane % len(targets)]),
                    "epoch": int(state.best_epoch[lane]),
                    "diverged": int(state.diverged[lane]),
                }
            )
        return found

    def teacher_test(self, name: str, stage: TeacherStage) -> Values:
        """Validation and test accuracy of the selected teacher, percent."""
        state, teacher = self.state(stage), self.teacher(stage)
        exam = self.exam(name, teacher)
        lane = best_lane(state)
        return {
            "validation_top1": state.selected("top1", lane),
            "validation_cross_entropy": state.selected("cross_entropy", lane),
            "test_top1": evaluate(exam.targets, exam.labels)["top1"],
            "initialisation": lane,
            "epoch": int(state.best_epoch[lane]),
            "seed": stage.seed,
        }


METRICS = ("top1", "top2", "agreement", "endpoint_rmse")


def summary(runs: list[Values], metrics: tuple[str, ...] = METRICS) -> Values:
    """Mean and sample SD of each metric over runs, and the runs themselves."""
    found = {metric: summarise([run[metric] for run in runs]) for metric in metrics}
    return {
        "mean": {metric: each.mean for metric, each in found.items()},
        "sd": {metric: each.sd for metric, each in found.items()},
        "runs": runs,
    }


@dataclass(frozen=True)
class Measurement:
    """An experiment at a setting: the last stage of it, whose outcome is JSON."""

    experiment: Experiment
    setting: Setting

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages it measures."""
        return tuple(self.experiment.stages(self.setting))

    @property
    def title(self) -> str:
        """What to call it in a list."""
        return f"measure {self.experiment.name}"

    @cached_property
    def key(self) -> str:
        """What tells this measurement from the same experiment at another setting."""
        needs = sorted(stage.key for stage in self.needs)
        return f"{self.experiment.name}-{digest([self.setting, needs])}"
