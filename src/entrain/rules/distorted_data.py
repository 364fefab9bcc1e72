"""Distorted training images with the targets of their teachers, new in every epoch."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain.data import Preprocessing
from entrain.rules.augmentation import Augmentation
from entrain.rules.distillation import logits_of_images, parts
from entrain.rules.interface import Assignment
from entrain.rules.training_data import TeacherData, teacher_targets


class DistortedData:
    """The examples of a training with a teacher, each run with its own distortions.

    The path has the hidden activations of the recipe's teacher for the distorted images; the
    targets of the endpoint are its outputs, or those of a teacher from outside.

    Args:
        augmentation: The distortions.
        assignment: Data, runs and teachers.
    """

    def __init__(self, augmentation: Augmentation, assignment: Assignment) -> None:
        self._augmentation, self._assignment = augmentation, assignment
        self._examples = assignment.data.images[0]
        preprocessing = assignment.data.data.preprocessing
        assert isinstance(preprocessing, Preprocessing)
        self._inputs_of = preprocessing.inputs_of_levels
        is_external = assignment.external is not None
        self._logits = logits_of_images(assignment) if is_external else None
        self._data: TeacherData | None = None

    def renewed(self, epoch: int) -> TeacherData:
        """The examples of an epoch, (R, M, .), in the same memory as before.

        Args:
            epoch: Counted from 0.
        """
        assignment, labels = self._assignment, self._examples.targets
        draws = self._augmentation.draw_epoch(
            len(labels), assignment.seed, assignment.runs, epoch, assignment.data.device
        )
        by_run = [self._of_run(run, each) for run, each in enumerate(draws)]
        fresh = [torch.stack(tensors) for tensors in zip(*by_run, strict=True)]
        if self._data is None:
            self._data = TeacherData(fresh[0], fresh[1], fresh[2], labels)
        else:
            buffers = self._data.inputs, self._data.coefficients, self._data.targets
            for tensor, values in zip(buffers, fresh, strict=True):
                tensor.copy_(values)
        return self._data

    def _of_run(self, run: int, draws: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs, coefficients and targets (M, .) of one run."""
        teachers, images = self._assignment.teachers, self._examples.images
        teacher = teachers[run if len(teachers) > 1 else 0]
        assert images is not None

        def distort(part: Tensor, rows: slice) -> Tensor:
            return self._augmentation(part, draws[rows])

        columns: list[tuple[Tensor, Tensor, Tensor]] = []
        for part in parts(images, distort):
            inputs = self._inputs_of(part)
            data = teacher_targets(teacher, inputs, self._examples.targets)
            targets = data.targets
            if self._logits is not None:
                targets = 2.0 * torch.softmax(self._logits(part), dim=-1) - 1.0
            columns.append((inputs, data.coefficients, targets.to(inputs)))
        inputs, coefficients, targets = (torch.cat(each) for each in zip(*columns, strict=True))
        return inputs, coefficients, targets
