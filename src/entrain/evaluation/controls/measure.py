"""`entrain.controls`: what the oscillators of a model contribute, measured by controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from entrain.data import Dataset, SequenceDataset
from entrain.evaluation.controls import catalogue
from entrain.evaluation.controls.catalogue import CONTROLS, Variant
from entrain.evaluation.controls.file import open_controls_file
from entrain.evaluation.controls.job import Job, OnProgress
from entrain.evaluation.controls.recipe import data_for, rule_and_network, with_fewer_examples
from entrain.evaluation.controls.result import Controls
from entrain.models.model import Model
from entrain.models.pretrained import find, load
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError, positive_int, seed_number, unknown_name


def controls(
    model: Model | Path | str,
    data: Any = None,
    y: Any = None,
    *,
    runs: int = 5,
    seed: int = 0,
    epochs: int | None = None,
    examples: int | None = None,
    only: Sequence[str] | None = None,
    out: Path | str | None = None,
    label: str | None = None,
    image_size: int | None = None,
    data_dir: Path | str | None = None,
    read: Callable[..., Dataset] | None = None,
    device: str | torch.device = "auto",
    on_progress: OnProgress | None = None,
) -> Controls:
    """Contributions of the oscillators: the training of a model repeated with parts removed.

    Networks are trained by the recipe of the model, several runs each: unchanged, with couplings or
    inputs frozen at random, without couplings, with one or two Euler steps; beside them a
    perceptron with as many parameters and a linear model. Run r of every control starts from the
    same random numbers and sees the examples in the same order, so that differences are paired.
    Validation examples select epochs and settings; each network is tested once.

    Args:
        model: The trained model, its file, a run folder or a shipped name.
        data: The data of its training, if they are not known; as for `entrain.train`.
        y: Targets of arrays.
        runs: Trainings of each control, at least 2.
        seed: Seed of initialisations and of the order of examples.
        epochs: Epochs in place of those of the recipe.
        examples: Number of training examples to use; all by default.
        only: Names of controls, see `entrain.evaluation.controls.CONTROLS`; all by default.
        out: A JSON file that keeps finished controls; a second call continues it.
        label: Label column of a table.
        image_size: Side of your own pictures in pixels.
        data_dir: Folder with the idx files of MNIST and Fashion-MNIST.
        read: Reads own data in place of `entrain.data.selection.read_source`.
        device: "auto", "cpu", "cuda" or "cuda:INDEX".
        on_progress: Called with the name of a control and the share done of it.
    """
    if positive_int("runs", runs) < 2:
        raise InputError("runs must be at least 2, or there is no interval; got 1")
    seed_number("seed", seed)
    names = _names(only)
    path = None if isinstance(model, Model) else find(model)
    loaded = model if isinstance(model, Model) else load(model)
    if loaded.chip is not None:
        raise InputError("controls are of a model, not of one of its chips; take the model itself")
    dataset = data_for(
        loaded,
        path,
        data,
        y,
        label=label,
        image_size=image_size,
        data_dir=data_dir,
        read=read,
    )
    dataset = with_fewer_examples(dataset, examples)
    rule, network, notes = rule_and_network(loaded, dataset, epochs)
    if examples is not None:
        notes += (f"trained on {len(dataset.train):,} examples, as asked",)
    frames = dataset.frames if isinstance(dataset, SequenceDataset) else 1
    training = Variant.of(rule, network, loaded, frames)
    job = Job(loaded, dataset, training, runs, seed, choose_device(device), on_progress)
    with open_controls_file(None if out is None else Path(out), job.key) as file:
        for group in _groups(names):
            if missing := [name for name in group if name not in file.rows]:
                file.add(job.measure(missing))
        rows = tuple(file.rows[name] for name in CONTROLS if name in names and name in file.rows)
        result = Controls(
            job.facts(loaded.dataset if isinstance(model, Model) else str(model)),
            job.test.metric,
            rows,
            notes,
        )
        file.save(result.to_json())
    return result


def _names(only: Sequence[str] | None) -> tuple[str, ...]:
    """The controls that are asked for, and the networks trained again."""
    if only is None:
        return CONTROLS
    names = (only,) if isinstance(only, str) else tuple(only)
    for name in names:
        if name not in CONTROLS:
            raise unknown_name("control", str(name), CONTROLS)
    return tuple(name for name in CONTROLS if name in (*names, catalogue.TRAINED))


def _groups(names: Sequence[str]) -> list[list[str]]:
    """The controls in order, those of the same networks together."""
    together = (catalogue.TRAINED, *catalogue.AT_TEST)
    groups = [[name for name in names if name in together]]
    return [*groups, *([name] for name in names if name not in together)]
