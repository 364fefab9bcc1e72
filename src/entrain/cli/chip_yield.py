"""`entrain yield`: a model on many chips of a kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import err, number, out, print_json, table
from entrain.cli.options import Address, DataDir, Device, EngineName, Json, ModelArgument

if TYPE_CHECKING:
    import torch
    from rich.table import Table

    from entrain.cluster import Engine
    from entrain.data import Split
    from entrain.evaluation.chips import Yield
    from entrain.hardware import Hardware
    from entrain.models.model import Model


_AS_TRAINED: dict[str, Any] = {"label": None, "image_size": None}


def command(
    model: ModelArgument,
    hardware: Annotated[
        str | None,
        typer.Option(
            help="Kind of chip: a preset or a TOML file; see entrain hardware.",
            show_default="what the model was trained for",
        ),
    ] = None,
    chips: Annotated[int, typer.Option(help="Number of chips.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the first chip; the others follow.")] = 0,
    noise_seed: Annotated[int, typer.Option(help="Seed of the noise of a run.")] = 0,
    threshold: Annotated[
        float | None,
        typer.Option(help="Accuracy in percent of a good chip.", show_default="none"),
    ] = None,
    effects: Annotated[
        bool,
        typer.Option("--effects", help="Also measure what each effect costs, alone and among all."),
    ] = False,
    strengths: Annotated[
        bool,
        typer.Option(
            "--strengths", help="Also measure each effect at 1/4 to 4 times its strength."
        ),
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Test examples of another dataset.", show_default="what the model was trained on"
        ),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(help="Use only the first so many test examples.", show_default="all"),
    ] = None,
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE.json",
            help="File for accuracies and result; if it exists, continue from it.",
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a figure: .png, .pdf or .svg.")
    ] = None,
    engine: EngineName = "process",
    address: Address = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Make many chips of a kind, each with its own parts, and measure MODEL on each of them.

    The seed of a chip draws its mismatch, its dead parts and the like. --noise-seed draws the noise
    of a run, which is the same for every chip. With --out, a killed measurement continues where it
    was, and one with more chips adds to those that are there.
    """
    from entrain.cli.evaluate import test_examples
    from entrain.evaluation.yield_file import keep_result
    from entrain.models.on_chip import hardware_mismatch_message

    _check(chips, seed, threshold, examples, out_file, figure)
    path, loaded, kind = _model_and_kind(model, hardware)
    place, worker = _engine(engine, address, device)
    name, split = test_examples(path, loaded, dataset, _AS_TRAINED, data_dir)
    split = _first(split, examples)
    loaded.network.to(place)
    found = _measured(
        loaded,
        _kinds(kind, effects, strengths),
        split,
        chips=chips,
        first_seed=seed,
        noise_seed=noise_seed,
        out=out_file,
        engine=worker,
    )
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
        **found[kind].summary(),
        "accuracies": list(found[kind].accuracies),
    }
    if threshold is not None:
        result |= {"threshold": threshold, "above_threshold": found[kind].above(threshold)}
    if effects:
        result["effects"] = _effects(kind, found)
    if strengths:
        result["strengths"] = _strengths(kind, found)
    if out_file is not None:
        keep_result(out_file, result)
        result["file"] = str(out_file)
    if figure is not None:
        from entrain.plots.chip_yield import draw_yield

        draw_yield(figure, result)
        result["figure"] = str(figure)
    if json:
        print_json(result)
    else:
        _show(result)
    if (said := hardware_mismatch_message(loaded.hardware, kind)) is not None:
        err.print(said, soft_wrap=True)


def _check(
    chips: int,
    seed: int,
    threshold: float | None,
    examples: int | None,
    out_file: Path | None,
    figure: Path | None,
) -> None:
    """Refuse what cannot be, before anything is loaded."""
    from entrain.evaluation.chips import check_chips
    from entrain.evaluation.yield_file import check_path
    from entrain.utils.errors import finite_float, positive_int

    check_chips(chips, seed)
    if examples is not None:
        positive_int("--examples", examples)
    if threshold is not None:
        finite_float("--threshold", threshold, least=0.0, most=100.0)
    if figure is not None:
        from entrain.plots.chip_yield import check_format

        check_format(figure)
    if out_file is not None:
        check_path(out_file)


def _first(split: Split, examples: int | None) -> Split:
    """The first so many examples, or all."""
    from entrain.utils.errors import InputError

    if examples is None:
        return split
    if examples > len(split):
        raise InputError(
            f"--examples must be at most {len(split):,}, as many as there are to test with; "
            f"got {examples:,}"
        )
    return replace(split, features=split.features[:examples], labels=split.labels[:examples])


def _engine(name: str, address: str | None, device: str) -> tuple[torch.device, Engine]:
    """Where this process computes, and the engine for chips; a cluster has devices of its own."""
    import torch

    from entrain import kernels
    from entrain.cluster import LocalEngine, engine_named

    engine = engine_named(name, address, device)
    if not isinstance(engine, LocalEngine):
        return torch.device("cpu"), engine
    kernels.prepare(engine.device, err.print)
    return engine.device, engine


def _model_and_kind(model: str, hardware: str | None) -> tuple[Path, Model, Hardware]:
    from entrain.hardware import find
    from entrain.models.pretrained import find as find_model
    from entrain.models.pretrained import load
    from entrain.utils.errors import InputError

    path = find_model(model)
    loaded = load(path)
    kind = loaded.hardware if hardware is None else find(hardware)
    if kind is None:
        raise InputError(
            f"{model}: was not trained for a kind of chip; choose one with --hardware, such as "
            "typical (entrain hardware lists them)"
        )
    return path, loaded, kind


def _kinds(kind: Hardware, effects: bool, strengths: bool) -> list[Hardware]:
    """The kind itself, and what else is measured."""
    from entrain.hardware.strengths import varied

    found = [kind]
    for name, _ in kind.effects:
        if effects:
            found += [kind.only(name), kind.without(name)]
        if strengths:
            found += [each.hardware for each in varied(kind, name)]
    return list(dict.fromkeys(found))


def _measured(
    model: Model,
    kinds: list[Hardware],
    split: Split,
    *,
    chips: int,
    out: Path | None,
    **others: Any,
) -> dict[Hardware, Yield]:
    from entrain.cli.progress import fraction_bar
    from entrain.evaluation.chip_yield import yields_of

    many = "" if len(kinds) == 1 else f" of {len(kinds)} kinds"
    with fraction_bar(f"{chips} chips{many}") as on_progress:
        done = 0

        def some_more(accuracies: list[float]) -> None:
            nonlocal done
            done += len(accuracies)
            on_progress(done / (chips * len(kinds)))

        try:
            return yields_of(model, kinds, split, chips=chips, out=out, on_done=some_more, **others)
        except KeyboardInterrupt:
            if out is not None:
                err.print(f"stopped; the same command continues from {out}", soft_wrap=True)
            raise


def _effects(kind: Hardware, found: dict[Hardware, Yield]) -> dict[str, dict[str, float]]:
    """The mean accuracy with each effect alone, and with all but it."""
    return {
        name: {"alone": found[kind.only(name)].mean, "without": found[kind.without(name)].mean}
        for name, _ in kind.effects
    }


def _strengths(kind: Hardware, found: dict[Hardware, Yield]) -> dict[str, list[dict[str, Any]]]:
    """The accuracy with each effect at several strengths, all others as they are."""
    from entrain.hardware.strengths import varied

    return {
        name: [
            {"factor": each.value, "strength": each.label}
            | found[each.hardware].summary()
            | {"p95": found[each.hardware].percentile(95)}
            for each in around
        ]
        for name, _ in kind.effects
        if (around := varied(kind, name))
    }


def _show(result: dict[str, Any]) -> None:
    kind = result["hardware"].get("name") or "chips"
    title = f"{result['chips']:,} chips of {kind}: {result['dataset']}"
    title += f", {result['examples']:,} examples"
    out.print(title, style="bold", soft_wrap=True, markup=False)
    shown = table("", "top-1 %", "value")
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
        out.print(_table_of_effects(result))
    if "strengths" in result:
        out.print(_table_of_strengths(result["strengths"]))
    if "file" in result:
        out.print(f"kept in {result['file']}", soft_wrap=True, markup=False)


def _table_of_effects(result: dict[str, Any]) -> Table:
    shown = table("What each effect costs, in points of the mean", "effect", "alone", "in all")
    for name, means in sorted(
        result["effects"].items(), key=lambda entry: entry[1]["alone"] - entry[1]["without"]
    ):
        shown.add_row(
            name,
            number(result["ideal"] - means["alone"]),
            number(means["without"] - result["mean"]),
        )
    return shown


def _table_of_strengths(strengths: dict[str, list[dict[str, Any]]]) -> Table:
    from entrain.hardware.strengths import FACTORS

    shown = table(
        "Mean over chips with one effect at so many times its strength",
        "effect",
        "its strength",
        *(f"x {factor:g}" for factor in FACTORS),
    )
    for name, around in strengths.items():
        by_factor = {each["factor"]: each for each in around}
        cells = [number(by_factor[f]["mean"]) if f in by_factor else "-" for f in FACTORS]
        shown.add_row(name, by_factor[1.0]["strength"], *cells)
    return shown
