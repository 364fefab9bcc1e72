"""`entrain traces`: experiments that show a device's numbers, and what a simulated chip answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import err, out, print_json
from entrain.cli.options import Json, ModelArgument, is_given, with_option_names

if TYPE_CHECKING:
    from entrain.hardware import Hardware
    from entrain.models.model import Model


def command(
    context: typer.Context,
    model: ModelArgument,
    out_file: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="New .npz or .safetensors file.")
    ] = Path("traces.npz"),
    runs: Annotated[int, typer.Option(help="Number of runs, each with other fields.")] = 200,
    times: Annotated[
        int, typer.Option(help="Number of readings of a run, at equal intervals.")
    ] = 20,
    hardware: Annotated[
        str | None,
        typer.Option(
            help="Also simulate a chip of this kind: a preset or a TOML file.",
            show_default="the plan alone, for a device on the bench",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of that chip.")] = 0,
    noise: Annotated[float, typer.Option(help="Standard deviation of its readings, rad.")] = 0.0,
    field_seed: Annotated[int, typer.Option(help="Seed of the fields and of the noise.")] = 0,
    json: Json = False,
) -> None:
    """Plan experiments that show what a device makes of MODEL, for entrain calibrate.

    The file holds the fields to program (runs x oscillators) and the times to read at, in the unit
    of the network's time. Add the phases that you read, in rad, as the array phases (times x runs x
    oscillators), NaN where there is none. With --hardware a simulated chip adds them.
    """
    from entrain.calibration import plan, simulated
    from entrain.hardware import find
    from entrain.models.pretrained import load
    from entrain.utils.errors import InputError

    for name in ("seed", "noise"):
        if hardware is None and is_given(context, name):
            raise InputError(f"--{name} is of a simulated chip: choose its kind with --hardware")
    if out_file.exists():
        raise InputError(f"{out_file}: is there already; give another --out")
    loaded = load(model)
    with with_option_names("runs", "times", "noise"):
        found = plan(loaded, runs=runs, times=times, seed=field_seed)
        if hardware is not None:
            chip = find(hardware).sample(seed)
            found = simulated(loaded, chip, found, noise=noise, seed=field_seed)
            _say_what_is_left_out(chip.hardware, loaded)
        found.save(out_file)
    facts = {
        "file": str(out_file),
        "runs": found.runs,
        "times": len(found.times),
        "oscillators": found.oscillators,
        "phases": found.phases is not None,
    }
    if json:
        print_json(facts)
        return
    what = "simulated readings" if found.phases is not None else "a plan, without phases yet"
    out.print(
        f"{out_file}: {found.runs} runs, {len(found.times)} times, {found.oscillators} "
        f"oscillators; {what}",
        soft_wrap=True,
    )
    if found.phases is not None:
        out.print(f"entrain calibrate {out_file} --model {model}", soft_wrap=True)


def _say_what_is_left_out(kind: Hardware, model: Model) -> None:
    """What a calibration of these traces will not know of the chip."""
    from entrain.hardware.hardware import PROGRAMMED

    on = [name for name, _ in kind.effects]
    absent = [name for name in ("phase_noise", "readout") if name in on]
    if absent:
        err.print(
            f"left out of the readings: {', '.join(absent)}; --noise is the error of a reading",
            soft_wrap=True,
        )
    known = () if model.hardware is None else [name for name, _ in model.hardware.effects]
    rounds = [name for name in on if name in PROGRAMMED and name not in known]
    if rounds:
        err.print(
            f"the chip changes what it is programmed with ({', '.join(rounds)}), and a calibration "
            "takes that for gains. Train the model for such chips first: entrain train --hardware",
            soft_wrap=True,
        )
