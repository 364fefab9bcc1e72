"""A dataset on a device, and a teacher's targets for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from entrain.data import Dataset, Preprocessing, Split
from entrain.data.preprocessing import grey_levels
from entrain.models.teacher import Teacher
from entrain.physics import path_coefficients
from entrain.tasks import Task
from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Examples:
    """Examples on a device: network inputs (M, D), in time (M, T, D), or images that become inputs.

    `targets` are class indices (M,) or numbers to predict (M, O). `images` (M, rows, columns) are
    grey levels from 0 to 1, which `preprocessing` turns into inputs when they are used, after
    distortions. `weights` (M,) are those of examples in the loss.
    """

    targets: Tensor
    inputs: Tensor | None = None
    images: Tensor | None = None
    preprocessing: Preprocessing | None = None
    weights: Tensor | None = None

    @property
    def inputs_per_example(self) -> int:
        """D."""
        if self.inputs is not None:
            return self.inputs.shape[-1]
        assert self.images is not None
        return self.images[0].numel()

    @property
    def input_shape(self) -> tuple[int, ...]:
        """(D,) of an example, in time (T, D)."""
        if self.inputs is None:
            return (self.inputs_per_example,)
        return tuple(self.inputs.shape[1:])

    @property
    def frames(self) -> int:
        """T of inputs in time, 1 of constant ones."""
        return 1 if self.inputs is None or self.inputs.dim() == 2 else self.inputs.shape[1]

    def all_inputs(self) -> Tensor:
        """The inputs of every example: (M, D), in time (M, T, D)."""
        if self.inputs is not None:
            return self.inputs
        assert self.images is not None
        return self.inputs_of(self.images)

    def inputs_of(self, images: Tensor) -> Tensor:
        """Inputs (n, D) of images (n, rows, columns)."""
        assert self.preprocessing is not None
        return self.preprocessing.inputs_of_levels(images)


@dataclass(frozen=True)
class TeacherData:
    """Inputs (M, D) with a teacher's targets for them.

    `coefficients` (M, N) are the artanh of all transferred activations, `targets` (M, O) the
    signed softmax outputs, `labels` (M,) the true classes. Where every run has its own teacher,
    the first two have a leading axis of runs.
    """

    inputs: Tensor
    coefficients: Tensor
    targets: Tensor
    labels: Tensor

    def at(self, values: Tensor, rows: Tensor) -> Tensor:
        """`coefficients` or `targets` of the examples `rows` (R, B): (R, B, .)."""
        return rows_of_runs(values, rows)


def rows_of_runs(values: Tensor, rows: Tensor) -> Tensor:
    """Rows (R, B, .) of values (M, .), the same for all runs, or (R, M, .) at indices (R, B)."""
    if values.dim() == 2:
        return values[rows]
    return values[torch.arange(len(rows), device=rows.device)[:, None], rows]


class TrainingData:
    """A dataset on a device: training and validation examples, and teachers' targets."""

    def __init__(self, data: Dataset, device: torch.device) -> None:
        self.data, self.device = data, device
        self.train, self.validation = self._examples(data.train), self._examples(data.validation)

    @property
    def inputs(self) -> int:
        """D."""
        return self.data.preprocessing.inputs

    @property
    def task(self) -> Task:
        """The task of the data."""
        return self.data.task

    @property
    def outputs(self) -> int:
        """O, the number of output oscillators."""
        return self.task.outputs

    @cached_property
    def images(self) -> tuple[Examples, Examples]:
        """Training and validation images, turned into inputs when they are used."""
        return self.images_of(self.data.train), self.images_of(self.data.validation)

    def teacher_targets(self, teachers: Sequence[Teacher]) -> tuple[TeacherData, TeacherData]:
        """Training and validation examples with the targets of one teacher, or of one per run."""

        def targets(examples: Examples) -> TeacherData:
            inputs, labels = examples.all_inputs(), examples.targets
            data = [teacher_targets(teacher, inputs, labels) for teacher in teachers]
            if len(data) == 1:
                return data[0]
            coefficients = torch.stack([entry.coefficients for entry in data])
            return TeacherData(inputs, coefficients, torch.stack([d.targets for d in data]), labels)

        return targets(self.train), targets(self.validation)

    def _examples(self, split: Split) -> Examples:
        inputs = self.data.preprocessing(split.features, unseen=False)
        targets = torch.from_numpy(split.targets).to(self.device)
        return Examples(targets, inputs.to(self.device), weights=self._weights(split))

    def _weights(self, split: Split) -> Tensor | None:
        return None if split.weights is None else torch.from_numpy(split.weights).to(self.device)

    def images_of(self, split: Split) -> Examples:
        """The images of any split of these data."""
        constants = self.data.preprocessing
        if not isinstance(constants, Preprocessing):
            raise InputError("augmentation is for images, the data are rows of features")
        grey = grey_levels(split.features, constants.pixel_max)
        levels = torch.from_numpy(grey.reshape(-1, *constants.image_shape))
        return Examples(
            targets=torch.from_numpy(split.targets).to(self.device),
            images=levels.to(self.device, torch.float32) / constants.pixel_max,
            preprocessing=constants,
            weights=self._weights(split),
        )


def teacher_targets(teacher: Teacher, inputs: Tensor, labels: Tensor) -> TeacherData:
    """A teacher's targets for inputs (M, D), in the inputs' dtype."""
    activations = teacher.activations(inputs)
    return TeacherData(
        inputs=inputs,
        coefficients=path_coefficients(activations).to(inputs.dtype),
        targets=activations[:, -teacher.outputs :].to(inputs.dtype),
        labels=labels,
    )
