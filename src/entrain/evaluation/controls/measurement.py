"""The test of controls: metrics of every run, and of its resamples of the test examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data import Dataset
from entrain.evaluation.activations import activations, batched
from entrain.evaluation.chips import scores_on_chips
from entrain.evaluation.measure import chunks
from entrain.hardware import Hardware
from entrain.physics import Dynamics, Parameters
from entrain.tasks import Metric, Task

RESAMPLES = 200  # of the test examples: their standard error is known to a twentieth
CHIPS = 5  # seeds 0 to 4, which training and selection do not use


@dataclass(frozen=True)
class ControlResult:
    """A control on the test examples.

    Args:
        name: Its name, one of `CONTROLS`.
        values: Metrics of the task by name, one number a run.
        resampled: The selecting metric, mean over runs, on resamples of the test examples; the
            same resamples for every control.
        validation: The selecting metric of every run on validation examples.
        parameters: Number of trained parameters.
        settings: Settings that validation selected among candidates.
        epochs: The selected epoch of every run.
        seconds: Time of the training and the test.
    """

    name: str
    values: dict[str, tuple[float, ...]]
    resampled: tuple[float, ...] = ()
    validation: tuple[float, ...] = ()
    parameters: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    epochs: tuple[int, ...] = ()
    seconds: float = 0.0

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> ControlResult:
        """The result that `to_json` stored.

        Args:
            entry: The JSON values.
        """
        values = {str(name): tuple(map(float, runs)) for name, runs in entry["values"].items()}
        return cls(
            str(entry["name"]),
            values,
            tuple(map(float, entry["resampled"])),
            tuple(map(float, entry["validation"])),
            None if entry["parameters"] is None else int(entry["parameters"]),
            dict(entry["settings"]),
            tuple(map(int, entry["epochs"])),
            float(entry["seconds"]),
        )

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return asdict(self)


class HeldOutExamples:
    """The test examples of a dataset on a device.

    Args:
        data: The dataset.
        device: Where networks compute.
    """

    def __init__(self, data: Dataset, device: torch.device) -> None:
        self.task: Task = data.task
        self.inputs = data.preprocessing(data.test.features).to(device)
        self.targets = torch.from_numpy(data.test.targets).to(device)

    @property
    def metric(self) -> Metric:
        """The metric that selects an epoch, by which controls are compared."""
        return self.task.selection[-1]

    @cached_property
    def _resamples(self) -> Tensor:
        """Indices (RESAMPLES, M) of examples drawn with replacement."""
        count = len(self.targets)
        draws = np.random.default_rng([0, count]).integers(count, size=(RESAMPLES, count))
        return torch.from_numpy(draws).to(self.targets.device)

    def scores(
        self,
        parameters: Parameters,
        dynamics: Dynamics,
        hardware: Hardware | None,
        inputs: Tensor | None = None,
    ) -> Tensor:
        """Activations (R, C, M, O) of networks (R, ...) on C chips; the ideal network is one.

        Args:
            parameters: The networks.
            dynamics: Mobility, observation time and steps.
            hardware: The chips that they were trained for.
            inputs: The inputs, if the networks were trained with another preprocessing.
        """
        inputs = self.inputs if inputs is None else inputs
        if hardware is not None and not hardware.is_identity:
            seeds = range(1 if hardware.is_one_chip else CHIPS)
            return scores_on_chips(parameters, hardware, seeds, inputs, dynamics, task=self.task)
        parts = [
            activations(
                parameters.phase_model(batched(chunk), dynamics.steps),
                dynamics,
                self.task.outputs,
                self.task,
            )
            for _, chunk in chunks(inputs)
        ]
        return torch.cat(parts, dim=1)[:, None]

    def measured(self, scores: Tensor) -> tuple[dict[str, tuple[float, ...]], tuple[float, ...]]:
        """Metrics of every run, means over chips, and the selecting one of every resample.

        Args:
            scores: Activations (R, C, M, O).
        """
        runs = [self._mean([self.task.evaluate(s, self.targets) for s in run]) for run in scores]
        values = {name: tuple(run[name] for run in runs) for name in runs[0]}
        networks = scores.flatten(0, 1)
        resampled = tuple(self._metric(networks, rows) for rows in self._resamples)
        return values, resampled

    def _metric(self, networks: Tensor, rows: Tensor) -> float:
        """Mean over networks of the selecting metric on these examples."""
        targets, name = self.targets[rows], self.metric.name
        values = [self.task.evaluate(scores, targets)[name] for scores in networks[:, rows]]
        return float(np.mean(values))

    @staticmethod
    def _mean(metrics: Sequence[dict[str, float]]) -> dict[str, float]:
        return {name: float(np.mean([m[name] for m in metrics])) for name in metrics[0]}
