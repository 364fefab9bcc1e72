"""The network of a model file, as the start of another training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from entrain.models.model import Model, read_model
from entrain.physics.network_spec import TRAINED
from entrain.rules.interface import Assignment, Rule, Tensors, Training
from entrain.rules.validation import validation_scores
from entrain.utils.errors import InputError
from entrain.utils.hashing import sha256, tensor_bytes


@dataclass(frozen=True)
class Pretrained(Rule):
    """The network of a model file, unchanged.

    A file whose parameters no longer have the `digest` raises an error. On a calibrated chip the
    programmed parameters are divided by the measured gains (`Measured.compensated`).
    """

    kind: ClassVar[str] = "given"
    cost = 0.1  # validation only

    model: str
    digest: str
    name: str = "GIVEN"
    epochs: int = 1
    start: str = "zero"

    def __post_init__(self) -> None:
        for name in ("model", "digest"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name} must be text, got {getattr(self, name)!r}")
        if self.epochs != 1:
            raise InputError(f"a pretrained network has one epoch, got {self.epochs!r}")

    @classmethod
    def of(cls, path: Path, model: Model) -> Pretrained:
        """The network of `model`, which was read from `path`."""
        return cls(str(path.absolute()), digest_of(model))

    @property
    def learns_constant_inputs(self) -> bool:
        return False

    def training(self, assignment: Assignment) -> Training:
        model = read_model(self.model)
        if digest_of(model) != self.digest:
            raise InputError(f"{self.model}: holds another network than when the training began")
        return PretrainedTraining(model, assignment)


def digest_of(model: Model) -> str:
    """16 hexadecimal digits of a hash of the parameters."""
    parts: list[str | memoryview] = []
    for name, tensor in sorted(model.network.as_parameters().tensors().items()):
        parts += [name, tensor_bytes(tensor)]
    return sha256(*parts)[:16]


class PretrainedTraining:
    """One epoch that only validates the network, once for each run."""

    epochs = 1

    def __init__(self, model: Model, assignment: Assignment) -> None:
        device, runs = assignment.data.device, len(assignment.runs)
        parameters = model.batched_parameters()
        if model.hardware is not None and model.hardware.measured is not None:
            parameters = model.hardware.measured.compensated(parameters)
        names = (*TRAINED, *assignment.network.trainable)
        self._tensors = {
            name: tensor.to(device).repeat(runs, *[1] * (tensor.dim() - 1))
            for name, tensor in parameters.tensors().items()
            if name in names
        }
        self._task = assignment.data.task
        outputs = self._task.outputs
        self._spec = assignment.network.on(self._tensors["biases"], runs, outputs)
        self._data = assignment.data.validation
        self._dynamics = assignment.network.dynamics

    def initial(self) -> Tensors:
        return {name: tensor.clone() for name, tensor in self._tensors.items()}

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        return {"loss": torch.zeros_like(tensors["biases"][:, 0])}

    def validate(self, tensors: Tensors) -> Tensors:
        parameters = self._spec.parameters(tensors)
        scores = validation_scores(
            parameters, self._data.all_inputs(), self._dynamics, task=self._task
        )
        ones = torch.ones(len(scores), 1, 1, device=scores.device)
        return self._task.validate(scores, self._data.targets, ones, None)

    def merit(self, metrics: Tensors) -> Tensor:
        return self._task.merit(metrics)
