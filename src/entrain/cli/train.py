"""`entrain train`: training, with a table and a figure of the results."""

from __future__ import annotations

import dataclasses
import functools
import time
import warnings
from collections.abc import Callable
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import BAD_INPUT, err, print_error, print_json, resume_command
from entrain.cli.loading import data_source, read_data
from entrain.cli.options import (
    FRAMES,
    IMAGE_SIZE,
    DataDir,
    Device,
    Frames,
    ImageSize,
    Json,
    Label,
    TaskName,
    argument,
    is_given,
    option,
    with_option_names,
)
from entrain.cli.search import settings_of
from entrain.cli.training_results import (
    collapse_warnings,
    divergence_errors,
    draw_results,
    options_of,
    print_results,
)
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    import torch

    from entrain.data import Dataset
    from entrain.training import Recipe, Trained
    from entrain.training.run_folder import RunFolder


_LARGE = 500  # hidden oscillators, from which a training may take hours


def command(
    context: typer.Context,
    data: Annotated[
        str,
        argument(
            "DATASET",
            "digits, mnist-small, fashion-mnist-small, japanese-vowels (no download), mnist, "
            "fashion-mnist; or your own data: .npz (X, y), .csv, .tsv, .ts, or a folder with a "
            "subfolder of pictures or WAV files per class.",
        ),
    ] = "digits",
    task: TaskName = None,
    protocol: Annotated[
        list[str] | None,
        option(
            "With a teacher: PATH, PATH-CONT, TWO-STAGE-END, PRETRAIN-END-ONLY, Z-END, "
            "ZERO-END-ONLY; from labels: DIRECT, DIRECT-FROM-PATH, DIRECT-FROM-TWO-STAGE; for "
            "learning on a chip: EP, EP-SQUARED, COUPLED, SPSA; may be repeated.",
            "TWO-STAGE-END; own data: DIRECT",
        ),
    ] = None,
    network: Annotated[
        str | None,
        option(
            "Hidden oscillators, such as 48 or 32,16 (then also the teacher's layers); a JSON file "
            "with the fields of entrain.NetworkSpec; or a model of entrain calibrate, trained "
            "further for its chip, by default on its data.",
            "32,16,16",
        ),
    ] = None,
    hardware: Annotated[
        str | None,
        option(
            "Preset (entrain hardware) or TOML file to train for, by default with DIRECT.",
            "ideal network",
        ),
    ] = None,
    teacher: Annotated[
        str | None,
        option(
            "Teacher that DIRECT distils: convolutional (trained first), a model (.safetensors), "
            "or .npz with probabilities of the training examples.",
            metavar="FILE",
        ),
    ] = None,
    epochs: Annotated[
        int | None, option("Epochs of the named protocols, not of the teacher and earlier stages.")
    ] = None,
    runs: Annotated[int, option("Number of runs that train side by side.")] = 1,
    seed: Annotated[int, option("Seed of the initialisations and the orders of examples.")] = 0,
    settings: Annotated[
        list[str] | None,
        option(
            "batch_size, observation_time, steps, class_weight, path_solver (exact or sgd), or any "
            "field of a protocol or of the teacher: DIRECT.gain=8, TEACHER.epochs=50; may be "
            "repeated.",
            name="--set",
            metavar="NAME=VALUE",
        ),
    ] = None,
    settings_file: Annotated[
        Path | None, option("Settings of DIRECT from entrain search.", name="--settings")
    ] = None,
    folder: Annotated[
        Path | None,
        option(
            "New folder for the run, or that of the same run, unfinished.",
            "runs/DATASET-n",
            name="--out",
        ),
    ] = None,
    resume: Annotated[Path | None, option("Continue the run in DIR.", metavar="DIR")] = None,
    label: Label = None,
    image_size: ImageSize = IMAGE_SIZE,
    frames: Frames = FRAMES,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Train an oscillator network on DATASET: in two stages with a neural teacher, or from labels
    or numbers.

    The two stages are those of the paper, except that Stage I is solved exactly; --set
    path_solver=sgd trains it as in the paper. A killed run continues with --resume DIR, or with the
    same command and --out DIR, and gives the same weights.
    """
    from entrain.training import DivergedError
    from entrain.training.run_folder import RunFolder
    from entrain.utils.device import choose_device

    if resume is not None:
        _refuse_options_of_recipe(context)
        run = _continued(RunFolder.open(resume), data_dir, device)
    else:
        if network is not None and not is_given(context, "data"):
            data = _dataset_of(network) or data
        source = data_source(data, label, image_size, task, frames)
        is_taught = source is None and hardware is None and teacher is None
        default = "TWO-STAGE-END" if is_taught else "DIRECT"
        keywords: dict[str, Any] = {
            "protocol": protocol,
            "network": network,
            "hardware": hardware,
            "teacher": teacher,
            "epochs": epochs,
            "runs": runs,
            "seed": seed,
            "settings": settings_of(settings_file, protocol or [default])
            | dict(map(_setting, settings or ())),
        }
        choose_device(device)
        run = _new(lambda: read_data(data, data_dir, source), keywords, folder, device)
    try:
        results, trained = _train(run)
    except DivergedError as error:
        raise InputError(f"{error}{options_of(run.recipe, error)}") from error
    except (KeyboardInterrupt, OSError):
        err.print(f"stopped; continue with: {resume_command(run.folder)}", soft_wrap=True)
        raise
    _report(results, trained, json)


@dataclasses.dataclass(frozen=True)
class _Run:
    """A training that can begin: `train(folder=..., device=..., progress=...)`."""

    recipe: Recipe
    data: Dataset
    folder: Path
    device: str
    train: Callable[..., Trained]


def _new(
    read: Callable[[], Dataset], keywords: dict[str, Any], folder: Path | None, device: str
) -> _Run:
    """The training of new options; those that are wrong are refused before the data are read."""
    from entrain.training import Options
    from entrain.training.run_folder import check_unfinished, new_folder
    from entrain.training.train import train

    names = [name for name in keywords if name != "settings"]
    with with_option_names(*names):
        options = Options(**keywords)
    data = read()
    with with_option_names(*names):
        recipe = options.reading_teacher(data).recipe(data)
    path = folder or new_folder(Path("runs"), data.name)
    check_unfinished(path)
    return _Run(recipe, data, path, device, functools.partial(train, data, **keywords))


def _continued(folder: RunFolder, data_dir: Path | None, device: str) -> _Run:
    """The training in a folder, with its recipe."""
    from entrain.training.teachers import stored_teacher
    from entrain.training.train import train_recipe

    stored = folder.settings
    if data_dir is None and stored.get("data_dir"):
        data_dir = Path(stored["data_dir"])
    if device == "auto":
        device = stored.get("device", "auto")
    data, recipe = _data_of(folder, data_dir), folder.recipe
    folder.require(data)
    teacher = stored_teacher(recipe, stored)
    train = functools.partial(train_recipe, recipe, data, teacher=teacher)
    return _Run(recipe, data, folder.path, device, train)


def _train(run: _Run) -> tuple[dict[str, Any], Trained]:
    """Train and write models, results and figure."""
    from entrain import kernels
    from entrain.cli.figures import drawing
    from entrain.training.progress import TrainingProgress
    from entrain.training.run_folder import RunFolder
    from entrain.utils.device import choose_device

    start, device = time.monotonic(), choose_device(run.device)
    kernels.announce(device, err.print)
    if run.recipe.spec.hidden >= _LARGE:
        _print_estimate(run.recipe, run.data, device)
    with TrainingProgress(err) as progress, warnings.catch_warnings():
        # Reported by `_report`, with the options of this command.
        warnings.filterwarnings("ignore", r"[\w-]+: training (diverged|collapsed) in run")
        trained = run.train(folder=run.folder, device=run.device, progress=progress)
    folder = RunFolder.open(run.folder)
    figure = folder.path / "trajectories.png"
    results = trained.results | {
        "folder": str(folder.path),
        "model": str(folder.main_model_path),
        "figure": str(figure),
        "device": str(device),
        "seconds": {
            "total": time.monotonic() - start,
            **{stage.lower(): seconds for stage, seconds in progress.seconds.items()},
        },
    }
    with folder.locked():
        folder.save_results(results)
        with drawing(figure, results):
            draw_results(figure, trained, run.data)
        if "figure_error" in results:
            folder.save_results(results)
    return results, trained


def _report(results: dict[str, Any], trained: Trained, json: bool) -> None:
    """Print the results; exit with an error if a run diverged."""
    recipe = trained.recipe
    errors = divergence_errors(recipe, trained)
    if json:
        failed = {"error": "\n".join(errors), "code": BAD_INPUT} if errors else {}
        print_json(results | failed)
    else:
        print_results(results, trained)
    for message in errors:
        print_error(message)
    for message in collapse_warnings(recipe, trained):
        warnings.warn(message, RuntimeWarning, stacklevel=1)
    if errors:
        raise typer.Exit(BAD_INPUT)


def _print_estimate(recipe: Recipe, data: Dataset, device: torch.device) -> None:
    """Print about how long a large network takes."""
    from datetime import timedelta

    from entrain.training.duration import estimated_seconds

    seconds = estimated_seconds(recipe, len(data.train), data.task.outputs, device)
    err.print(
        f"{recipe.spec.hidden:,} hidden oscillators take about {timedelta(seconds=round(seconds))} "
        f"(h:mm:ss) on {device}; --network and --epochs make it shorter",
        soft_wrap=True,
    )


def _dataset_of(network: str) -> str | None:
    """The dataset that a calibrated model was trained on; None for another network."""
    from entrain.data import DATASETS
    from entrain.models.pretrained import load
    from entrain.training.network_choice import network_of

    with with_option_names("network"):
        file = network_of(network)
    if not isinstance(file, Path):
        return None
    name = load(file).dataset
    if name not in DATASETS:
        raise InputError(
            f"{file}: was trained on your own data ({name}); name the file or folder as DATASET"
        )
    return name


def _data_of(folder: RunFolder, data_dir: Path | None) -> Dataset:
    """The data that the run in a folder was trained on."""
    from entrain.data import DATASETS

    name = folder.recipe.dataset
    if folder.own is None and name not in DATASETS:
        raise InputError(
            f"{folder.path}: was started in Python with its own data ({name}); continue there with "
            f"entrain.train(data, folder={str(folder.path)!r})"
        )
    return read_data(name, data_dir, folder.own)


def _setting(text: str) -> tuple[str, object]:
    """NAME=VALUE: a number, true, false, null, a list or an object of JSON, or else text."""
    name, equals, value = text.partition("=")
    if not (equals and name):
        raise InputError(
            f"--set must be NAME=VALUE such as steps=100 or DIRECT.gain=8, got {text!r}"
        )
    try:
        return name, loads(value)
    except (ValueError, RecursionError):
        return name, value


def _refuse_options_of_recipe(context: typer.Context) -> None:
    """Refuse options that have no effect with --resume, which uses the recipe of the run."""
    allowed = {"resume", "data_dir", "device", "json"}
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in allowed and is_given(context, name):
            flag = "DATASET" if name == "data" else parameter.opts[0]
            raise InputError(
                f"{flag} cannot be combined with --resume: the run follows its recipe (run.json)"
            )
