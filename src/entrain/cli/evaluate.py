"""`entrain evaluate`: the accuracy of a model on test examples."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from entrain.cli.console import err, number, print_json, print_line, print_table
from entrain.cli.options import (
    DataDir,
    Device,
    Json,
    ModelArgument,
    TestImageSize,
    TestLabel,
    argument,
    option,
    require,
)
from entrain.utils.errors import InputError, positive_float, positive_int, seed_number

if TYPE_CHECKING:
    from entrain.data import Split
    from entrain.hardware import Chip
    from entrain.models.model import Model
    from entrain.tasks import Task


Columns = tuple[tuple[str, str, str], ...]  # title, metric, format
WITH_TEACHER = (
    ("agreement %", "agreement", ".2f"),
    ("endpoint RMSE", "endpoint_rmse", ".4f"),
    ("correlation", "endpoint_correlation", ".4f"),
)


def columns_of(task: Task) -> Columns:
    """The columns of the metrics of a task; of classes also those of agreement with a teacher."""
    columns = tuple((metric.title, metric.name, metric.form) for metric in task.metrics)
    return columns + WITH_TEACHER if task.has_classes else columns


def command(
    model: ModelArgument,
    dataset: Annotated[
        str | None,
        argument("DATASET", "A dataset or your own data, as in entrain train.", "as in training"),
    ] = None,
    temperature: Annotated[float, option("Thermal noise kT during inference.")] = 0.0,
    replicates: Annotated[int, option("Number of noisy trajectories for each example.")] = 10,
    seed: Annotated[int, option("Seed of the noise.")] = 0,
    refine: Annotated[
        int | None, option("Compare with this number of Euler steps.", metavar="STEPS")
    ] = None,
    chip: Annotated[
        int | None,
        option("Evaluate the chip of this seed; entrain yield evaluates many.", metavar="SEED"),
    ] = None,
    hardware: Annotated[
        str | None, option("Preset (entrain hardware) or TOML file of the chip.", "as in training")
    ] = None,
    label: TestLabel = None,
    image_size: TestImageSize = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Evaluate MODEL on test examples: top-1, top-2, teacher agreement, endpoint error; of numbers
    NRMSE, RMSE, MAE and R^2.

    A dataset of the package has official test images; of your own data, training sets a test part
    aside. A run folder stores where your own data are. With --temperature the averaged outputs of
    an ensemble and its single trajectories are evaluated. Without --chip the network is ideal,
    whatever hardware the model was trained for; a calibrated chip is evaluated beside it.
    """
    from entrain import kernels
    from entrain.cli.loading import hardware_for, load_model, read_test_examples
    from entrain.evaluation import refine as refined
    from entrain.evaluation.chip_yield import wilson_of
    from entrain.evaluation.intervals import CONFIDENCE
    from entrain.utils.device import choose_device

    require(partial(positive_float, zero=True), temperature=temperature)
    require(positive_int, replicates=replicates, refine=refine)
    require(seed_number, seed=seed, chip=chip)
    if chip is None and hardware is not None:
        raise InputError(
            "--hardware needs a chip: choose one with --chip SEED, or evaluate many with "
            "entrain yield MODEL --hardware"
        )
    for name, value in (("--temperature", temperature), ("--refine", refine)):
        if chip is not None and value:
            raise InputError(f"{name} is for the ideal network; leave it out, or --chip")
    path, loaded = load_model(model)
    if (temperature or refine) and not (loaded.task.has_classes and loaded.reads_once):
        raise InputError(
            f"--temperature and --refine are for classes and constant inputs; the model predicts "
            f"{loaded.task.description}"
        )
    sampled = None
    if chip is not None:
        chip_hardware = hardware_for(path, loaded, hardware)
        chip_hardware.check(loaded.network.hidden, loaded.network.outputs)
        sampled = chip_hardware.sample(chip)
    usage = f"entrain evaluate {shlex.quote(model)} FILE"
    name, split = read_test_examples(usage, path, data_dir, dataset, label, image_size)
    torch_device = choose_device(device)
    kernels.announce(torch_device, err.print)
    loaded.network.to(torch_device)
    result: dict[str, Any] = {
        "model": str(path),
        "protocol": loaded.protocol,
        "dataset": name,
        "split": "test",
        "examples": len(split),
        "temperature": temperature,
    }
    if sampled is None:
        result |= _evaluate(loaded, split, temperature, replicates, seed)
        if (trained_for := loaded.hardware) is not None and trained_for.is_one_chip:
            calibrated = replace(loaded, chip=trained_for.sample(0), noise_seed=seed)
            result["on_device"] = calibrated.evaluate(split)
    else:
        result |= {"chip": chip, "hardware": sampled.hardware.to_json(), "noise_seed": seed}
        result |= replace(loaded, chip=sampled, noise_seed=seed).evaluate(split)
        if loaded.task.has_classes:
            result["confidence"] = CONFIDENCE
            result["top1_interval"] = list(wilson_of(result["top1"], len(split)))
    if loaded.hardware is not None:
        result["trained_for"] = loaded.hardware.to_json()
    if refine is not None:
        steps = (loaded.network.dynamics.steps, refine)
        inputs_and_labels = loaded.examples(split)
        result["refinement"] = asdict(refined(loaded.network, *inputs_and_labels, steps))
    if json:
        print_json(result)
    else:
        _print(result, columns_of(loaded.task))
    _report_mismatch(model, loaded, sampled)


def _report_mismatch(name: str, model: Model, chip: Chip | None) -> None:
    """Report if the model was trained for other hardware than it was evaluated on."""
    from entrain.models.on_chip import hardware_mismatch_message

    if chip is not None:
        if (message := hardware_mismatch_message(model.hardware, chip.hardware)) is not None:
            err.print(message)
    elif model.hardware is not None and not (
        model.hardware.is_identity or model.hardware.is_one_chip
    ):
        err.print(
            f"evaluated on the ideal network; the model was trained for "
            f"{model.hardware.name or 'chips'}, see entrain yield {shlex.quote(name)}",
            soft_wrap=True,
        )


def _evaluate(
    model: Model, split: Split, temperature: float, replicates: int, seed: int
) -> dict[str, Any]:
    from entrain.cli.progress import fraction_bar
    from entrain.evaluation import noisy_scores, stochastic

    if temperature == 0:
        return dict(model.evaluate(split))
    inputs, labels = model.examples(split)
    with fraction_bar(f"{replicates} noisy trajectories of each example") as on_progress:
        scores = noisy_scores(
            model.network,
            inputs,
            temperature=temperature,
            replicates=replicates,
            seed=seed,
            on_progress=on_progress,
        )
    targets = None if model.teacher is None else model.teacher.targets(inputs)
    metrics = stochastic(scores, labels, targets)
    noise = {"single": metrics["single"], "replicates": replicates, "seed": seed}
    return metrics["ensemble"] | noise


def _print(result: dict[str, Any], columns: Columns) -> None:
    noise = f", kT = {result['temperature']:g}" if result["temperature"] else ""
    title = f"{result['protocol']} on {result['dataset']}"
    print_table(
        f"{title}, {result['examples']:,} test examples{noise}",
        ("", *(column for column, _, _ in columns)),
        [
            (name, *(number(metrics.get(key), form) for _, key, form in columns))
            for name, metrics in _metrics_by_name(result).items()
        ],
    )
    if "top1_interval" in result:
        low, high = result["top1_interval"]
        print_line(
            f"{result['confidence']} % interval of top-1, by {result['examples']:,} examples: "
            f"{low:.2f} to {high:.2f} %"
        )
    if "refinement" in result:
        fine = result["refinement"]
        print_line(
            f"K = {fine['steps'][0]} -> {fine['steps'][1]}: "
            f"top-1 {fine['top1'][0]:.2f} -> {fine['top1'][1]:.2f} %, "
            f"{fine['disagreement']:.3f} % of predictions change, outputs by "
            f"{fine['rms_output_change']:.2e} RMS and {fine['largest_output_change']:.2e} at "
            f"most; largest phase increment {fine['largest_phase_increment'][0]:.3f} -> "
            f"{fine['largest_phase_increment'][1]:.3f}"
        )


def _metrics_by_name(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    if "chip" in result:
        hardware = result["hardware"].get("name")
        return {f"chip {result['chip']}{f' of {hardware}' if hardware else ''}": result}
    if "on_device" in result:
        return {"ideal network": result, "calibrated chip": result["on_device"]}
    if "single" in result:
        count = result["replicates"]
        return {f"mean of {count} single": result["single"], f"ensemble of {count}": result}
    return {"deterministic": result}
