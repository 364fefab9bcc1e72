"""What else would classify the images: a fixed-point MLP, and our own core in an FPGA.

Both are beside the chip with the same numbers for memory and multiply-accumulators.
"""

from __future__ import annotations

from entrain.cost.inputs import input_parts, macs, memory
from entrain.cost.parts import Part, System, system
from entrain.cost.ranges import Range
from entrain.cost.technology import Technology
from entrain.cost.workload import BITS, PIXEL_BITS, Workload
from entrain.export.verilog import cycles_per_inference


def mlp_width(workload: Workload) -> int:
    """The most hidden units h with h (D + O + 1) + O parameters, no more than the network has."""
    inputs, outputs = workload.inputs, workload.outputs
    return max(1, (workload.parameters - outputs) // (inputs + outputs + 1))


def mlp(workload: Workload, technology: Technology) -> System:
    """D - h - O with 8-bit weights: parameters x 8 bits from memory, h (D + O) operations on h
    multiply-accumulators in D + h clock cycles."""
    width = mlp_width(workload)
    inputs, outputs = workload.inputs, workload.outputs
    parameters = width * (inputs + outputs + 1) + outputs
    parts = [
        memory(technology, parameters * BITS, (inputs + width) * PIXEL_BITS),
        macs(technology, width * (inputs + outputs), width, inputs + width),
    ]
    return system("mlp", f"MLP {inputs}-{width}-{outputs}, {BITS} bits", parts)


def core(workload: Workload, technology: Technology) -> System | None:
    """The exported core with one multiplier lane, and the same digital input weights in front.

    None where the network has terms that the core does not compute.
    """
    if not workload.digital:
        return None
    parts = [*input_parts(workload, technology, "digital"), *core_parts(workload, technology)]
    return system("core", "fixed-point core, iCE40", parts)


def core_parts(workload: Workload, technology: Technology) -> list[Part]:
    """cycles (E_clock + cells E_cell + blocks E_block) + P_static T, T = cycles / frequency."""
    cycles = cycles_per_inference(workload.oscillators, workload.outputs, workload.steps)
    time = Range.exactly(cycles) / technology["core.frequency"]
    static = technology["core.static_power"] * time
    clock = technology["core.clock_energy"] * cycles
    cells, blocks = technology["core.cells"], technology["core.blocks"]
    return [
        Part(
            "core clock",
            cycles,
            clock + static,
            None,
            "cycles E_clock + P_static cycles / frequency",
            technology.source("core.clock_energy", "core.static_power", "core.frequency"),
            time=time,
        ),
        Part(
            "core logic",
            round(cells.typical),
            technology["core.cell_energy"] * cells * cycles,
            None,
            "cycles cells E_cell",
            technology.source("core.cell_energy", "core.cells"),
        ),
        Part(
            "core memory",
            round(blocks.typical),
            technology["core.block_energy"] * blocks * cycles,
            None,
            "cycles blocks E_block",
            technology.source("core.block_energy", "core.blocks"),
        ),
    ]
