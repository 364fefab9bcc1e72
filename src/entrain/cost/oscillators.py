"""The oscillator chip: what oscillators, couplers and readout cost behind the input weights.

The time of the oscillators is T_run = cycles / frequency.
"""

from __future__ import annotations

from entrain.cost.analog import dacs, precision, run_time, while_running
from entrain.cost.inputs import Inputs, input_parts
from entrain.cost.parts import Part, System, system
from entrain.cost.technology import Technology
from entrain.cost.workload import Workload


def chip(workload: Workload, technology: Technology, inputs: Inputs) -> System:
    """The chip with its input weights in front."""
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
    """(N + 1) P T_run or (N + 1) E cycles; the one more is the reference for fields and phases."""
    count = workload.oscillators + 1
    return Part(
        "oscillators",
        count,
        while_running(technology, "oscillators") * count,
        technology["oscillators.area"] * count,
        f"(N + 1) {_given(technology, 'oscillators')}, T_run = cycles / frequency",
        technology.source("oscillators.power", "oscillators.energy", "run.frequency", "run.cycles"),
        time=run_time(technology),
    )


def couplers(workload: Workload, technology: Technology) -> Part:
    """couplers growth^(bits - b0) P T_run, or E cycles; those that are zero are not there."""
    scale = precision(technology, "couplers", workload.coupling_bits) * workload.couplers
    return Part(
        "couplers",
        workload.couplers,
        while_running(technology, "couplers") * scale,
        technology["couplers.area"] * scale,
        f"couplers growth^(bits - b0) {_given(technology, 'couplers')}",
        technology.source("couplers.power", "couplers.energy", "couplers.bits", "couplers.growth"),
    )


def readout(workload: Workload, technology: Technology) -> Part:
    """O E: the phase of each output once, and the comparison of all."""
    return Part(
        "readout",
        workload.outputs,
        technology["readout.energy"] * workload.outputs,
        technology["readout.area"] * workload.outputs,
        "O E",
        technology.source("readout.energy", "readout.time"),
        time=technology["readout.time"],
    )


def _given(technology: Technology, part: str) -> str:
    return "P T_run" if f"{part}.power" in technology else "E cycles"
