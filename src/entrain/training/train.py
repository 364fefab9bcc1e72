"""`entrain.train`: training in one call."""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from entrain import kernels
from entrain.data import Dataset, fingerprint
from entrain.data.own.targets import FRAMES
from entrain.data.selection import IMAGE_SIZE, in_memory, own_source, read_source
from entrain.hardware import Hardware
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Solver, TeacherSpec
from entrain.training import (
    Options,
    Progress,
    Recipe,
    Trained,
    TrainingState,
    collapse_hint,
    run_pipeline,
    time_hint,
)
from entrain.training.options import ClassWeight, Protocols
from entrain.training.run_folder import RunFolder
from entrain.training.teachers import source_of
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError, positive_int, unknown_name


def train(
    data: Any = "digits",
    y: Any = None,
    recipe: Recipe | None = None,
    *,
    task: str | None = None,
    protocols: Protocols | None = None,
    runs: int = 1,
    seed: int = 0,
    hidden: int | str | Sequence[int] | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    direct_epochs: int | None = None,
    class_weight: ClassWeight | None = None,
    hardware: Hardware | str | Path | None = None,
    calibrated: str | Path | None = None,
    teacher_epochs: int | None = None,
    initialisations: int | None = None,
    path_solver: Solver | None = None,
    ridge: float | None = None,
    path_epochs: int | None = None,
    path_learning_rate: float | None = None,
    endpoint_epochs: int | None = None,
    endpoint_learning_rate: float | None = None,
    endpoint_weight: float | None = None,
    observation_time: float | None = None,
    steps: int | None = None,
    settings: Mapping[str, Any] | None = None,
    teacher: Any = None,
    network: NetworkSpec | None = None,
    dynamics: Dynamics | None = None,
    label: str | None = None,
    image_size: int = IMAGE_SIZE,
    frames: int = FRAMES,
    data_dir: Path | str | None = None,
    folder: Path | str | None = None,
    device: str | torch.device = "auto",
    progress: Progress | Callable[[str, TrainingState, int], None] | bool | None = None,
    **unknown: Any,
) -> Trained:
    """Train oscillator networks on a dataset of the package or on your own data.

    A dataset of the package is learnt from a neural teacher: PATH, then TWO-STAGE-END. Your own
    data are learnt from labels: DIRECT. The same data give the same networks in every form.

    Args:
        data: The name of a dataset; the path of a .csv, .tsv or .npz file, or of a folder with one
            folder of images per class; an `ImageDataset`, `FeatureDataset` or `SequenceDataset`; or
            an array, tensor, list or DataFrame: features (n, D), images (n, rows, columns) of
            integers from 0 to 255 or floats from 0 to 1, or sequences, a list of arrays (T_i, D).
        y: Targets of an array or a DataFrame: labels (n,), integers or strings; or numbers to
            predict (n,) or (n, O).
        recipe: A `Recipe`, instead of the keywords from `protocols` to `dynamics`.
        task: "classification"; "regression", to predict numbers; or "sequence", for inputs in time
            (n, T, D). By default fractions y are numbers to predict, and all else labels.
        protocols: One name or rule, or several: "DIRECT", ["PATH", "DIRECT"].
        runs: Training runs side by side.
        seed: Seed of initialisations and of the order of examples.
        hidden: Hidden oscillators, as widths of the teacher's layers: 48 or (32, 16).
        epochs: Epochs of the named protocols; not of the teacher, of protocols they continue, or of
            an exact PATH.
        batch_size: Examples of a step, in every stage.
        direct_epochs: Epochs of protocols that learn from labels; overrides `epochs`.
        class_weight: Of DIRECT: "balanced", or a dict of weights by class name.
        hardware: The chips to train for, by DIRECT unless protocols are named: a `Hardware`, the
            name of a preset such as "typical", or a TOML file.
        calibrated: The file of a calibrated model, whose training is continued for its chip.
        teacher_epochs: Epochs of the teacher.
        initialisations: Initialisations of the teacher, of which validation selects one.
        path_solver: "exact" or "sgd" for PATH.
        ridge: Penalty of the exact solver on the input weights.
        path_epochs: Epochs of PATH by SGD; overrides `epochs`.
        path_learning_rate: Learning rate of PATH by SGD.
        endpoint_epochs: Epochs of the other protocols with a teacher; overrides `epochs`.
        endpoint_learning_rate: Learning rate of these protocols.
        endpoint_weight: Weight of the endpoint loss.
        observation_time: Time t_f at which outputs are read.
        steps: Euler steps K.
        settings: Any other field of a protocol: {"DIRECT.gain": 8}.
        teacher: The teacher of the two stages, a `TeacherSpec`; or one that DIRECT distils: a
            `torch.nn.Module` from raw examples to logits, a fitted scikit-learn classifier, a
            `Model`, probabilities (n, O) of the training examples, the path of a model or of an
            .npz file with `probabilities`, or "convolutional", which is trained first.
        network: The whole network.
        dynamics: The whole dynamics.
        label: Label column of a table; by default the one called label, class, target or y,
            otherwise the last.
        image_size: Side in pixels of images in a folder.
        frames: Frames to which sequences are interpolated.
        data_dir: Folder with the files of MNIST and Fashion-MNIST.
        folder: Run folder. A second call with the same recipe continues from its checkpoints.
        device: "auto" (a CUDA device if there is one), "cpu", "cuda" or "cuda:INDEX".
        progress: True for progress bars on the standard error (lines without a terminal); a
            function of (stage, state, epochs), called after each epoch; or a `Progress`.
        **unknown: Any other keyword is an error that names the nearest one.
    """
    arguments = dict(locals())
    if unknown:
        names = [name for name in arguments if name != "unknown"]
        raise TypeError(str(unknown_name("keyword of train", min(unknown), names)))
    if isinstance(y, Recipe) and recipe is None:  # train(data, recipe)
        y, recipe = None, y
    options = Options(**{option.name: arguments[option.name] for option in fields(Options)})
    if recipe is not None:
        _check_recipe(recipe, options)
    _check_types(label, progress, data_dir=data_dir, folder=folder)
    for name, number in (("image_size", image_size), ("frames", frames)):
        positive_int(name, number)
    torch_device = choose_device(device)
    own = None
    if isinstance(data, str | os.PathLike):
        if y is not None:
            raise InputError(f"y belongs to arrays, {os.fspath(data)} has labels of its own")
        own = own_source(data, label, image_size, task, frames)
        dataset = read_source(str(data), own, None if data_dir is None else Path(data_dir))
    else:
        dataset = in_memory(data, y, label, task, frames)
    options = options.reading_teacher(dataset)
    if recipe is None:
        recipe = options.recipe(dataset)
    elif recipe.dataset != dataset.name:
        raise InputError(f"the recipe is for {recipe.dataset}, the data are {dataset.name}")
    notes = getattr(dataset, "notes", ())
    with _progress(progress, torch_device, notes) as callbacks:
        run = functools.partial(
            run_pipeline,
            recipe,
            dataset,
            device=torch_device,
            progress=callbacks,
            teacher=options.external,
        )
        if folder is None:
            trained = run()
        else:
            run_folder = _run_folder(
                Path(folder), recipe, dataset, str(device), data_dir, own, source_of(teacher)
            )
            with run_folder.locked():
                trained = run(store=run_folder)
                run_folder.save_models(trained.models)
    _warn_not_converged(trained)
    return trained


def _warn_not_converged(trained: Trained) -> None:
    """Warn of runs that became non-finite or collapsed."""
    dynamics = trained.recipe.spec.dynamics
    rules = {rule.name: rule for rule in trained.recipe.protocols}
    messages = [
        f"{protocol}: training diverged in run {', '.join(map(str, runs))}; the best epoch before "
        f"is kept; {time_hint(dynamics) or 'lower its learning rates'}"
        for protocol, runs in trained.diverged.items()
    ] + [
        f"{protocol}: training collapsed in run {', '.join(map(str, runs))}, which ended far worse "
        "than its best epoch; the best selectable epoch is kept; "
        f"{collapse_hint(rules[protocol], dynamics)}"
        for protocol, runs in trained.collapsed.items()
    ]
    for message in messages:
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def _check_recipe(recipe: object, options: Options) -> None:
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe must be a Recipe, got {recipe!r}")
    from_outside = not isinstance(options.teacher, TeacherSpec)
    given = [name for name in options.given if not (name == "teacher" and from_outside)]
    if given:
        raise InputError(
            f"give a recipe or options of one, not both; got a recipe and {', '.join(given)}"
        )


def _check_types(label: object, progress: object, **paths: object) -> None:
    if not isinstance(label, str | None):
        raise TypeError(f"label must be the name of a column, got {label!r}")
    for name, path in paths.items():
        if not isinstance(path, str | os.PathLike | None):
            raise TypeError(f"{name} must be a path, got {path!r}")
    known = progress is None or isinstance(progress, bool) or callable(progress)
    if not known and not (hasattr(progress, "epoch") and hasattr(progress, "within")):
        raise TypeError(
            f"progress must be True, False, a function of (stage, state, epochs) or an object with "
            f"methods epoch and within, got {progress!r}"
        )


def _run_folder(
    path: Path,
    recipe: Recipe,
    data: Dataset,
    device: str,
    data_dir: Path | str | None,
    own: dict[str, Any] | None,
    teacher: str | None,
) -> RunFolder:
    """The new or existing folder of this training."""
    source = None if data_dir is None else str(Path(data_dir).expanduser().absolute())
    settings = {"device": device, "data_dir": source, "own": own, "examples": fingerprint(data)}
    settings |= {} if teacher is None else {"teacher": teacher}
    return RunFolder.continued_or_new(path, recipe, settings, data)


@contextlib.contextmanager
def _progress(progress: Any, device: torch.device, notes: tuple[str, ...]) -> Iterator[Any]:
    """The callbacks of the argument `progress`; bars also print the notes of the data."""
    if progress is True:
        from entrain.training.progress import TrainingProgress

        with TrainingProgress() as bars:
            for note in notes:  # such as the source of the labels
                bars.print(note)
            kernels.announce(device, bars.print)
            yield bars
    elif hasattr(progress, "epoch"):
        yield progress
    elif callable(progress):
        yield SimpleNamespace(epoch=progress, within=lambda stage, fraction: None)
    else:
        yield None
