"""`entrain train`: training, with a table and a figure of the results."""

from __future__ import annotations

import dataclasses
import time
import warnings
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
from entrain.utils.errors import InputError, reason, unknown_name

if TYPE_CHECKING:
    import torch

    from entrain.data import Dataset
    from entrain.physics import NetworkSpec
    from entrain.training import Recipe, Trained
    from entrain.training.run_folder import RunFolder


_LARGE = 500  # hidden oscillators, from which a training may take hours


def command(
    context: typer.Context,
    dataset: Annotated[
        str,
        argument(
            "DATASET",
            "digits, mnist-small, fashion-mnist-small, japanese-vowels (no download), mnist, "
            "fashion-mnist; or your own data: .npz (X, y), .csv, .tsv, .ts, or a folder with a "
            "subfolder of pictures or WAV files per class.",
        ),
    ] = "digits",
    protocol: Annotated[
        list[str] | None,
        option(
            "With a teacher: PATH, PATH-CONT, TWO-STAGE-END, PRETRAIN-END-ONLY, Z-END, "
            "ZERO-END-ONLY; from labels: DIRECT, DIRECT-FROM-PATH, DIRECT-FROM-TWO-STAGE; for "
            "learning on a chip: EP, EP-SQUARED, COUPLED, SPSA; may be repeated.",
            "TWO-STAGE-END; own data: DIRECT",
        ),
    ] = None,
    out_folder: Annotated[
        Path | None,
        option(
            "New folder for the run, or that of the same run, unfinished.",
            "runs/DATASET-n",
            name="--out",
        ),
    ] = None,
    resume: Annotated[Path | None, option("Continue the run in DIR.", metavar="DIR")] = None,
    runs: Annotated[int, option("Number of runs that train side by side.")] = 1,
    seed: Annotated[int, option("Seed of the initialisations and the orders of examples.")] = 0,
    hidden: Annotated[
        str | None,
        option("Hidden widths of the teacher; together the hidden oscillators.", "32,16,16"),
    ] = None,
    network_file: Annotated[
        Path | None,
        option("Network as JSON: fields of entrain.NetworkSpec.", name="--network", metavar="FILE"),
    ] = None,
    epochs: Annotated[
        int | None, option("Epochs of the named protocols, not of the teacher and earlier stages.")
    ] = None,
    hardware: Annotated[
        str | None,
        option(
            "Preset (entrain hardware) or TOML file to train for, by default with DIRECT.",
            "ideal network",
        ),
    ] = None,
    calibrated: Annotated[
        str | None,
        option(
            "Train a model of entrain calibrate further, by default on its data.", metavar="FILE"
        ),
    ] = None,
    initialisations: Annotated[
        int | None, option("Number of initialisations of the teacher; the best one is used.")
    ] = None,
    teacher_epochs: Annotated[int | None, option("Epochs of the teacher.", "300")] = None,
    path_solver: Annotated[
        str | None, option("Stage I: exact (solved) or sgd (as in the paper).", "exact")
    ] = None,
    ridge: Annotated[
        float | None, option("Ridge penalty of the exact solver on input weights, such as 1e-4.")
    ] = None,
    path_epochs: Annotated[int | None, option("SGD epochs of Stage I.", "300; digits: 40")] = None,
    path_learning_rate: Annotated[
        float | None, option("SGD learning rate of Stage I.", "3000; digits: 60000")
    ] = None,
    endpoint_epochs: Annotated[int | None, option("Epochs of Stage II.", "20")] = None,
    endpoint_learning_rate: Annotated[
        float | None, option("Learning rate of Stage II.", "10")
    ] = None,
    endpoint_weight: Annotated[float | None, option("Weight of the endpoint loss.", "1")] = None,
    direct_epochs: Annotated[
        int | None, option("Epochs of DIRECT.", "20 to 200, by the number of examples")
    ] = None,
    class_weight: Annotated[
        str | None, option("Class weights of DIRECT: balanced.", "equal")
    ] = None,
    fields: Annotated[
        list[str] | None,
        option(
            "Any field of a protocol, such as DIRECT.gain=8; may be repeated.",
            name="--set",
            metavar="PROTOCOL.FIELD=VALUE",
        ),
    ] = None,
    settings_file: Annotated[
        Path | None, option("Settings of DIRECT from entrain search.", name="--settings")
    ] = None,
    batch_size: Annotated[
        int | None, option("Examples per batch.", "256; digits: 32; own data: 16 to 256")
    ] = None,
    task: TaskName = None,
    label: Label = None,
    image_size: ImageSize = IMAGE_SIZE,
    frames: Frames = FRAMES,
    observation_time: Annotated[float | None, option("Observation time t_f.", "0.2")] = None,
    steps: Annotated[int | None, option("Number K of Euler steps.", "200")] = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Train an oscillator network on DATASET: in two stages with a neural teacher, or from labels
    or numbers.

    The two stages are those of the paper, except that Stage I is solved exactly; --path-solver sgd
    trains it as in the paper. A killed run continues with --resume DIR, or with the same command
    and --out DIR, and gives the same weights.
    """
    from entrain.data import fingerprint
    from entrain.training import DivergedError, Options
    from entrain.training.run_folder import RunFolder, new_folder
    from entrain.utils.device import choose_device

    if resume is not None:
        _refuse_options_of_recipe(context)
        folder = RunFolder.open(resume)
        stored = folder.settings
        if data_dir is None and stored.get("data_dir"):
            data_dir = Path(stored["data_dir"])
        chosen_device = choose_device(stored.get("device", "auto") if device == "auto" else device)
        data = _data_of(folder, data_dir)
        folder.require(data)
    else:
        if calibrated is not None and not is_given(context, "dataset"):
            dataset = _dataset_of(calibrated)
        source = data_source(dataset, label, image_size, task, frames)
        names = [field.name for field in dataclasses.fields(Options)]
        default = "TWO-STAGE-END" if source is None and hardware is None else "DIRECT"
        protocols = protocol or ([] if calibrated else [default])
        with with_option_names(*names):
            options = Options(
                protocols=protocols or None,
                settings=settings_of(settings_file, protocols) | dict(map(_field, fields or ())),
                network=_network(network_file),
                **{name: context.params[name] for name in names if name in context.params},
            )
        chosen_device = choose_device(device)
        data = read_data(dataset, data_dir, source)
        with with_option_names("class_weight"):
            recipe = options.recipe(data)
        settings = {
            "device": device,
            "data_dir": str(data_dir.expanduser().absolute()) if data_dir else None,
            "own": source,
            "examples": fingerprint(data),
        }
        path = out_folder or new_folder(Path("runs"), data.name)
        if (path / "results.json").exists():  # finished
            folder = RunFolder.create(path, recipe, settings)
        else:
            folder = RunFolder.continued_or_new(path, recipe, settings, data)
    with folder.locked():
        try:
            results, trained = _train(folder, data, chosen_device)
        except DivergedError as error:
            raise InputError(f"{error}{options_of(folder.recipe, error)}") from error
        except (KeyboardInterrupt, OSError):
            err.print(f"stopped; continue with: {resume_command(folder.path)}", soft_wrap=True)
            raise
    errors = divergence_errors(folder.recipe, trained)
    if json:
        failed = {"error": "\n".join(errors), "code": BAD_INPUT} if errors else {}
        print_json(results | failed)
    else:
        print_results(results, trained)
    for message in errors:
        print_error(message)
    for message in collapse_warnings(folder.recipe, trained):
        warnings.warn(message, RuntimeWarning, stacklevel=1)
    if errors:
        raise typer.Exit(BAD_INPUT)


def _train(
    folder: RunFolder, data: Dataset, device: torch.device
) -> tuple[dict[str, Any], Trained]:
    """Train and write models, results and figure."""
    from entrain import kernels
    from entrain.cli.figures import drawing
    from entrain.training import run_pipeline
    from entrain.training.progress import TrainingProgress

    start = time.monotonic()
    kernels.announce(device, err.print)
    if folder.recipe.spec.hidden >= _LARGE:
        _print_estimate(folder.recipe, data, device)
    with TrainingProgress(err) as progress:
        trained = run_pipeline(folder.recipe, data, device=device, store=folder, progress=progress)
    folder.save_models(trained.models)
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
    folder.save_results(results)
    with drawing(figure, results):
        draw_results(figure, trained, data)
    if "figure_error" in results:
        folder.save_results(results)
    return results, trained


def _print_estimate(recipe: Recipe, data: Dataset, device: torch.device) -> None:
    """Print about how long a large network takes."""
    from datetime import timedelta

    from entrain.training.duration import estimated_seconds

    seconds = estimated_seconds(recipe, len(data.train), data.task.outputs, device)
    err.print(
        f"{recipe.spec.hidden:,} hidden oscillators take about {timedelta(seconds=round(seconds))} "
        f"(h:mm:ss) on {device}; --hidden and --epochs make it shorter",
        soft_wrap=True,
    )


def _dataset_of(file: str) -> str:
    """The dataset that the model of a calibrated chip was trained on."""
    from entrain.data import DATASETS
    from entrain.models.pretrained import load

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


def _network(path: Path | None) -> NetworkSpec | None:
    """The network of a JSON file."""
    from entrain.physics import NetworkSpec
    from entrain.utils.files import read_bytes

    if path is None:
        return None
    known = [field.name for field in dataclasses.fields(NetworkSpec)]
    content = read_bytes(path, "file", 2**20)
    try:
        values = loads(content)
        if not isinstance(values, dict):
            raise InputError(f"expected a JSON object, got {type(values).__name__}")
        for name in values:
            if name not in known:
                raise unknown_name("field of a network", name, known)
        missing = [name for name in ("hidden", "dynamics") if name not in values]
        if missing or not isinstance(values["dynamics"], dict):
            raise InputError(
                'a network has hidden and dynamics, such as {"hidden": 64, "dynamics": '
                '{"mobility": 1, "observation_time": 15, "steps": 60}}'
            )
        return NetworkSpec.from_json(values)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"{path}: not a network ({reason(error)})") from error


def _field(text: str) -> tuple[str, object]:
    """PROTOCOL.FIELD=VALUE: a number, true, false, null, a list of numbers, or else text."""
    name, equals, value = text.partition("=")
    protocol, dot, field = name.rpartition(".")
    if not (equals and dot and protocol and field):
        raise InputError(f"--set must be PROTOCOL.FIELD=VALUE such as DIRECT.gain=8, got {text!r}")
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
            flag = "DATASET" if name == "dataset" else parameter.opts[0]
            raise InputError(
                f"{flag} cannot be combined with --resume: the run follows its recipe (run.json)"
            )
