"""`entrain export`: a trained network, or the Ising machine of a problem, as a circuit."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from entrain.cli.console import print_json, print_line
from entrain.cli.options import (
    DataDir,
    Json,
    TestData,
    TestImageSize,
    TestLabel,
    argument,
    is_given,
    option,
    option_name,
    with_option_names,
)
from entrain.utils.errors import (
    InputError,
    unknown_name,
    whole_number,
)

if TYPE_CHECKING:
    import numpy as np

    from entrain.export import Design
    from entrain.export.targets import Level, Oscillator, Target
    from entrain.models.model import Model

_SPICE = ("level", "frequency", "cycles", "capacitance", "amplitude_rate", "oscillator")
_OPTIONS_OF = {
    "spice": (*_SPICE, "spread"),
    "verilog": ("phase", "coupling", "sine", "address", "lanes"),
}
_OF_MODELS = ("images", "hardware", "dataset", "label", "image_size", "data_dir")
_OF_PROBLEMS = ("kind", "restarts", "time", "injection")


def command(
    context: typer.Context,
    model: Annotated[
        str, argument("MODEL", "Model file, run folder, shipped model, or problem file.")
    ],
    to: Annotated[str, option("spice, verilog, onnx, or plain (JSON and NumPy).")],
    out_dir: Annotated[
        Path | None, option("New folder.", "MODEL-TO", name="--out", metavar="DIR")
    ] = None,
    images: Annotated[
        int,
        option("Number of test examples to export with their fields; 0 needs no data."),
    ] = 10,
    level: Annotated[str, option("SPICE: phase (the equations) or lc (LC oscillators).")] = "phase",
    frequency: Annotated[float, option("SPICE, lc: frequency of the oscillators in Hz.")] = 1e9,
    cycles: Annotated[
        float | None,
        option(
            "SPICE, lc: cycles of the oscillators until the readout.",
            "100; of a problem 10 in a unit of time",
        ),
    ] = None,
    capacitance: Annotated[
        float, option("SPICE, lc: capacitance of an oscillator in farads.")
    ] = 1e-12,
    amplitude_rate: Annotated[
        float | None,
        option(
            "SPICE, lc: rate at which amplitudes recover, per unit of time.", "4 sqrt(cycles) / t_f"
        ),
    ] = None,
    oscillator: Annotated[
        str, option("SPICE, lc: levelled (amplitude control, limited couplings) or cubic.")
    ] = "levelled",
    phase: Annotated[int, option("Verilog: bits of a phase.")] = 16,
    coupling: Annotated[int, option("Verilog: bits of a coupling.")] = 10,
    sine: Annotated[int, option("Verilog: bits of a sine.")] = 12,
    address: Annotated[int, option("Verilog: bits of an address of the sine table.")] = 10,
    lanes: Annotated[int, option("Verilog: couplings multiplied in one cycle.")] = 4,
    hardware: Annotated[
        str | None,
        option("Preset or TOML file: export the network of a chip.", "the ideal network"),
    ] = None,
    spread: Annotated[
        str | None,
        option(
            "SPICE, lc: preset or TOML file with component tolerances.",
            "nominal values",
            metavar="HARDWARE",
        ),
    ] = None,
    seed: Annotated[
        int, option("Seed of the chip of --hardware or --spread, or of the runs of a problem.")
    ] = 0,
    kind: Annotated[
        str | None, option("Problem: maxcut, ising or qubo.", "qubo or maxcut, by the file")
    ] = None,
    restarts: Annotated[int | None, option("Problem: runs from random phases.", "4")] = None,
    time: Annotated[
        float | None, option("Problem: duration of a run, in units of the phase model.", "40")
    ] = None,
    injection: Annotated[
        float | None, option("Problem: injection at the end of its ramp.", "0.35")
    ] = None,
    dataset: TestData = None,
    label: TestLabel = None,
    image_size: TestImageSize = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Export MODEL as a circuit: a SPICE netlist or a Verilog core; or as ONNX or plain arrays.

    Input weights stay outside a circuit: it receives the field of every oscillator, and the fields
    of some test examples are exported with it. entrain verify simulates the circuit on them and
    compares it with Python.

    A problem file, as of entrain solve, is exported to spice: the Ising machine without noise, with
    the ramp of its second-harmonic injection, and runs from random phases.
    """
    import numpy as np

    from entrain.cli.loading import load_model, read_test_examples
    from entrain.export import Onnx, Plain, Spice, WordLengths, design_of, write_export
    from entrain.export.components import components_of
    from entrain.export.design import MAX_IMAGES
    from entrain.export.targets import target_to_json
    from entrain.hardware import find
    from entrain.ising.readers import is_problem_file

    whole_number("--images", images, most=MAX_IMAGES)
    _refuse_options_of_others(context, to)
    is_problem = Path(model).is_file() and is_problem_file(Path(model))
    for name in _OF_MODELS if is_problem else _OF_PROBLEMS:
        if is_given(context, name):
            whose = "a model" if is_problem else "a problem file"
            raise InputError(f"{option_name(name)} is an option of {whose}")
    duration = 40.0 if time is None else time
    if cycles is None:
        cycles = _default_cycles(duration) if is_problem and level == "lc" else 100.0
    target: Target
    with with_option_names(*_SPICE, "seed"):
        if to == "spice":
            target = Spice(
                cast("Level", level),  # Spice checks it
                *(frequency, cycles, capacitance, amplitude_rate),
                oscillator=cast("Oscillator", oscillator),
            )
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
    if is_problem:
        machine = _problem_design(Path(model), kind, restarts, duration, injection, seed)
        if to != "spice":
            raise InputError(f"a problem is exported to spice, got --to {to}")
        folder = out_dir or Path(f"{Path(model).name.partition('.')[0]}-{to}-{level}")
        _report(folder, write_export(folder, machine, target), machine, target, json)
        return
    path, loaded = load_model(model)
    chip = None if hardware is None else find(hardware).sample(seed)
    if images == 0:
        features, labels = _synthetic_input(loaded), np.array([-1])
    else:
        usage = f"entrain export {shlex.quote(model)} --to {to} --data FILE; or without: --images 0"
        _, split = read_test_examples(usage, path, data_dir, dataset, label, image_size)
        features, labels = split.features[:images], np.full(min(images, len(split)), -1)
        if loaded.task.has_classes:
            labels = split.labels[:images]
    count = min(images, len(labels))
    name = path.stem if path.stem != "model" else path.parent.name
    design = design_of(
        loaded, features, labels, name=name, chip=chip, with_input_stage=to == "onnx"
    )
    folder = out_dir or Path(f"{name}-{to}" + (f"-{level}" if to == "spice" else ""))
    files = write_export(folder, design, target)
    if json:
        print_json(
            {
                "folder": str(folder),
                "files": files,
                "images": count,
                "oscillators": design.oscillators,
                "target": target_to_json(target),
                "hardware": None if chip is None else chip.hardware.to_json(),
            }
        )
        return
    print_line(f"{len(files)} files in {folder}: {_description(loaded, target)}")
    inputs = f"{count} test examples" if count else "a synthetic input"
    print_line(f"simulate it on {inputs}: entrain verify {folder}")


def _default_cycles(time: float) -> float:
    """Cycles of LC oscillators in a run of a problem."""
    from entrain.export.targets import CYCLES_OF_A_UNIT, MAX_CYCLES

    cycles = max(1.0, CYCLES_OF_A_UNIT * time)
    if cycles > MAX_CYCLES:
        raise InputError(
            f"--time {time:g} takes {cycles:,.0f} cycles, {CYCLES_OF_A_UNIT:g} in a unit, and at "
            f"most {MAX_CYCLES:,.0f} are simulated: choose a shorter time, or give --cycles"
        )
    return cycles


def _problem_design(
    path: Path,
    kind: str | None,
    restarts: int | None,
    time: float,
    injection: float | None,
    seed: int,
) -> Design:
    """The Ising machine of a problem file."""
    from entrain.cli.solve import annealing_of, read_file
    from entrain.export import design_of_problem

    problem = read_file(path, kind, None)
    with with_option_names("restarts", "time", "seed"):
        return design_of_problem(
            problem,
            restarts=4 if restarts is None else restarts,
            time=time,
            annealing=annealing_of(injection, None, on_chip=True),
            seed=seed,
            name=path.name.partition(".")[0],
        )


def _report(folder: Path, files: list[str], design: Design, target: Target, json: bool) -> None:
    """Print what was exported of a problem."""
    from entrain.export import Spice
    from entrain.export.targets import target_to_json

    assert isinstance(target, Spice)
    if json:
        print_json(
            {
                "folder": str(folder),
                "files": files,
                "runs": design.images,
                "oscillators": design.oscillators,
                "target": target_to_json(target),
            }
        )
        return
    n, time = design.oscillators, design.dynamics.observation_time
    what = f"the equations of {n} phases"
    if target.level == "lc":
        what = f"{n} LC oscillators and a reference at {target.frequency:g} Hz"
        what += f", {target.cycles:g} cycles"
    print_line(f"{len(files)} files in {folder}: {what}, a ramp of injection over {time:g} units")
    print_line(f"simulate {design.images} runs: entrain verify {folder}")


def _synthetic_input(model: Model) -> np.ndarray:
    """One input (1, D): a ramp of grey levels, or features at mean + SD."""
    import numpy as np

    from entrain.data import FeatureScaling

    scaling = model.preprocessing
    if isinstance(scaling, FeatureScaling):
        return np.add(scaling.mean, scaling.sd)[None]
    return np.linspace(0.0, 1.0, scaling.inputs)[None]


def _refuse_options_of_others(context: typer.Context, to: str) -> None:
    """Refuse options of other targets, which would have no effect."""
    for target, names in _OPTIONS_OF.items():
        for name in names if target != to else ():
            if is_given(context, name):
                raise InputError(f"{option_name(name)} is for --to {target}, got --to {to}")


def _description(model: Model, target: Target) -> str:
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
