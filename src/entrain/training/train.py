"""`entrain.train`: training in one call."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from entrain import kernels
from entrain.data import Dataset, fingerprint
from entrain.data.selection import select
from entrain.hardware import Hardware
from entrain.rules import Rule, TeacherSpec
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
from entrain.training.network_choice import Network
from entrain.training.options import Protocols
from entrain.training.run_folder import RunFolder
from entrain.training.settings import keyword_error
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError

ProgressOption = Progress | Callable[[str, TrainingState, int], None] | bool | None


def train(
    data: Any = "digits",
    y: Any = None,
    *,
    task: str | None = None,
    protocol: Protocols | None = None,
    network: Network | None = None,
    hardware: Hardware | str | Path | None = None,
    teacher: TeacherSpec | None = None,
    epochs: int | None = None,
    runs: int = 1,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    folder: Path | str | None = None,
    device: str | torch.device = "auto",
    progress: ProgressOption = None,
    **unknown: Any,
) -> Trained:
    """Train oscillator networks on a dataset of the package or on your own data.

    A dataset of the package is learnt from a neural teacher: PATH, then TWO-STAGE-END. Your own
    data are learnt from labels or numbers: DIRECT. The same data give the same networks in every
    form, and the same options the same networks here, on the command line and in the estimators.

    Args:
        data: The name of a dataset; the path of a .csv, .tsv or .npz file, or of a folder with one
            folder of images per class; what `load_own` or `load_dataset` returns; or an array,
            tensor, list or DataFrame: features (n, D), images (n, rows, columns) of integers from 0
            to 255 or floats from 0 to 1, or sequences, a list of arrays (T_i, D).
        y: Targets of an array or a DataFrame: labels (n,), integers or strings; numbers to predict
            (n,) or (n, O); or the name of the DataFrame's label column.
        task: "classification"; "regression", to predict numbers; or "sequence", for inputs in time
            (n, T, D). By default fractions y are numbers to predict, and all else labels.
        protocol: One name or rule, or several: "DIRECT", ["PATH", "DIRECT"].
        network: Hidden oscillators: 48, or (32, 16), which are also the widths of the teacher's
            layers; a `NetworkSpec`, or its JSON file; or the file of a calibrated model, whose
            training is continued for its chip.
        hardware: The chips to train for, by DIRECT unless protocols are named: a `Hardware`, the
            name of a preset such as "typical", or a TOML file.
        teacher: The teacher and its training.
        epochs: Epochs of the named protocols; not of the teacher, of protocols they continue, or of
            an exact PATH.
        runs: Training runs side by side.
        seed: Seed of initialisations and of the order of examples.
        settings: All else, by name: "batch_size", "observation_time", "steps", "class_weight",
            "path_solver", and any field of a protocol or of the teacher, {"steps": 100,
            "DIRECT.gain": 8, "TEACHER.epochs": 50}.
        folder: Run folder. A second call with the same options continues from its checkpoints.
        device: "auto" (a CUDA device if there is one), "cpu", "cuda" or "cuda:INDEX".
        progress: True for progress bars on the standard error (lines without a terminal); a
            function of (stage, state, epochs), called after each epoch; or a `Progress`.
        **unknown: Any other keyword is an error that names its new place or the nearest keyword.
    """
    if unknown:
        name = min(unknown)
        known = [known for known in inspect.signature(train).parameters if known != "unknown"]
        raise keyword_error(name, unknown[name], known)
    options = Options(
        protocol=protocol,
        network=network,
        hardware=hardware,
        teacher=teacher,
        epochs=epochs,
        runs=runs,
        seed=seed,
        settings=settings,
    )
    _check_types(folder, progress)
    choose_device(device)
    dataset = select(data, y, task)
    return _train(options.recipe(dataset), dataset, folder, device, progress)


def train_recipe(
    recipe: Recipe,
    data: Any,
    *,
    folder: Path | str | None = None,
    device: str | torch.device = "auto",
    progress: ProgressOption = None,
) -> Trained:
    """Train the networks of a recipe, as `entrain.train` trains those of its options.

    Args:
        recipe: The recipe, such as that of a trained model or a run folder.
        data: The data it is for: the name of a dataset, or a dataset.
        folder: See `entrain.train`.
        device: See `entrain.train`.
        progress: See `entrain.train`.
    """
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe must be a Recipe, got {recipe!r}")
    _check_types(folder, progress)
    choose_device(device)
    dataset = select(data)
    if recipe.dataset != dataset.name:
        raise InputError(f"the recipe is for {recipe.dataset}, the data are {dataset.name}")
    return _train(recipe, dataset, folder, device, progress)


def _train(
    recipe: Recipe,
    data: Dataset,
    folder: Path | str | None,
    device: str | torch.device,
    progress: ProgressOption,
) -> Trained:
    """Train a recipe and warn of runs that did not converge."""
    torch_device = choose_device(device)
    with _progress(progress, torch_device, getattr(data, "notes", ())) as callbacks:
        run = functools.partial(run_pipeline, recipe, data, device=torch_device, progress=callbacks)
        if folder is None:
            trained = run()
        else:
            run_folder = _run_folder(Path(folder), recipe, data, str(device))
            with run_folder.locked():
                trained = run(store=run_folder)
                run_folder.save_models(trained.models)
    _warn_not_converged(trained)
    return trained


def _warn_not_converged(trained: Trained) -> None:
    """Warn of runs that became non-finite or collapsed."""
    if not (trained.diverged or trained.collapsed):
        return
    from sklearn.exceptions import ConvergenceWarning  # a second to import

    dynamics = trained.recipe.spec.dynamics
    rules = {rule.name: rule for rule in trained.recipe.protocols}
    messages = [
        f"{protocol}: training diverged in run {', '.join(map(str, runs))}; the best epoch before "
        f"is kept; {time_hint(dynamics) or _lower_rates(rules.get(protocol))}"
        for protocol, runs in trained.diverged.items()
    ] + [
        f"{protocol}: training collapsed in run {', '.join(map(str, runs))}, which ended far worse "
        "than its best epoch; the best selectable epoch is kept; "
        f"{collapse_hint(rules[protocol], dynamics)}"
        for protocol, runs in trained.collapsed.items()
    ]
    for message in messages:
        warnings.warn(message, ConvergenceWarning, stacklevel=4)


def _lower_rates(rule: Rule | None) -> str:
    """Advice to lower the rates of a rule, or of the teacher."""
    rates = [name for name in ("input_rate", "coupling_rate") if hasattr(rule, name)]
    return f"lower its {' or '.join(rates) or 'learning_rate'}"


def _check_types(folder: object, progress: object) -> None:
    if not isinstance(folder, str | os.PathLike | None):
        raise TypeError(f"folder must be a path, got {folder!r}")
    known = progress is None or isinstance(progress, bool) or callable(progress)
    if not known and not (hasattr(progress, "epoch") and hasattr(progress, "within")):
        raise TypeError(
            f"progress must be True, False, a function of (stage, state, epochs) or an object with "
            f"methods epoch and within, got {progress!r}"
        )


def _run_folder(path: Path, recipe: Recipe, data: Dataset, device: str) -> RunFolder:
    """The new or existing folder of this training."""
    source = data.source or {}
    settings = {
        "device": device,
        "data_dir": source.get("data_dir"),
        "own": source if "path" in source else None,
        "examples": fingerprint(data),
    }
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
