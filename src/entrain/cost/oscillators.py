"""The oscillator chip: costs of oscillators, couplers and readout, with the input weights.

The time of the oscillators is T_run = cycles / frequency.
"""

from __future__ import annotations

from entrain.cost.analog import dacs, precision, run_energy, run_time
from entrain.cost.inputs import Inputs, input_parts
from entrain.cost.parts import Part, System, system
from entrain.cost.technology import Technology
from entrain.cost.workload import Workload


def chip(workload: Workload, technology: Technology, inputs: Inputs) -> System:
    """The chip with its input weights."""
    parts = input_parts(workload, technology, inputs)
    if inputs == "digital":
        parts.append(dacs(technology, workload.oscillators, workload.field_bits))
    parts += [
        oscillators(workload, technology),
        couplers(workload, technology),
        readout(workload, technology),
    ]
    return system("chip", f"chip, {technology.name}, {inputs} input weights", parts)


def oscillators(workload: Workload, technology: Technology) -> Part:
    """(N + 1) P T_run or (N + 1) E cycles, with the reference for fields and phases."""
    count = workload.oscillators + 1
    return Part(
        "oscillators",
        count,
        run_energy(technology, "oscillators") * count,
        technology["oscillators.area"] * count,
        f"(N + 1) {_formula(technology, 'oscillators')}, T_run = cycles / frequency",
        technology.source("oscillators.power", "oscillators.energy", "run.frequency", "run.cycles"),
        time=run_time(technology),
    )


def couplers(workload: Workload, technology: Technology) -> Part:
    """couplers growth^(bits - b0) P T_run, or E cycles, of the couplers that are not zero."""
    scale = precision(technology, "couplers", workload.coupling_bits) * workload.couplers
    return Part(
        "couplers",
        workload.couplers,
        run_energy(technology, "couplers") * scale,
        technology["couplers.area"] * scale,
        f"couplers growth^(bits - b0) {_formula(technology, 'couplers')}",
        technology.source("couplers.power", "couplers.energy", "couplers.bits", "couplers.growth"),
    )


def readout(workload: Workload, technology: Technology) -> Part:
    """O E: one phase per output, and their comparison."""
    return Part(
        "readout",
        workload.outputs,
        technology["readout.energy"] * workload.outputs,
        technology["readout.area"] * workload.outputs,
        "O E",
        technology.source("readout.energy", "readout.time"),
        time=technology["readout.time"],
    )


def _formula(technology: Technology, part: str) -> str:
    return "P T_run" if f"{part}.power" in technology else "E cycles"
