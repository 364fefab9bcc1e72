"""The argument `teacher` of a training: read, checked, and put into a recipe."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from entrain.data import Dataset
from entrain.data.own.arrays import read_npz
from entrain.models.model import read_model
from entrain.rules import Direct, Rule, TwoStage
from entrain.rules.convolutional_teacher import NAME, ConvolutionalTeacher
from entrain.rules.external_teacher import ExternalTeacher, external_teacher
from entrain.training.recipe import Recipe
from entrain.utils.errors import InputError

TEMPERATURE = 2.0
"""Of a distillation for which none is chosen."""

AnyTeacher = ExternalTeacher | ConvolutionalTeacher


def read_teacher(teacher: Any, data: Dataset) -> AnyTeacher:
    """The teacher of an argument, checked on the data.

    Args:
        teacher: "convolutional"; the path of a model (.safetensors) or of a table (.npz with an
            array `probabilities`); or as for `external_teacher`.
        data: The dataset that it teaches.
    """
    if isinstance(teacher, str) and teacher == NAME:
        teacher = ConvolutionalTeacher()
    if isinstance(teacher, ConvolutionalTeacher):
        teacher.check_data(data)
        return teacher
    if not isinstance(teacher, str | os.PathLike):
        return external_teacher(teacher, data)
    path = Path(teacher)
    try:
        return external_teacher(_read_file(path), data)
    except InputError as error:
        raise InputError(f"teacher {path}: {error}") from error


def with_teacher(recipe: Recipe, teacher: AnyTeacher) -> Recipe:
    """This recipe with protocols that learn from `teacher`.

    DIRECT learns from it alone at `TEMPERATURE`, unless it has a share and a temperature; the
    endpoint loss of the second stage takes its signed probabilities.

    Args:
        recipe: The recipe.
        teacher: The teacher.
    """
    rules = {rule.name: _taught(rule, teacher.digest) for rule in recipe.protocols}
    changed = replace(recipe, protocols=tuple(rules.values()))
    check_used(changed, teacher)
    return changed


def check_used(recipe: Recipe, teacher: AnyTeacher | None) -> None:
    """Raise an `InputError` if a teacher was given from which no protocol learns."""
    if teacher is None or any(rule.external_teacher for rule in recipe.protocols):
        return
    names = ", ".join(rule.name for rule in recipe.protocols)
    raise InputError(
        f"no protocol learns from the teacher: choose DIRECT or TWO-STAGE-END, got {names}"
    )


def stored_teacher(recipe: Recipe, settings: Mapping[str, Any]) -> str | None:
    """The teacher of a run on disk, as `source_of` gives it; None if it has none.

    Args:
        recipe: Its recipe.
        settings: Its settings in run.json.
    """
    if not any(rule.external_teacher for rule in recipe.protocols):
        return None
    if (source := settings.get("teacher")) is None:
        raise InputError(
            "the run was started in Python with a teacher; continue there with "
            "entrain.train(..., teacher=..., folder=...)"
        )
    return str(source)


def source_of(teacher: Any) -> str | None:
    """The teacher as run.json stores it: a name, the absolute path of a file, or None."""
    if isinstance(teacher, str) and teacher == NAME:
        return NAME
    if isinstance(teacher, str | os.PathLike):
        return str(Path(teacher).expanduser().absolute())
    return None


def _taught(rule: Rule, digest: str) -> Rule:
    if isinstance(rule, TwoStage) and rule.has_endpoint:
        return replace(rule, teacher=digest)
    if not isinstance(rule, Direct):
        return rule
    return replace(
        rule,
        teacher=digest,
        distillation=rule.distillation or 1.0,
        temperature=rule.temperature or TEMPERATURE,
    )


def _read_file(path: Path) -> Any:
    """The model or the table of a file."""
    if not path.is_file():
        raise InputError(
            "no such file; expected a model, a table of probabilities or convolutional"
        )
    if path.suffix == ".safetensors":
        return read_model(path)
    if path.suffix == ".npz":
        return read_npz(path, ("probabilities",), (), _check_header)["probabilities"]
    raise InputError(
        f"the name ends in {path.suffix!r}; expected a model (.safetensors) or a table of "
        "probabilities (.npz)"
    )


def _check_header(headers: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> None:
    shape, dtype = headers["probabilities"]
    if len(shape) != 2 or dtype.kind != "f":
        raise InputError(
            f"probabilities must be floats (training examples, classes), got {dtype} of shape "
            f"{shape}"
        )
