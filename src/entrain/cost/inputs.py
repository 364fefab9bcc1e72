"""The input weights: H D of them, 95 % of a network's parameters.

`digital`: weights in SRAM, H multiply-accumulators that take one input in each clock cycle, and a
DAC for every field. `crossbar`: weights as conductances, whose column currents are the fields; D
DACs drive its rows while the oscillators run.
"""

from __future__ import annotations

import math
from typing import Literal

from entrain.cost.analog import dacs, run_time
from entrain.cost.parts import Part
from entrain.cost.ranges import Range
from entrain.cost.technology import Technology
from entrain.cost.workload import PIXEL_BITS, Workload

Inputs = Literal["digital", "crossbar"]
SIGNS = 2  # cells of a weight: a pair, since weights may be negative


def input_parts(workload: Workload, technology: Technology, inputs: Inputs) -> list[Part]:
    """The parts that make the fields of an image."""
    if inputs == "digital":
        bits = math.ceil(workload.weight_bits)
        stored = workload.weights * bits
        return [
            memory(technology, stored, workload.inputs * PIXEL_BITS),
            macs(technology, workload.weights, workload.hidden, workload.inputs),
        ]
    return crossbar(workload, technology)


def memory(technology: Technology, weight_bits: int, input_bits: int) -> Part:
    """bits E: every weight is read once, every pixel once for all multipliers."""
    bits = weight_bits + input_bits
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


def crossbar(workload: Workload, technology: Technology) -> list[Part]:
    """Cells P T_on, columns P T_on, and a DAC for each row; T_on = settling + T_run."""
    devices = SIGNS * math.ceil(workload.weight_bits / technology["crossbar.cell_bits"].typical)
    cells, columns = workload.weights * devices, workload.hidden
    on = technology["crossbar.time"] + run_time(technology)
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
