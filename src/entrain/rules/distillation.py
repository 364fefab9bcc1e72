"""Outputs of the teacher of a training, from a stage of the recipe or from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from entrain.data import Preprocessing
from entrain.rules.external_teacher import ExternalTeacher
from entrain.rules.interface import Assignment, Rule
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.rules.convolutional_teacher import ConvolutionalTeacher

Distort = Callable[[Tensor, slice], Tensor]  # grey levels (n, rows, columns) of some examples
_CHUNK = 1024  # examples at a time
_SMALLEST = 1e-12  # probability whose logarithm is finite


def signed_outputs(assignment: Assignment) -> Tensor:
    """2 p - 1 (M, O) of a teacher's probabilities p of the training examples, float32."""
    if assignment.external is None:
        return assignment.teachers[0].targets(assignment.data.train.all_inputs()).float()
    return 2.0 * torch.softmax(teacher_logits(assignment), dim=-1) - 1.0


def signed_validation(assignment: Assignment) -> Tensor:
    """2 p - 1 (M, O) of an external teacher's probabilities p of the validation examples."""
    data = assignment.data
    assert assignment.external is not None
    logits = assignment.external.on_validation_examples(data.data, data.device)
    return 2.0 * torch.softmax(logits, dim=-1) - 1.0


def teacher_logits(assignment: Assignment) -> Tensor:
    """A teacher's logits (M, O) of the training examples, up to constants, float32."""
    data = assignment.data
    if assignment.external is not None:
        return assignment.external.on_training_examples(data.data, data.device)
    return _logarithm(assignment.teachers[0].targets(data.train.all_inputs()))


def logits_of_images(assignment: Assignment) -> Callable[[Tensor], Tensor]:
    """The map from grey levels (n, rows, columns), from 0 to 1, to a teacher's logits (n, O)."""
    data = assignment.data
    preprocessing, external = data.data.preprocessing, assignment.external
    assert isinstance(preprocessing, Preprocessing)
    if external is not None:
        return lambda images: external.log_probabilities(images * preprocessing.pixel_max)
    teacher = assignment.teachers[0]
    return lambda images: _logarithm(teacher.targets(preprocessing.inputs_of_levels(images)))


def parts(images: Tensor, distort: Distort) -> Iterator[Tensor]:
    """All images (M, rows, columns), distorted, some at a time: the same parts in every epoch."""
    for start in range(0, len(images), _CHUNK):
        rows = slice(start, start + _CHUNK)
        yield distort(images[rows], rows)


def check_external(rule: Rule, teacher: ExternalTeacher | ConvolutionalTeacher | None) -> None:
    """Raise an `InputError` unless `teacher` is the one that `rule` learns from."""
    if rule.external_teacher is None:
        return
    if teacher is None or teacher.digest != rule.external_teacher:
        other = "none" if teacher is None else f"one with the digest {teacher.digest}"
        raise InputError(
            f"{rule.name} learns from a teacher with the digest {rule.external_teacher}, got "
            f"{other}; give the same teacher, or train in another folder"
        )
    augmentation = getattr(rule, "augmentation", None)
    if not teacher.takes_examples and not (augmentation is None or augmentation.is_identity):
        raise InputError(
            f"{rule.name} distorts its images, and a table has probabilities of the undistorted "
            "ones alone: give the module or classifier that made the table, or switch the "
            f"distortions off with settings={{'{rule.name}.augmentation': {{}}}}"
        )


def _logarithm(signed: Tensor) -> Tensor:
    """Logarithms of probabilities p from 2 p - 1."""
    return ((1.0 + signed) / 2.0).clamp(min=_SMALLEST).log().float()
