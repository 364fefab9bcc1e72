"""`entrain controls`: what the oscillators of a model contribute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    with_option_names,
)
from entrain.utils.errors import positive_int, seed_number

if TYPE_CHECKING:
    from entrain.evaluation.controls import ControlResult, Controls


def command(
    model: ModelArgument,
    dataset: Annotated[
        str | None,
        argument("DATA", "A dataset or your own data, as in entrain train.", "as in training"),
    ] = None,
    runs: Annotated[int, option("Trainings of each control, at least 2.")] = 5,
    seed: Annotated[int, option("Seed of initialisations and of the order of examples.")] = 0,
    epochs: Annotated[
        int | None, option("Epochs of each training.", "as in the recipe of MODEL")
    ] = None,
    examples: Annotated[
        int | None, option("Train on so many of the training examples.", "all")
    ] = None,
    only: Annotated[
        list[str] | None,
        option("Measure this control; may be repeated.", "all", metavar="CONTROL"),
    ] = None,
    out_file: Annotated[
        Path | None,
        option(
            "File that keeps finished controls; continued if it exists.",
            name="--out",
            metavar="FILE.json",
        ),
    ] = None,
    label: TestLabel = None,
    image_size: TestImageSize = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Measure what the oscillators of MODEL contribute, by training it again without parts.

    Networks are trained by the recipe of MODEL: unchanged; with couplings or input weights frozen
    at random; without couplings between hidden oscillators; with one or two Euler steps; beside
    them a perceptron with as many parameters and a linear model. Every control has several runs,
    and its difference to the unchanged network is paired by run, with a 95 % interval over runs and
    test examples. Validation selects; each network is tested once. With --out, a killed command
    continues with the controls that are missing.
    """
    from entrain import kernels
    from entrain.cli.loading import read_data
    from entrain.cli.progress import stage_bar
    from entrain.evaluation.controls import controls
    from entrain.utils.device import choose_device

    require(positive_int, runs=runs, epochs=epochs, examples=examples)
    require(seed_number, seed=seed)
    torch_device = choose_device(device)
    kernels.announce(torch_device, err.print)
    with with_option_names("runs", "only", "image_size", "label"), stage_bar() as update:
        try:
            result = controls(
                model,
                dataset,
                runs=runs,
                seed=seed,
                epochs=epochs,
                examples=examples,
                only=only or None,
                out=out_file,
                label=label,
                image_size=image_size,
                data_dir=data_dir,
                read=lambda name, source, folder: read_data(name, folder, source),
                device=torch_device,
                on_progress=update,
            )
        except KeyboardInterrupt:
            if out_file is not None and out_file.exists():
                err.print(f"stopped; the same command continues {out_file}", soft_wrap=True)
            raise
    if json:
        print_json(result.to_json())
    else:
        _print(result)
        if out_file is not None:
            print_line(f"saved in {out_file}")


def _print(result: Controls) -> None:
    facts, metric = result.details, result.metric
    print_table(
        f"{facts['model']} on {facts['dataset']}: {facts['runs']} runs, "
        f"{facts['training_examples']:,} training and {facts['examples']:,} test examples",
        ("control", f"{metric.title} ± SD", "difference", "trained parameters"),
        [_row(result, row) for row in result.rows],
    )
    for note in result.notes:
        print_line(f"note: {note}")
    for sentence in result.sentences:
        print_line(sentence)


def _row(result: Controls, row: ControlResult) -> tuple[str, ...]:
    """The cells of a control."""
    from entrain.evaluation import summarise

    metric, difference = result.metric, result.difference(row.name)
    summary = summarise(row.values[metric.name])
    value = number(summary.mean, metric.form)
    if summary.runs > 1:
        value += f" ± {summary.sd:{metric.form}}"
    text = "" if difference is None else result.text(difference)
    count = "" if row.parameters is None else f"{row.parameters:,}"
    return row.name, value, text, count
