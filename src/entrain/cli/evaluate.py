"""`entrain evaluate`: a model on a dataset's test images."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import err, number, out, print_json, table
from entrain.cli.options import DataDir, Device, Json, ModelArgument, require
from entrain.cli.own_data import IMAGE_SIZE, own_data, read

if TYPE_CHECKING:
    from entrain.data import Split
    from entrain.hardware import Chip
    from entrain.models.model import Model
    from entrain.training.run_folder import RunFolder


def command(
    model: ModelArgument,
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="DATASET",
            help="A dataset, or your own data, as in entrain train.",
            show_default="what the model was trained on",
        ),
    ] = None,
    temperature: Annotated[float, typer.Option(help="Thermal noise kT during inference.")] = 0.0,
    replicates: Annotated[
        int, typer.Option(help="Number of noisy trajectories for each image.")
    ] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the noise.")] = 0,
    refine: Annotated[
        int | None,
        typer.Option(metavar="STEPS", help="Compare with this many Euler steps."),
    ] = None,
    chip: Annotated[
        int | None,
        typer.Option(
            metavar="SEED", help="Measure the chip of this seed; entrain yield measures many."
        ),
    ] = None,
    hardware: Annotated[
        str | None,
        typer.Option(
            help="Kind of that chip: a preset or a TOML file.",
            show_default="what the model was trained for",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Label column of your table.", show_default="as in training")
    ] = None,
    image_size: Annotated[
        int | None,
        typer.Option(help="Side of your own pictures in pixels.", show_default="as in training"),
    ] = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Measure MODEL on test examples: top-1, top-2, teacher agreement, endpoint error.

    The test examples of a dataset are its official test images; those of your own data are the part
    that training set aside. A run folder remembers your own data. With --temperature, the averaged
    outputs of an ensemble and its single trajectories are measured. The network is the ideal one,
    whatever hardware it was trained for, unless you give --chip. The device that a model was
    calibrated on is measured beside it.
    """
    from entrain import kernels
    from entrain.models.on_chip import ModelOnChip
    from entrain.models.pretrained import find, load
    from entrain.utils.device import choose_device
    from entrain.utils.errors import positive_float, positive_int, seed_number

    require(partial(positive_float, zero=True), temperature=temperature)
    require(positive_int, replicates=replicates, refine=refine)
    require(seed_number, seed=seed, chip=chip)
    _check_chip(chip, hardware, temperature, refine)
    place = choose_device(device)
    path = find(model)
    loaded = load(path)
    made = None if chip is None else _chip(path, loaded, chip, hardware)
    given = {"label": label, "image_size": image_size}
    name, split = test_examples(path, loaded, dataset, given, data_dir)
    kernels.prepare(place, err.print)
    loaded.network.to(place)
    result: dict[str, Any] = {
        "model": str(path),
        "protocol": loaded.protocol,
        "dataset": name,
        "split": "test",
        "examples": len(split),
        "temperature": temperature,
    }
    if made is None:
        result |= _measure(loaded, split, temperature, replicates, seed)
        if (one := loaded.hardware) is not None and one.is_one_chip:
            result["on_device"] = ModelOnChip(loaded, one.sample(0), seed).evaluate(split)
    else:
        result |= {"chip": chip, "hardware": made.hardware.to_json(), "noise_seed": seed}
        result |= ModelOnChip(loaded, made, seed).evaluate(split)
    if loaded.hardware is not None:
        result["trained_for"] = loaded.hardware.to_json()
    if refine is not None:
        result["refinement"] = _refinement(loaded, split, refine)
    if json:
        print_json(result)
    else:
        _show(result)
    _say_what_was_measured(model, loaded, made)


def test_examples(
    path: Path,
    model: Model,
    dataset: str | None,
    options: dict[str, Any],
    data_dir: Path | None,
) -> tuple[str, Split]:
    """The name and the test examples of `dataset`, or of what the model was trained on."""
    from entrain.data import DATASETS
    from entrain.utils.errors import InputError

    name, split = _test_examples(model, _run_of(path, model), dataset, options, data_dir)
    if split.features.shape[1] != model.network.inputs:
        pixels = "images of {} pixels" if name in DATASETS else "examples of {} numbers"
        raise InputError(
            f"{name} has {pixels.format(split.features.shape[1])}, the model {path} takes "
            f"{model.network.inputs} (it was trained on {model.dataset})"
        )
    return name, split


def _run_of(path: Path, model: Model) -> RunFolder | None:
    """The run that a model file lies in."""
    from entrain.training.run_folder import RunFolder

    if not (path.parent / "run.json").is_file():
        return None
    found = RunFolder.open(path.parent)
    return found if found.recipe.dataset == model.dataset else None


def _test_examples(
    model: Model,
    run: RunFolder | None,
    dataset: str | None,
    options: dict[str, Any],
    data_dir: Path | None,
) -> tuple[str, Split]:
    """Test examples of `dataset`, or of the data that the run remembers."""
    from entrain.data import DATASETS, load_test_split
    from entrain.utils.errors import InputError

    name, remembered = dataset or model.dataset, None if run is None else run.own
    given = {option: value for option, value in options.items() if value is not None}
    own: dict[str, Any] | None
    if dataset is None and remembered is not None:
        own = remembered | given
        if not Path(own["path"]).exists():
            raise InputError(
                f"{own['path']}: the run was trained on it, and it is no longer there; name the "
                "file or folder, entrain evaluate RUN DATA"
            )
    elif dataset is None and name not in DATASETS:
        raise InputError(
            f"the model was trained on data of your own ({name}): name the file or folder, "
            "entrain evaluate MODEL DATA"
        )
    else:
        own = own_data(name, options["label"], options["image_size"] or IMAGE_SIZE)
        if own and remembered and own["path"] == remembered["path"]:
            own = remembered | given
    if own is None:
        kept = None if run is None else run.settings["data_dir"]
        return name, load_test_split(name, data_dir or (Path(kept) if kept else None))
    data = read(name, data_dir, own)
    if run is not None and dataset is None and not given and not run.has(data):
        raise InputError(
            f"{own['path']}: has changed since the run was trained on it, so that test examples "
            "may have been trained on; name the data to evaluate it all the same, "
            "entrain evaluate RUN DATA"
        )
    if data.class_names != model.class_names:
        raise InputError(
            f"{name} has the classes {', '.join(data.class_names)}; the model knows "
            f"{', '.join(model.class_names)}"
        )
    return data.name, data.test


def _check_chip(
    chip: int | None, hardware: str | None, temperature: float, refine: int | None
) -> None:
    """Refuse options that the other ones leave without a meaning."""
    from entrain.utils.errors import InputError

    if chip is None:
        if hardware is not None:
            raise InputError(
                "--hardware is the kind of a chip: choose one with --chip SEED, or measure many "
                "with entrain yield MODEL --hardware"
            )
    elif temperature or refine is not None:
        option = "--temperature" if temperature else "--refine"
        raise InputError(f"{option} is for the ideal network; leave it out, or --chip")


def _chip(path: Path, model: Model, seed: int, hardware: str | None) -> Chip:
    """The chip of this seed, of the kind that is named or that the model was trained for."""
    from entrain.hardware import find
    from entrain.utils.errors import InputError

    kind = model.hardware if hardware is None else find(hardware)
    if kind is None:
        raise InputError(
            f"{path}: was not trained for a kind of chip; choose one with --hardware, such as "
            "typical (entrain hardware lists them)"
        )
    kind.check(model.network.hidden, model.network.outputs)
    return kind.sample(seed)


def _say_what_was_measured(name: str, model: Model, chip: Chip | None) -> None:
    """That the ideal network was measured of a model made for chips, or a foreign chip."""
    from entrain.models.on_chip import hardware_mismatch_message

    if chip is not None:
        if (said := hardware_mismatch_message(model.hardware, chip.hardware)) is not None:
            err.print(said)
    elif model.hardware is not None and not (
        model.hardware.is_identity or model.hardware.is_one_chip
    ):
        err.print(
            f"measured on the ideal network; the model was trained for "
            f"{model.hardware.name or 'chips'}, see entrain yield {shlex.quote(name)}",
            soft_wrap=True,
        )


def _measure(
    model: Model, split: Split, temperature: float, replicates: int, seed: int
) -> dict[str, Any]:
    import torch

    from entrain.cli.progress import fraction_bar
    from entrain.evaluation import noisy_scores, stochastic

    if temperature == 0:
        return dict(model.evaluate(split))
    inputs = model.inputs(split.features)
    with fraction_bar(f"{replicates} noisy trajectories of each image") as on_progress:
        scores = noisy_scores(
            model.network,
            inputs,
            temperature=temperature,
            replicates=replicates,
            seed=seed,
            on_progress=on_progress,
        )
    targets = None if model.teacher is None else model.teacher.targets(inputs)
    found = stochastic(scores, torch.from_numpy(split.labels).to(inputs.device), targets)
    return {**found["ensemble"], "single": found["single"], "replicates": replicates, "seed": seed}


def _refinement(model: Model, split: Split, steps: int) -> dict[str, Any]:
    from dataclasses import asdict

    import torch

    from entrain.evaluation import refine

    inputs = model.inputs(split.features)
    labels = torch.from_numpy(split.labels).to(inputs.device)
    grids = (model.network.dynamics.steps, steps)
    return asdict(refine(model.network, inputs, labels, grids))


def _show(result: dict[str, Any]) -> None:
    noise = f", kT = {result['temperature']:g}" if result["temperature"] else ""
    shown = table(
        f"{result['protocol']} on {result['dataset']}, {result['examples']:,} test examples{noise}",
        "",
        "top-1 %",
        "top-2 %",
        "agreement %",
        "endpoint RMSE",
        "correlation",
    )
    if "chip" in result:
        kind = result["hardware"].get("name")
        rows = {f"chip {result['chip']}{f' of {kind}' if kind else ''}": result}
    else:
        rows = {"deterministic": result}
    if "single" in result:
        count = result["replicates"]
        rows = {f"mean of {count} single": result["single"], f"ensemble of {count}": result}
    if "on_device" in result:
        rows = {"ideal network": result, "its device": result["on_device"]}
    for name, row in rows.items():
        shown.add_row(
            name,
            number(row["top1"]),
            number(row["top2"]),
            number(row.get("agreement")),
            number(row.get("endpoint_rmse"), ".4f"),
            number(row.get("endpoint_correlation"), ".4f"),
        )
    out.print(shown)
    if "refinement" in result:
        found = result["refinement"]
        coarse, fine = found["steps"]
        out.print(
            f"K = {coarse} -> {fine}: top-1 {found['top1'][0]:.2f} -> {found['top1'][1]:.2f} %, "
            f"{found['disagreement']:.3f} % of predictions change, outputs by "
            f"{found['rms_output_change']:.2e} RMS and {found['largest_output_change']:.2e} at "
            f"most; largest phase increment {found['largest_phase_increment'][0]:.3f} -> "
            f"{found['largest_phase_increment'][1]:.3f}"
        )
