"""A network as a synthesisable core in Verilog, with its memories and a testbench."""

from __future__ import annotations

import re
from importlib import resources

import numpy as np

from entrain.export.design import Design
from entrain.export.fixed_point import FixedPoint, WordLengths, fixed_point

CORE, TESTBENCH, PARAMETERS, TOP = "core.v", "testbench.v", "parameters.vh", "top.v"


def verilog_files(design: Design, lengths: WordLengths) -> dict[str, str]:
    """Every file of the export by name."""
    found = fixed_point(design, lengths)
    fields = found.fields(design.fields)
    parameters = parameters_of(found, design.images)
    return {
        CORE: _core(parameters),
        TESTBENCH: _template(TESTBENCH),
        PARAMETERS: "".join(
            f"localparam {name} = {value};\n" for name, value in parameters.items()
        ),
        TOP: _top(parameters, design.title),
        "couplings.hex": _coupling_words(found),
        "sine.hex": _hex(found.table, lengths.sine),
        "cosine.hex": _hex(np.roll(found.table, -(1 << (lengths.address - 2))), lengths.sine),
        "start.hex": _hex(found.start, lengths.phase),
        "frequencies.hex": _hex(found.frequencies, lengths.phase),
        "fields.hex": _hex(fields.reshape(-1), found.sum_bits),
    }


def parameters_of(found: FixedPoint, images: int) -> dict[str, int]:
    """The core's parameters, and the number of images of the testbench."""
    lengths = found.lengths
    return {
        "OSCILLATORS": len(found.couplings),
        "OUTPUTS": found.outputs,
        "STEPS": found.steps,
        "PHASE": lengths.phase,
        "COUPLING": lengths.coupling,
        "SINE": lengths.sine,
        "ADDRESS": lengths.address,
        "LANES": lengths.lanes,
        "SUM": found.sum_bits,
        "STEP": found.step,
        "SHIFT": found.shift,
        "INDEX": max(len(found.couplings), lengths.lanes).bit_length() + 1,
        "IMAGES": images,
    }


def cycles_per_inference(oscillators: int, outputs: int, steps: int, lanes: int = 1) -> int:
    """Clock cycles of the core for one image: K N (ceil(N / lanes) + 8) + 2 N + 2 O + 1.

    In each step an oscillator takes 3 cycles for its sine, 5 for its torque and one for every word
    of couplings; loading the start takes 2 cycles an oscillator, comparing 2 an output.
    """
    words = -(-oscillators // lanes)
    return steps * oscillators * (words + 8) + 2 * oscillators + 2 * outputs + 1


def _core(parameters: dict[str, int]) -> str:
    """The core with the network's numbers as defaults: tools also elaborate a module as it stands,
    and its memories must fit it then too."""
    text = _template(CORE)
    for name, value in parameters.items():
        text = re.sub(rf"(parameter {name} =) \d+", rf"\1 {value}", text)
    return text


def _template(name: str) -> str:
    return (resources.files("entrain.export") / "templates" / name).read_text(encoding="utf-8")


def _hex(values: np.ndarray, bits: int) -> str:
    digits = (bits + 3) // 4
    return "".join(f"{int(value) % (1 << bits):0{digits}x}\n" for value in values)


def _coupling_words(found: FixedPoint) -> str:
    """Row by row, `lanes` couplings to a word, the first in the lowest bits, zeros at the end."""
    bits, lanes = found.lengths.coupling, found.lengths.lanes
    lines = []
    for row in found.couplings.tolist():
        for begin in range(0, len(row), lanes):
            some = row[begin : begin + lanes]
            word = sum((value % (1 << bits)) << (k * bits) for k, value in enumerate(some))
            lines.append(f"{word:0{(bits * lanes + 3) // 4}x}\n")
    return "".join(lines)


def _top(parameters: dict[str, int], title: str) -> str:
    """The core with its numbers, as it goes into a chip."""
    index, total, phase = parameters["INDEX"], parameters["SUM"], parameters["PHASE"]
    chosen = ", ".join(f".{k}({v})" for k, v in parameters.items() if k != "IMAGES")
    return f"""// {title}: the core with its parameters.
module entrain_top (
    input wire clock,
    input wire reset,
    input wire field_write,
    input wire [{index - 1}:0] field_index,
    input wire signed [{total - 1}:0] field_value,
    input wire start,
    output wire done,
    output wire [{index - 1}:0] verdict,
    input wire [{index - 1}:0] read_index,
    output wire [{phase - 1}:0] read_phase
);
    entrain_core #(
        {chosen}
    ) core (
        .clock(clock), .reset(reset), .field_write(field_write), .field_index(field_index),
        .field_value(field_value), .start(start), .done(done), .verdict(verdict),
        .read_index(read_index), .read_phase(read_phase)
    );
endmodule
"""
