"""`entrain yield`: the accuracy of a model on many chips."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import (
    INTERRUPTED,
    err,
    number,
    out,
    print_json,
    print_line,
    print_table,
)
from entrain.cli.options import (
    Address,
    DataDir,
    Device,
    EngineName,
    Figure,
    Json,
    Overwrite,
    TestData,
    TestImageSize,
    TestLabel,
    argument,
    option,
    refuse_options,
    require,
)
from entrain.utils.errors import InputError, finite_float, positive_int

if TYPE_CHECKING:
    from entrain.data import Split
    from entrain.evaluation.chip_yield import Yield
    from entrain.hardware import Hardware
    from entrain.models.model import Model


_ROWS = {
    "ideal": "ideal network",
    "mean": "mean over chips",
    "standard_error": "standard error of the mean",
    "sd": "SD from chip to chip",
    "p1": "1st percentile",
    "p5": "5th percentile",
    "p50": "median",
    "worst": "worst chip",
}


def command(
    model: Annotated[
        str, argument("MODEL", "Model file, run folder, shipped model, or problem file.")
    ],
    hardware: Annotated[
        str | None, option("Preset (entrain hardware) or TOML file of the chips.", "as in training")
    ] = None,
    chips: Annotated[int, option("Number of chips.")] = 100,
    seed: Annotated[int, option("Seed of the first chip; the others follow.")] = 0,
    noise_seed: Annotated[int, option("Seed of the noise of an inference.")] = 0,
    threshold: Annotated[
        float | None,
        option("Accuracy in percent of a good chip; of a problem, its value.", "none; the best"),
    ] = None,
    effects: Annotated[
        bool, option("Also measure the cost of each effect.", name="--effects")
    ] = False,
    strengths: Annotated[
        bool, option("Also measure each effect at 1/4 to 4 times its strength.", name="--strengths")
    ] = False,
    dataset: TestData = None,
    label: TestLabel = None,
    image_size: TestImageSize = None,
    examples: Annotated[int | None, option("Use the first test examples only.", "all")] = None,
    restarts: Annotated[int | None, option("Runs of a problem on every chip.", "10")] = None,
    steps: Annotated[int | None, option("Euler steps of a run of a problem.", "2000")] = None,
    out_file: Annotated[
        Path | None,
        option(
            "File for the chips measured so far and the result; continued if it exists.",
            name="--out",
            metavar="FILE.json",
        ),
    ] = None,
    figure: Figure = None,
    engine: EngineName = "process",
    address: Address = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Measure the accuracy of MODEL, or the solutions of a problem, on many chips.

    The seed of a chip draws its mismatch, its dead parts and its other imperfections; with
    --noise-seed it draws the noise of its inferences. The intervals of the mean and the percentiles
    are over chips, noise and test examples. With --out, a killed command continues, and one with
    more chips adds to those of the file. Ctrl-C shows the chips of a model measured so far.

    A problem file, as of entrain solve, runs several times on every chip: the table has the best of
    its runs and their mean.
    """
    from entrain.cli.figures import drawing
    from entrain.cli.loading import hardware_for, load_model, prepared_engine, read_test_examples
    from entrain.cli.problem_yield import measure
    from entrain.evaluation.chip_yield import wilson_of
    from entrain.evaluation.chips import check_chips
    from entrain.evaluation.intervals import CONFIDENCE
    from entrain.evaluation.yield_file import check_path, keep_result
    from entrain.ising.readers import is_problem_file
    from entrain.models.on_chip import hardware_mismatch_message
    from entrain.plots.chip_yield import draw_yield
    from entrain.plots.style import check_format
    from entrain.utils.new_files import check_new, new_files

    check_chips(chips, seed)
    require(positive_int, examples=examples, restarts=restarts, steps=steps)
    if Path(model).is_file() and is_problem_file(Path(model)):
        refuse_options(
            "a model",
            **{"--strengths": strengths, "--data": dataset, "--label": label},
            **{"--image-size": image_size, "--examples": examples},
        )
        check_format(figure)
        check_new(figure, overwrite=overwrite)
        measure(
            Path(model),
            hardware,
            chips=chips,
            restarts=restarts or 10,
            steps=steps,
            first_seed=seed,
            noise_seed=noise_seed,
            target=threshold,
            effects=effects,
            engine=prepared_engine(engine, address, device)[1],
            out_file=out_file,
            figure=figure,
            overwrite=overwrite,
            json=json,
        )
        return
    refuse_options("a problem file", **{"--restarts": restarts, "--steps": steps})
    if threshold is not None:
        finite_float("--threshold", threshold, least=0.0, most=100.0)
    check_format(figure)
    check_new(figure, overwrite=overwrite)
    if out_file is not None:
        check_path(out_file)
    path, loaded = load_model(model)
    hardware_of_chips = hardware_for(path, loaded, hardware)
    torch_device, chosen_engine = prepared_engine(engine, address, device)
    usage = f"entrain yield {shlex.quote(model)} --data FILE"
    name, split = read_test_examples(usage, path, data_dir, dataset, label, image_size)
    if examples is not None:
        if examples > len(split):
            raise InputError(
                f"--examples must be at most {len(split):,}, the number of test examples; got "
                f"{examples:,}"
            )
        split = split.rows(slice(examples))
    loaded.network.to(torch_device)
    yields, interrupted = _measure(
        loaded,
        _variants(hardware_of_chips, effects, strengths),
        split,
        chips=chips,
        first_seed=seed,
        noise_seed=noise_seed,
        out=out_file,
        engine=chosen_engine,
    )
    chip_yield, ideal = yields[hardware_of_chips], loaded.evaluate(split)["top1"]
    intervals = {"ideal": wilson_of(ideal, len(split)), **chip_yield.intervals(threshold)}
    result: dict[str, Any] = {
        "model": str(path),
        "hardware": hardware_of_chips.to_json(),
        "trained_for": None if loaded.hardware is None else loaded.hardware.to_json(),
        "dataset": name,
        "split": "test",
        "examples": len(split),
        "chips": len(chip_yield.accuracies),
        "seed": seed,
        "noise_seed": noise_seed,
        "ideal": ideal,
        **chip_yield.summary(),
        "standard_error": chip_yield.standard_error,
        "confidence": CONFIDENCE,
        "intervals": {name: list(interval) for name, interval in intervals.items()},
        "accuracies": list(chip_yield.accuracies),
    }
    if threshold is not None:
        result |= {"threshold": threshold, "above_threshold": chip_yield.above(threshold)}
    if interrupted:
        result |= {"interrupted": True, "chips_asked": chips}
    if effects and not interrupted:
        result["effects"] = {
            effect: {
                "alone": yields[hardware_of_chips.only(effect)].mean,
                "without": yields[hardware_of_chips.without(effect)].mean,
            }
            for effect, _ in hardware_of_chips.effects
        }
    if strengths and not interrupted:
        result["strengths"] = _strengths(hardware_of_chips, yields)
    if out_file is not None:
        if not interrupted:
            keep_result(out_file, result)
        result["file"] = str(out_file)
    if figure is not None:
        with new_files(figure, overwrite=overwrite) as parts, drawing(figure, result):
            draw_yield(parts[figure], result)
    if json:
        print_json(result)
    else:
        _print(result)
    if (message := hardware_mismatch_message(loaded.hardware, hardware_of_chips)) is not None:
        err.print(message, soft_wrap=True)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _variants(hardware: Hardware, effects: bool, strengths: bool) -> list[Hardware]:
    """The hardware and the variants of it that are measured beside it."""
    from entrain.hardware.strengths import variations

    variants = [hardware]
    for name, _ in hardware.effects:
        if effects:
            variants += [hardware.only(name), hardware.without(name)]
        if strengths:
            variants += [strength.hardware for strength in variations(hardware, name)]
    return list(dict.fromkeys(variants))


def _measure(
    model: Model,
    variants: list[Hardware],
    split: Split,
    *,
    chips: int,
    out: Path | None,
    **options: Any,
) -> tuple[dict[Hardware, Yield], bool]:
    """The yield of every variant, and True if Ctrl-C ended the measurement early."""
    from entrain.cli.progress import fraction_bar
    from entrain.evaluation.chip_yield import YieldInterrupted, yields_of

    title = f"{chips} chips" + (f" of {len(variants)} variants" if len(variants) > 1 else "")
    with fraction_bar(title) as on_progress:
        done = 0

        def count(accuracies: list[float]) -> None:
            nonlocal done
            done += len(accuracies)
            on_progress(done / (chips * len(variants)))

        try:
            yields = yields_of(
                model, variants, split, chips=chips, out=out, on_done=count, **options
            )
            return yields, False
        except KeyboardInterrupt as error:
            if out is not None:
                err.print(f"stopped; the same command continues from {out}", soft_wrap=True)
            if not isinstance(error, YieldInterrupted):
                raise
            yields = error.yields
    measured = len(yields[variants[0]].accuracies)
    err.print(f"interrupted after {measured:,} of {chips:,} chips", style="yellow")
    return yields, True


def _strengths(
    hardware: Hardware, yields: dict[Hardware, Yield]
) -> dict[str, list[dict[str, Any]]]:
    """The accuracy with each effect at several strengths and all others unchanged."""
    from entrain.hardware.strengths import variations

    return {
        name: [
            {"factor": strength.value, "strength": strength.label}
            | yields[strength.hardware].summary()
            | {"p95": yields[strength.hardware].percentile(95)}
            for strength in around
        ]
        for name, _ in hardware.effects
        if (around := variations(hardware, name))
    }


def _print(result: dict[str, Any]) -> None:
    name = result["hardware"].get("name")
    title = f"{result['chips']:,} chips{f' of {name}' if name else ''}: {result['dataset']}"
    out.print(f"{title}, {result['examples']:,} examples", style="bold", soft_wrap=True)
    intervals = result["intervals"]
    rows = [
        (name, number(result[key]), _interval(intervals.get(key))) for key, name in _ROWS.items()
    ]
    if "threshold" in result:
        title, share = f"chips with at least {result['threshold']:g}", result["above_threshold"]
        rows.append((title, f"{share:.1f} %", _interval(intervals["above_threshold"], ".1f")))
    print_table("", ("top-1 %", "value", f"{result['confidence']} % interval"), rows)
    if "effects" in result:
        effects = result["effects"].items()
        by_cost = sorted(effects, key=lambda row: row[1]["alone"] - row[1]["without"])
        ideal, mean = result["ideal"], result["mean"]
        print_table(
            "Cost of each effect, in points of the mean",
            ("effect", "alone", "in all"),
            [
                (name, number(ideal - means["alone"]), number(means["without"] - mean))
                for name, means in by_cost
            ],
        )
    if "strengths" in result:
        _print_strengths(result["strengths"])
    if "file" in result:
        print_line(f"saved in {result['file']}")


def _interval(interval: list[float] | None, form: str = ".2f") -> str:
    return "" if interval is None else " to ".join(format(bound, form) for bound in interval)


def _print_strengths(strengths: dict[str, list[dict[str, Any]]]) -> None:
    from entrain.hardware.strengths import FACTORS

    rows = []
    for name, around in strengths.items():
        means = {row["factor"]: row["mean"] for row in around}
        nominal = next(row["strength"] for row in around if row["factor"] == 1.0)
        rows.append((name, nominal, *(number(means.get(factor)) for factor in FACTORS)))
    print_table(
        "Mean over chips, with one effect at a multiple of its strength",
        ("effect", "its strength", *(f"x {factor:g}" for factor in FACTORS)),
        rows,
    )
