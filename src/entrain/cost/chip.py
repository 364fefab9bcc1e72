"""The oscillator chip: input weights, DACs, oscillators, couplers and readout.

Oscillators run for T_run = cycles / frequency. A part with a power takes P T_run, a part with an
energy per cycle takes E cycles. Energy and area of an analog part of b bits are those of its b0
bits times growth^(b - b0): one more bit is twice as many unit cells, and four times the energy
where noise or mismatch set the limit.

The H D input weights are 95 % of a network's parameters. `digital`: weights in SRAM, H
multiply-accumulators that take one input in each clock cycle, and a DAC for every field.
`crossbar`: weights as conductances, whose column currents are the fields; D DACs drive its rows
while the oscillators run.
"""

from __future__ import annotations

import math
from typing import Literal

from entrain.cost.parts import Part, System, system
from entrain.cost.ranges import Range
from entrain.cost.technology import Technology
from entrain.cost.workload import PIXEL_BITS, Workload

Inputs = Literal["digital", "crossbar"]
SIGNS = 2  # cells of a weight: a pair, since weights may be negative


def chip(workload: Workload, technology: Technology, inputs: Inputs) -> System:
    """The chip with its input weights; N + 1 oscillators, with the reference for fields and phases,
    and the couplers that are not zero."""
    parts = input_parts(workload, technology, inputs)
    if inputs == "digital":
        parts.append(dacs(technology, workload.oscillators, workload.field_bits))
    parts += array_parts(
        technology,
        workload.oscillators,
        workload.couplers,
        workload.coupling_bits,
        workload.outputs,
    )
    return system("chip", f"chip, {technology.name}, {inputs} input weights", parts)


def array_parts(
    technology: Technology,
    oscillators: int,
    couplers: int,
    bits: float,
    outputs: int,
    readings: int = 1,
) -> list[Part]:
    """N oscillators and a reference, their couplers of so many bits, and O readouts."""
    count, source = oscillators + 1, technology.source
    energy, formula = _run_energy(technology, "oscillators")
    coupler_energy, coupler_formula = _run_energy(technology, "couplers")
    scale = _precision(technology, "couplers", bits) * couplers
    return [
        Part(
            "oscillators",
            count,
            energy * count,
            technology["oscillators.area"] * count,
            f"(N + 1) {formula}, T_run = cycles / frequency",
            source("oscillators.power", "oscillators.energy", "run.frequency", "run.cycles"),
            time=_run_time(technology),
        ),
        Part(
            "couplers",
            couplers,
            coupler_energy * scale,
            technology["couplers.area"] * scale,
            f"couplers growth^(bits - b0) {coupler_formula}",
            source("couplers.power", "couplers.energy", "couplers.bits", "couplers.growth"),
        ),
        Part(
            "readout",
            outputs,
            technology["readout.energy"] * (outputs * readings),
            technology["readout.area"] * outputs,
            "O E" if readings == 1 else f"O E, {readings} times",
            source("readout.energy", "readout.time"),
            time=technology["readout.time"],
        ),
    ]


def input_parts(workload: Workload, technology: Technology, inputs: Inputs) -> list[Part]:
    """The parts that make the fields of an image; the crossbar is on for settling + T_run."""
    weights, columns = workload.weights, workload.hidden
    if inputs == "digital":
        stored = weights * math.ceil(workload.weight_bits)
        return [
            memory(technology, stored + workload.inputs * PIXEL_BITS),
            macs(technology, weights, columns, workload.inputs),
        ]
    devices = SIGNS * math.ceil(workload.weight_bits / technology["crossbar.cell_bits"].typical)
    cells = weights * devices
    on = technology["crossbar.time"] + _run_time(technology)
    return [
        dacs(technology, workload.inputs, PIXEL_BITS),
        Part(
            "crossbar cells",
            cells,
            technology["crossbar.cell_power"] * on * cells,
            technology["crossbar.cell_area"] * cells,
            f"{devices} cells a weight, P (settling + T_run)",
            technology.source("crossbar.cell_power", "crossbar.cell_bits", "crossbar.cell_area"),
            time=technology["crossbar.time"],
        ),
        Part(
            "crossbar columns",
            columns,
            technology["crossbar.column_power"] * on * columns,
            technology["crossbar.column_area"] * columns,
            "H P (settling + T_run)",
            technology.source("crossbar.column_power", "crossbar.column_area"),
        ),
    ]


def memory(technology: Technology, bits: int) -> Part:
    """bits E: every weight is read once, every pixel once for all multipliers."""
    return Part(
        "weight memory",
        bits,
        technology["memory.energy"] * bits,
        technology["memory.area"] * bits,
        "bits E",
        technology.source("memory.energy", "memory.area"),
    )


def macs(technology: Technology, operations: int, lanes: int, cycles: int) -> Part:
    """operations E; `lanes` in parallel in `cycles` clock cycles, cycles / f seconds."""
    return Part(
        "multiply-accumulate",
        operations,
        technology["macs.energy"] * operations,
        technology["macs.area"] * lanes,
        f"operations E; {lanes} side by side, {cycles} clock cycles",
        technology.source("macs.energy", "macs.area", "macs.frequency"),
        time=Range.exactly(cycles) / technology["macs.frequency"],
    )


def dacs(technology: Technology, count: int, bits: float) -> Part:
    """count growth^(bits - b0) (E + P T_run): a conversion, and a current during the run."""
    scale = _precision(technology, "dacs", bits) * count
    running = technology["dacs.power"] * _run_time(technology)
    return Part(
        "input DACs",
        count,
        (technology["dacs.energy"] + running) * scale,
        technology["dacs.area"] * scale,
        "DACs growth^(bits - b0) (E + P T_run)",
        technology.source("dacs.energy", "dacs.power", "dacs.bits", "dacs.growth"),
        time=technology["dacs.time"],
    )


def _run_time(technology: Technology) -> Range:
    return technology["run.cycles"] / technology["run.frequency"]


def _run_energy(technology: Technology, part: str) -> tuple[Range, str]:
    """Energy of one part in a run, and its formula."""
    if f"{part}.power" in technology:
        return technology[f"{part}.power"] * _run_time(technology), "P T_run"
    return technology[f"{part}.energy"] * technology["run.cycles"], "E cycles"


def _precision(technology: Technology, part: str, bits: float) -> Range:
    """growth^(bits - b0), the cost relative to the resolution of the technology."""
    return technology[f"{part}.growth"].to_the(bits - technology[f"{part}.bits"].typical)
