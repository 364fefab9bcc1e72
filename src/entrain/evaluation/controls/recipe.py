"""The recipe by which a model is trained again, and the data for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from entrain.data import DATASETS, Dataset, Split
from entrain.data.datasets import stratified_split
from entrain.data.selection import IMAGE_SIZE, own_source, read_source, select
from entrain.models.model import Model
from entrain.models.pretrained import DataNotNamedError, check_task, run_of
from entrain.physics import NetworkSpec
from entrain.rules import Direct, GradientRule, Rule
from entrain.rules.chip_training import ChipTraining
from entrain.training import Recipe
from entrain.training.retrain import spec_of
from entrain.utils.errors import InputError, positive_int


def rule_and_network(
    model: Model, data: Dataset, epochs: int | None = None
) -> tuple[GradientRule, NetworkSpec, tuple[str, ...]]:
    """The rule and the network by which a model is trained again, and remarks on them.

    They are those of the recipe in its file if one protocol made the network, from labels and from
    random numbers; otherwise DIRECT with the defaults for the data, for a network of the same size.

    Args:
        model: The trained model.
        data: The data.
        epochs: Epochs in place of those of the rule.
    """
    rule, network, notes = _recorded(model, data)
    if rule is None:
        rule = Direct().tuned_for(data.name, len(data.train))
        if model.hardware is not None and not model.hardware.is_identity:
            rule = rule.for_chips(ChipTraining(model.hardware), data.name)
        rule = replace(rule, frozen=())
    if epochs is not None:
        share = positive_int("epochs", epochs) / rule.epochs
        parts = {
            name: max(1, round(share * getattr(rule, name)))
            for name in ("fine_epochs", "unaugmented_epochs")
            if getattr(rule, name)
        }
        rule = replace(rule, epochs=epochs, patience=0, validation_interval=0, **parts)
        notes += (f"trained for {epochs} epochs, as asked",)
    return rule, network, notes


def _recorded(
    model: Model, data: Dataset
) -> tuple[GradientRule | None, NetworkSpec, tuple[str, ...]]:
    """The rule in the file of a model, if it can train parts alone."""
    values = model.details.get("recipe")
    default = f"networks are trained by DIRECT with the defaults for {data.name}"
    if not isinstance(values, dict):
        return None, spec_of(model.network), (f"the model has no recipe: {default}",)
    recipe = Recipe.from_json(values)
    rule: Rule = recipe.protocols[-1]
    if recipe.dataset != data.name:
        note = f"the model was trained on {recipe.dataset}: {default}"
        return None, recipe.spec, (note,)
    if not isinstance(rule, GradientRule) or rule.is_continuation or rule.uses_teacher:
        note = f"{rule.name} does not train from labels and random numbers alone: {default}"
        return None, spec_of(model.network), (note,)
    return _of_run(rule, model.details.get("run", 0)), recipe.spec, ()


def _of_run(rule: GradientRule, run: object) -> GradientRule:
    """The rule with the settings of one run, where runs differ."""
    changes = {
        field.name: float(values[run if isinstance(run, int) and run < len(values) else 0])
        for field in fields(rule)
        if field.type == "PerRun" and isinstance(values := getattr(rule, field.name), tuple)
    }
    return replace(rule, **changes)  # type: ignore[arg-type]


def data_for(
    model: Model,
    path: Path | None,
    data: Any = None,
    y: Any = None,
    *,
    label: str | None = None,
    image_size: int | None = None,
    data_dir: Path | str | None = None,
    read: Callable[..., Dataset] | None = None,
) -> Dataset:
    """Training, validation and test examples for a model: those it was trained on, or others.

    Args:
        model: The trained model.
        path: Its file, if there is one; a run folder stores where the data are.
        data: A dataset, its name, a file or folder, or arrays; None is the data of the training.
        y: Targets of arrays.
        label: Label column of a table.
        image_size: Side of pictures in pixels.
        data_dir: Folder with the idx files of MNIST or Fashion-MNIST.
        read: Reads own data in place of `entrain.data.selection.read_source`.
    """
    run = None if path is None else run_of(path, model)
    if not isinstance(data, str | os.PathLike | None):
        dataset = select(data, label if y is None else y)
    else:
        recorded = None if run is None else run.own
        if data is None and recorded is None and model.dataset not in DATASETS:
            raise DataNotNamedError(
                f"the model was trained on data of your own ({model.dataset}): name them"
            )
        own = recorded
        if data is not None or own is None:
            own = own_source(data or model.dataset, label, image_size or IMAGE_SIZE)
            if own and recorded and own["path"] == recorded["path"]:
                own = recorded
        folder = data_dir or (run.settings["data_dir"] if run is not None else None)
        reader = read_source if read is None or own is None else read
        dataset = reader(str(data or model.dataset), own, Path(folder) if folder else None)
    check_task(dataset.name, dataset.task, model)
    if dataset.preprocessing.inputs != model.network.inputs:
        raise InputError(
            f"{dataset.name} has {dataset.preprocessing.inputs} numbers an example; the model "
            f"takes {model.network.inputs}"
        )
    return dataset


def with_fewer_examples(data: Dataset, examples: int | None) -> Dataset:
    """The data with so many of their training examples: stratified by class, or the first.

    Args:
        data: The data.
        examples: Number of training examples; None or more than there are leaves all.
    """
    if examples is None or positive_int("examples", examples) >= len(data.train):
        return data
    train: Split = data.train
    if data.task.has_classes:
        _, train = stratified_split(train, examples)
    else:
        train = train.rows(slice(examples))
    return replace(data, train=train)
