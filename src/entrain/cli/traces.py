"""`entrain traces`: experiments for calibrating a chip, and their simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import err, print_json, print_line
from entrain.cli.options import (
    Json,
    ModelArgument,
    Overwrite,
    is_given,
    option,
    with_option_names,
)
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.hardware import Hardware
    from entrain.models.model import Model


def command(
    context: typer.Context,
    model: ModelArgument,
    out_file: Annotated[
        Path, option("New .npz or .safetensors file.", name="--out", metavar="FILE")
    ] = Path("traces.npz"),
    runs: Annotated[int, option("Number of runs, each with its own fields.")] = 200,
    times: Annotated[int, option("Number of readings of a run, at equal intervals.")] = 20,
    hardware: Annotated[
        str | None,
        option("Preset or TOML file: simulate the readings of a chip.", "the plan alone"),
    ] = None,
    seed: Annotated[int, option("Seed of the simulated chip.")] = 0,
    noise: Annotated[float, option("Standard deviation of its readings in rad.")] = 0.0,
    field_seed: Annotated[int, option("Seed of the fields and of the noise.")] = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Plan the measurement of a chip that was programmed with MODEL, for entrain calibrate.

    The file contains the fields to program (runs x oscillators) and the times of the readings, in
    the unit of the network's time. Add the phases that you read, in rad, as the array phases (times
    x runs x oscillators), NaN where one is missing. With --hardware they are those of a simulated
    chip.
    """
    from entrain.calibration import plan, simulated
    from entrain.hardware import find
    from entrain.models.pretrained import load
    from entrain.utils.new_files import new_files

    for name in ("seed", "noise"):
        if hardware is None and is_given(context, name):
            raise InputError(f"--{name} is for a simulated chip: choose it with --hardware")
    loaded = load(model)
    with (
        with_option_names("runs", "times", "noise"),
        new_files(out_file, overwrite=overwrite) as parts,
    ):
        traces = plan(loaded, runs=runs, times=times, seed=field_seed)
        if hardware is not None:
            chip = find(hardware).sample(seed)
            traces = simulated(loaded, chip, traces, noise=noise, seed=field_seed)
            _report_left_out(chip.hardware, loaded)
        traces.save(parts[out_file])
    facts = {
        "file": str(out_file),
        "runs": traces.runs,
        "times": len(traces.times),
        "oscillators": traces.oscillators,
        "phases": traces.phases is not None,
    }
    if json:
        print_json(facts)
        return
    content = "a plan without phases" if traces.phases is None else "simulated readings"
    print_line(
        f"{out_file}: {traces.runs} runs, {len(traces.times)} times, {traces.oscillators} "
        f"oscillators; {content}"
    )
    if traces.phases is not None:
        print_line(f"entrain calibrate {out_file} --model {model}")


def _report_left_out(hardware: Hardware, model: Model) -> None:
    """Report the effects of a chip that a calibration from these traces misses."""
    from entrain.hardware.hardware import PROGRAMMING_EFFECTS

    effects = [name for name, _ in hardware.effects]
    absent = [name for name in ("phase_noise", "readout") if name in effects]
    if absent:
        err.print(
            f"left out of the readings: {', '.join(absent)}; --noise is the error of a reading",
            soft_wrap=True,
        )
    trained_for = () if model.hardware is None else [name for name, _ in model.hardware.effects]
    rounded = [name for name in effects if name in PROGRAMMING_EFFECTS and name not in trained_for]
    if rounded:
        err.print(
            f"the chip changes what it is programmed with ({', '.join(rounded)}), and a "
            "calibration takes that for gains. Train the model for such chips first: "
            "entrain train --hardware",
            soft_wrap=True,
        )
