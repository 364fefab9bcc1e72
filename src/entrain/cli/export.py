"""`entrain export`: a trained network as a circuit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from entrain.cli.console import out, print_json
from entrain.cli.options import DataDir, Json, ModelArgument, is_given, with_option_names

if TYPE_CHECKING:
    from entrain.export.folder import Target
    from entrain.export.spice import Level, Oscillator
    from entrain.hardware import Chip
    from entrain.models.model import Model

_OPTIONS = ("level", "frequency", "cycles", "capacitance", "amplitude_rate", "oscillator", "seed")


_ONLY = {
    "spice": ("level", "frequency", "cycles", "capacitance", "amplitude_rate", "oscillator"),
    "verilog": ("phase", "coupling", "sine", "address", "lanes"),
}


def command(
    context: typer.Context,
    model: ModelArgument,
    to: Annotated[str, typer.Option(help="spice, verilog, onnx, or plain (JSON and NumPy).")],
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="A new folder.", show_default="MODEL-TO"),
    ] = None,
    images: Annotated[
        int, typer.Option(help="Test images whose fields go with it, the first ones.")
    ] = 10,
    level: Annotated[
        str, typer.Option(help="SPICE: phase (the equations) or lc (oscillators).")
    ] = "phase",
    frequency: Annotated[float, typer.Option(help="SPICE: of the oscillators, hertz.")] = 1e9,
    cycles: Annotated[float, typer.Option(help="SPICE: cycles until the phases are read.")] = 100.0,
    capacitance: Annotated[float, typer.Option(help="SPICE: of an oscillator, farads.")] = 1e-12,
    amplitude_rate: Annotated[
        float | None,
        typer.Option(
            help="SPICE: how fast amplitudes recover, in units of the network's time.",
            show_default="4 sqrt(cycles) / t_f",
        ),
    ] = None,
    oscillator: Annotated[
        str,
        typer.Option(help="SPICE, lc: levelled (amplitude control, limited couplings), or cubic."),
    ] = "levelled",
    phase: Annotated[int, typer.Option(help="Verilog: bits of a phase.")] = 16,
    coupling: Annotated[int, typer.Option(help="Verilog: bits of a coupling.")] = 10,
    sine: Annotated[int, typer.Option(help="Verilog: bits of a sine.")] = 12,
    address: Annotated[int, typer.Option(help="Verilog: bits that address the sine table.")] = 10,
    lanes: Annotated[int, typer.Option(help="Verilog: couplings multiplied in one cycle.")] = 4,
    hardware: Annotated[
        str | None,
        typer.Option(
            help="Export what a chip of this kind makes of it: a preset or a TOML file.",
            show_default="the ideal network",
        ),
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(
            metavar="HARDWARE",
            help="SPICE, lc: components with the tolerances of a preset or a TOML file.",
            show_default="as designed",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the chip that either of both draws.")] = 0,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Write MODEL as a circuit that a simulator runs: a SPICE netlist, or a core in Verilog.

    Input weights stay outside: a circuit gets the field of every oscillator, and those of some test
    images go with it. entrain verify runs the circuit on them and compares.
    """
    from entrain.cli.evaluate import test_examples
    from entrain.export import Onnx, Plain, Spice, WordLengths, design_of, write_export
    from entrain.export.components import components_of
    from entrain.export.design import MOST_IMAGES
    from entrain.models.pretrained import find, load
    from entrain.utils.errors import InputError, positive_int, unknown_name

    positive_int("--images", images, most=MOST_IMAGES)
    _refuse_of_others(context, to)
    target: Target
    with with_option_names(*_OPTIONS):
        if to == "spice":
            chosen = cast("Level", level)  # which is checked there
            kind = cast("Oscillator", oscillator)
            made = (chosen, frequency, cycles, capacitance, amplitude_rate)
            target = Spice(*made, oscillator=kind)
            if spread is not None:
                target = replace(target, spread=components_of(spread), seed=seed)
        elif to == "verilog":
            target = WordLengths(phase, coupling, sine, address, lanes)
        elif to == "plain":
            target = Plain()
        elif to == "onnx":
            target = Onnx()
        else:
            raise unknown_name("--to", to, ("spice", "verilog", "onnx", "plain"))
        if spread is not None and to != "spice":
            raise InputError(f"--spread is for the components of a netlist, got --to {to}")
    path = find(model)
    loaded = load(path)
    chip = _chip(hardware, seed)
    _, split = test_examples(path, loaded, None, {"label": None, "image_size": None}, data_dir)
    count = min(images, len(split))
    name = path.stem if path.stem != "model" else path.parent.name
    some = split.features[:count], split.labels[:count]
    design = design_of(loaded, *some, name=name, chip=chip, with_front=to == "onnx")
    folder = out_dir or Path(f"{name}-{to}" + (f"-{level}" if to == "spice" else ""))
    files = write_export(folder, design, target)
    if json:
        print_json(
            {
                "folder": str(folder),
                "files": files,
                "images": count,
                "oscillators": design.oscillators,
                "target": target.to_json(),
                "hardware": None if chip is None else chip.hardware.to_json(),
            }
        )
        return
    out.print(f"{len(files)} files in {folder}: {_words(loaded, target)}", soft_wrap=True)
    out.print(
        f"entrain verify {folder}  runs it on {count} test images and compares", soft_wrap=True
    )


def _refuse_of_others(context: typer.Context, to: str) -> None:
    """An option of another target would be ignored: it is refused."""
    from entrain.utils.errors import InputError

    for target, names in _ONLY.items():
        for name in names if target != to else ():
            if is_given(context, name):
                option = "--" + name.replace("_", "-")
                raise InputError(f"{option} is for --to {target}, got --to {to}")


def _chip(hardware: str | None, seed: int) -> Chip | None:
    from entrain.hardware import find

    return None if hardware is None else find(hardware).sample(seed)


def _words(model: Model, target: Target) -> str:
    from entrain.export import Onnx, Plain, Spice

    n, couplers = model.network.oscillators, model.network.couplers
    if isinstance(target, Spice) and target.level == "lc":
        return (
            f"{n} LC oscillators and a reference at {target.frequency:g} Hz, {couplers} couplers, "
            f"read after {target.cycles:g} cycles"
        )
    if isinstance(target, Spice):
        return f"the equations of {n} phases"
    if isinstance(target, Onnx):
        return f"raw inputs to scores by {n} oscillators, an ONNX graph in float32"
    if isinstance(target, Plain):
        return f"{n} oscillators and {couplers} couplers in JSON and NumPy, with test vectors"
    return f"a fixed-point core of {n} oscillators, {target.coupling}-bit couplings"
