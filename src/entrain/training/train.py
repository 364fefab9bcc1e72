"""Training in one call."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from entrain import kernels
from entrain.data import Dataset, fingerprint
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
    collapse_advice,
    run_pipeline,
    time_advice,
)
from entrain.training.options import ClassWeight, Protocols
from entrain.training.run_folder import RunFolder
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError, positive_int, unknown_name


def train(
    data: Any = "digits",
    y: Any = None,
    recipe: Recipe | None = None,
    *,
    protocols: Protocols | None = None,
    runs: int = 1,
    seed: int = 0,
    hidden: int | str | Sequence[int] | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    direct_epochs: int | None = None,
    class_weight: ClassWeight | None = None,
    hardware: Hardware | str | Path | None = None,
    chip: str | Path | None = None,
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
    teacher: TeacherSpec | None = None,
    network: NetworkSpec | None = None,
    dynamics: Dynamics | None = None,
    label: str | None = None,
    image_size: int = IMAGE_SIZE,
    data_dir: Path | str | None = None,
    folder: Path | str | None = None,
    device: str | torch.device = "auto",
    progress: Progress | Callable[[str, TrainingState, int], None] | bool | None = None,
    **unknown: Any,
) -> Trained:
    """Train oscillator networks, on a dataset of the package or on your own data.

    `data` is the name of a dataset; the path of a .csv, .tsv or .npz file or of a folder with a
    folder of pictures for each class; an `ImageDataset` or `FeatureDataset`; or an array, a tensor,
    a list or a DataFrame with the labels `y`, numbers or strings. An array (n, D) holds rows of
    features, (n, rows, columns) pictures: whole numbers from 0 to 255, or floats from 0 to 1. The
    labels of a DataFrame or of a table may be a column of it, `label` (otherwise the one called
    label, class, target or y, otherwise the last). The same numbers give the same networks,
    whichever way they come.

    A dataset of the package is learnt from a neural teacher: PATH, then TWO-STAGE-END. Your own
    data are learnt from labels: DIRECT. Give a whole `recipe`, or what is not to be as suits the
    data; the words are those of `entrain train`:

    protocols        one name or rule, or several: "DIRECT", ["PATH", "DIRECT"]
    runs, seed       training orders side by side; the seed of initialisations and orders
    hidden           hidden oscillators, as widths of the teacher's layers: 48 or (32, 16)
    epochs           of the protocols that are named, not of the teacher, of what they start
                     from, or of an exact PATH; direct_epochs, endpoint_epochs and path_epochs,
                     for one kind of protocol, go before
    batch_size       examples a step, of every stage
    class_weight     of DIRECT: "balanced", or a dict of weights by class name
    hardware         the chips to train for, DIRECT unless protocols are named: a `Hardware`, the
                     name of a preset such as "typical", or a TOML file
    chip             one device to train on for: the file of a calibrated model, whose network is
                     the start
    teacher_epochs, initialisations
                     of the teacher
    path_solver, ridge, path_epochs, path_learning_rate
                     of PATH: "exact" with its ridge, or "sgd" with epochs and rate
    endpoint_epochs, endpoint_learning_rate, endpoint_weight
                     of the other protocols with a teacher
    observation_time, steps
                     t_f and the Euler steps K
    settings         any other field of a protocol: {"DIRECT.gain": 8}
    teacher, network, dynamics
                     as whole values
    image_size       side in pixels of the pictures in a folder
    data_dir         a folder with the files of MNIST and Fashion-MNIST
    folder           where the training is kept; called again with the same recipe, it goes on
                     where it stopped
    device           "auto" (a CUDA device where there is one), "cpu", "cuda", "cuda:INDEX"
    progress         True for bars (lines without a terminal) on the standard error; a function
                     of (stage, state, epochs), called after each epoch; or a `Progress`
    """
    given = dict(locals())
    if unknown:
        names = [name for name in given if name != "unknown"]
        raise TypeError(str(unknown_name("keyword of train", min(unknown), names)))
    if isinstance(y, Recipe) and recipe is None:  # train(data, recipe)
        y, recipe = None, y
    options = Options(**{each.name: given[each.name] for each in fields(Options)})
    _check_recipe(recipe, options)
    _check_types(label, progress, data_dir=data_dir, folder=folder)
    positive_int("image_size", image_size)
    place = choose_device(device)
    own = None
    if isinstance(data, str | os.PathLike):
        if y is not None:
            raise InputError(f"y belongs to arrays, {os.fspath(data)} has labels of its own")
        own = own_source(data, label, image_size)
        found = read_source(str(data), own, None if data_dir is None else Path(data_dir))
    else:
        found = in_memory(data, y, label)
    if recipe is None:
        recipe = options.recipe(found)
    elif recipe.dataset != found.name:
        raise InputError(f"the recipe is for {recipe.dataset}, the data are {found.name}")
    with _shown(progress, place, getattr(found, "notes", ())) as teller:
        if folder is None:
            trained = run_pipeline(recipe, found, device=place, progress=teller)
        else:
            kept = _run_folder(Path(folder), recipe, found, str(device), data_dir, own)
            with kept.locked():
                trained = run_pipeline(recipe, found, device=place, store=kept, progress=teller)
                kept.save_models(trained.models)
    _warn_not_converged(trained)
    return trained


def _warn_not_converged(trained: Trained) -> None:
    """A run that became non-finite or collapsed is kept at its best epoch, and said."""
    for protocol, runs in trained.diverged.items():
        network = trained.recipe.network or NetworkSpec()
        advice = time_advice(network.dynamics) or "lower its learning rates"
        warnings.warn(
            f"{protocol}: training diverged in run {', '.join(map(str, runs))}; the best epoch "
            f"before is kept; {advice}",
            RuntimeWarning,
            stacklevel=3,
        )
    for protocol, runs in trained.collapsed.items():
        rule = next(each for each in trained.recipe.protocols if each.name == protocol)
        advice = collapse_advice(rule, trained.recipe.spec.dynamics)
        warnings.warn(
            f"{protocol}: training collapsed in run {', '.join(map(str, runs))}, which ended far "
            f"worse than it had been; the best epoch that could be chosen is kept; {advice}",
            RuntimeWarning,
            stacklevel=3,
        )


def _check_recipe(recipe: Recipe | None, options: Options) -> None:
    if recipe is None:
        return
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe must be a Recipe, got {recipe!r}")
    if options.given:
        raise InputError(
            f"give a recipe or settings of one, not both; got a recipe and "
            f"{', '.join(options.given)}"
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
) -> RunFolder:
    """The folder of this training, begun now or before."""
    kept = RunFolder.open(path) if (path / "run.json").exists() else None
    if kept is None or kept.recipe != recipe:
        where = None if data_dir is None else str(Path(data_dir).expanduser().absolute())
        settings = {"device": device, "data_dir": where, "own": own, "examples": fingerprint(data)}
        kept = RunFolder.create(path, recipe, settings)
    kept.require(data)
    return kept


@contextlib.contextmanager
def _shown(progress: Any, place: torch.device, notes: tuple[str, ...]) -> Iterator[Progress | None]:
    """Who is told how far the training is."""
    if progress is True:
        from entrain.training.progress import TrainingProgress

        with TrainingProgress() as bars:
            for note in notes:  # such as where labels come from
                bars.say(note)
            kernels.prepare(place, bars.say)
            yield bars
    elif hasattr(progress, "epoch"):
        yield progress
    else:
        yield _Called(progress) if callable(progress) else None


class _Called:
    """A function that is told each epoch."""

    def __init__(self, function: Callable[[str, TrainingState, int], None]) -> None:
        self.epoch = function

    def within(self, stage: str, fraction: float) -> None:
        """Within an epoch it is not called."""
