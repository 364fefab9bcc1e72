"""A network as a synthesisable core in Verilog, with its memories and a testbench."""

from __future__ import annotations

import re
from importlib import resources
from string import Template

import numpy as np

from entrain.export.design import Design
from entrain.export.fixed_point import FixedPoint, fixed_point
from entrain.export.targets import WordLengths

CORE, TESTBENCH, PARAMETERS, TOP = "core.v", "testbench.v", "parameters.vh", "top.v"


def verilog_files(design: Design, lengths: WordLengths) -> dict[str, str]:
    """The files of the export by name."""
    network = fixed_point(design, lengths)
    parameters = _parameters(network, design.images)
    return {
        CORE: _core(parameters),
        TESTBENCH: _template(TESTBENCH),
        PARAMETERS: "".join(
            f"localparam {name} = {value};\n" for name, value in parameters.items()
        ),
        TOP: _top(parameters, design.title),
        "couplings.hex": _coupling_words(network),
        "sine.hex": _hex(network.table, lengths.sine),
        "cosine.hex": _hex(np.roll(network.table, -(1 << (lengths.address - 2))), lengths.sine),
        "start.hex": _hex(network.start, lengths.phase),
        "frequencies.hex": _hex(network.frequencies, lengths.phase),
        "fields.hex": _hex(network.fields(design.fields).reshape(-1), network.sum_bits),
    }


def _parameters(network: FixedPoint, images: int) -> dict[str, int]:
    """The core's parameters, and the number of images of the testbench."""
    lengths = network.lengths
    return {
        "OSCILLATORS": len(network.couplings),
        "OUTPUTS": network.outputs,
        "STEPS": network.steps,
        "PHASE": lengths.phase,
        "COUPLING": lengths.coupling,
        "SINE": lengths.sine,
        "ADDRESS": lengths.address,
        "LANES": lengths.lanes,
        "SUM": network.sum_bits,
        "STEP": network.step,
        "SHIFT": network.shift,
        "INDEX": max(len(network.couplings), lengths.lanes).bit_length() + 1,
        "IMAGES": images,
    }


def cycles_per_inference(oscillators: int, outputs: int, steps: int, lanes: int = 1) -> int:
    """Clock cycles of the core for one image: K N (ceil(N / lanes) + 8) + 2 N + 2 O + 1.

    In each step an oscillator takes 3 cycles for its sine, 5 for its torque and one for every word
    of couplings; loading the start takes 2 cycles per oscillator, comparing 2 per output.
    """
    words = -(-oscillators // lanes)
    return steps * oscillators * (words + 8) + 2 * oscillators + 2 * outputs + 1


def _core(parameters: dict[str, int]) -> str:
    """The core with the network's parameters as defaults: tools also elaborate a module without
    its parameters, and its memories must fit it then too."""
    text = _template(CORE)
    for name, value in parameters.items():
        text = re.sub(rf"(parameter {name} =) \d+", rf"\1 {value}", text)
    return text


def _template(name: str) -> str:
    return (resources.files("entrain.export") / "templates" / name).read_text(encoding="utf-8")


def _hex(values: np.ndarray, bits: int) -> str:
    digits = (bits + 3) // 4
    return "".join(f"{int(value) % (1 << bits):0{digits}x}\n" for value in values)


def _coupling_words(network: FixedPoint) -> str:
    """Row by row, `lanes` couplings per word, the first in the lowest bits, zeros at the end."""
    bits, lanes = network.lengths.coupling, network.lengths.lanes
    lines = []
    for row in network.couplings.tolist():
        for begin in range(0, len(row), lanes):
            values = enumerate(row[begin : begin + lanes])
            word = sum((value % (1 << bits)) << (k * bits) for k, value in values)
            lines.append(f"{word:0{(bits * lanes + 3) // 4}x}\n")
    return "".join(lines)


def _top(parameters: dict[str, int], title: str) -> str:
    """The core with its parameters, ready for synthesis."""
    settings = ", ".join(f".{k}({v})" for k, v in parameters.items() if k != "IMAGES")
    highest = {name.lower(): parameters[name] - 1 for name in ("INDEX", "SUM", "PHASE")}
    return Template(_template(TOP)).substitute(highest, title=title, settings=settings)
