"""Digital classifiers for comparison: a fixed-point MLP, and the exported core in an FPGA.

Memory and multiply-accumulators cost the same as on the chip.
"""

from __future__ import annotations

from entrain.cost.chip import input_parts, macs, memory
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
        memory(technology, parameters * BITS + (inputs + width) * PIXEL_BITS),
        macs(technology, width * (inputs + outputs), width, inputs + width),
    ]
    return system("mlp", f"MLP {inputs}-{width}-{outputs}, {BITS} bits", parts)


def core(workload: Workload, technology: Technology) -> System | None:
    """The exported core with one multiplier lane, and digital input weights:
    cycles (E_clock + cells E_cell + blocks E_block) + P_static T, T = cycles / frequency.

    None if the network has terms that the core does not compute.
    """
    if not workload.digital:
        return None
    cycles = cycles_per_inference(workload.oscillators, workload.outputs, workload.steps)
    time = Range.exactly(cycles) / technology["core.frequency"]
    static = technology["core.static_power"] * time
    clock = Part(
        "core clock",
        cycles,
        technology["core.clock_energy"] * cycles + static,
        None,
        "cycles E_clock + P_static cycles / frequency",
        technology.source("core.clock_energy", "core.static_power", "core.frequency"),
        time=time,
    )
    parts = [*input_parts(workload, technology, "digital"), clock]
    for name, unit in (("logic", "cell"), ("memory", "block")):
        count, energy = f"core.{unit}s", f"core.{unit}_energy"
        parts.append(
            Part(
                f"core {name}",
                round(technology[count].typical),
                technology[energy] * technology[count] * cycles,
                None,
                f"cycles {unit}s E_{unit}",
                technology.source(energy, count),
            )
        )
    return system("core", "fixed-point core, iCE40", parts)
