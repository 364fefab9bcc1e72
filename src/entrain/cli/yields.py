"""`entrain yield`: a model on many chips of a kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import err, number, out, print_json, table
from entrain.cli.options import DataDir, Device, Json, ModelArgument

if TYPE_CHECKING:
    from entrain.data import Split
    from entrain.evaluation.chips import Yield
    from entrain.hardware import Hardware
    from entrain.model import Model


_AS_TRAINED: dict[str, Any] = {"label": None, "image_size": None}


def command(
    model: ModelArgument,
    hardware: Annotated[
        str | None,
        typer.Option(
            help="A preset or a TOML file; see entrain hardware.",
            show_default="what the model was trained for",
        ),
    ] = None,
    chips: Annotated[int, typer.Option(help="Number of chips.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the first chip; the next ones follow.")] = 0,
    noise_seed: Annotated[int, typer.Option(help="Seed of the noise of a run.")] = 0,
    threshold: Annotated[
        float | None,
        typer.Option(help="Accuracy in percent that a good chip has.", show_default="none"),
    ] = None,
    effects: Annotated[
        bool, typer.Option("--effects", help="Also the cost of each effect, alone and among all.")
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Test examples of another dataset.", show_default="what the model was trained on"
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .pdf or .svg.")
    ] = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Make many chips of a kind, each with its own parts, and measure MODEL on each of them.

    Chips differ by mismatch, dead parts and the like, drawn by their seeds; the noise of a run is
    drawn by --noise-seed and the same for every chip.
    """
    from entrain import kernels
    from entrain.cli.evaluate import test_examples
    from entrain.device import choose_device
    from entrain.errors import InputError, finite_float
    from entrain.evaluation.chips import check_chips
    from entrain.figures.yields import check_format, draw_yield
    from entrain.hardware import find
    from entrain.models import find as find_model
    from entrain.models import load

    check_chips(chips, seed)
    if threshold is not None:
        finite_float("--threshold", threshold, least=0.0, most=100.0)
    if figure is not None:
        check_format(figure)
    place = choose_device(device)
    path = find_model(model)
    loaded = load(path)
    if hardware is None and loaded.hardware is None:
        raise InputError(
            f"{path}: was not trained for a kind of chip; choose one with --hardware, such as "
            "typical (entrain hardware lists them)"
        )
    kind = loaded.hardware if hardware is None else find(hardware)
    assert kind is not None
    name, split = test_examples(path, loaded, dataset, _AS_TRAINED, data_dir)
    kernels.prepare(place, err.print)
    loaded.network.to(place)
    found = _measured(loaded, kind, split, chips, seed, noise_seed, "chips")
    result: dict[str, Any] = {
        "model": str(path),
        "hardware": kind.to_json(),
        "trained_for": None if loaded.hardware is None else loaded.hardware.to_json(),
        "dataset": name,
        "split": "test",
        "examples": len(split),
        "chips": chips,
        "seed": seed,
        "noise_seed": noise_seed,
        "ideal": loaded.evaluate(split)["top1"],
        **found.summary(),
        "accuracies": list(found.accuracies),
    }
    if threshold is not None:
        result |= {"threshold": threshold, "above_threshold": found.above(threshold)}
    if effects:
        result["effects"] = _effects(loaded, kind, split, chips, seed, noise_seed)
    if figure is not None:
        draw_yield(figure, result)
        result["figure"] = str(figure)
    if json:
        print_json(result)
        return
    _show(result)
    _say_what_it_was_made_for(loaded, kind)


def _measured(
    model: Model, kind: Hardware, split: Split, chips: int, seed: int, noise_seed: int, what: str
) -> Yield:
    from entrain.cli.progress import fraction_bar
    from entrain.yields import yield_of

    with fraction_bar(what) as on_progress:
        done = 0

        def some_more(accuracies: list[float]) -> None:
            nonlocal done
            done += len(accuracies)
            on_progress(done / chips)

        return yield_of(
            model,
            kind,
            split,
            chips=chips,
            first_seed=seed,
            noise_seed=noise_seed,
            on_done=some_more,
        )


def _effects(
    model: Model, kind: Hardware, split: Split, chips: int, seed: int, noise_seed: int
) -> dict[str, dict[str, float]]:
    """The mean accuracy with each effect alone, and with all but it."""
    found = {}
    for name, _ in kind.effects:
        alone = _measured(model, kind.only(name), split, chips, seed, noise_seed, f"only {name}")
        rest = _measured(model, kind.without(name), split, chips, seed, noise_seed, f"no {name}")
        found[name] = {"alone": alone.mean, "without": rest.mean}
    return found


def _show(result: dict[str, Any]) -> None:
    kind = result["hardware"].get("name") or "chips"
    shown = table(
        f"{result['chips']} chips of {kind}: {result['dataset']}, {result['examples']} examples",
        "top-1 %",
        "value",
    )
    for name, key in (
        ("ideal network", "ideal"),
        ("mean over chips", "mean"),
        ("SD", "sd"),
        ("1st percentile", "p1"),
        ("5th percentile", "p5"),
        ("median", "p50"),
        ("worst chip", "worst"),
    ):
        shown.add_row(name, number(result[key]))
    if "threshold" in result:
        shown.add_row(
            f"chips with at least {result['threshold']:g}", f"{result['above_threshold']:.1f} %"
        )
    out.print(shown)
    if "effects" in result:
        each = table("What each effect costs, in points of the mean", "effect", "alone", "in all")
        for name, means in sorted(
            result["effects"].items(), key=lambda entry: entry[1]["alone"] - entry[1]["without"]
        ):
            each.add_row(
                name,
                number(result["ideal"] - means["alone"]),
                number(means["without"] - result["mean"]),
            )
        out.print(each)


def _say_what_it_was_made_for(model: Model, kind: Hardware) -> None:
    if model.hardware is None:
        err.print("the model was trained for the ideal network, not for chips")
    elif model.hardware != kind:
        name = model.hardware.name or "another kind of chip"
        err.print(f"the model was trained for {name}, not for these chips")
