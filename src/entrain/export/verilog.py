"""A network as a synthesisable core in Verilog, with its memories and a testbench."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from importlib import resources
from string import Template

import numpy as np

from entrain.export.design import Design
from entrain.export.fixed_point import FixedPoint, fixed_point
from entrain.export.targets import WordLengths

CORE, TESTBENCH, TOP = "core.v", "testbench.v", "top.v"


def verilog_files(design: Design, lengths: WordLengths) -> dict[str, str]:
    """The files of the export by name."""
    network = fixed_point(design, lengths)
    n = design.oscillators
    parameters = {
        "OSCILLATORS": n,
        "OUTPUTS": network.outputs,
        "STEPS": network.steps,
        **{name.upper(): bits for name, bits in asdict(lengths).items()},
        "SUM": network.sum_bits,
        "STEP": network.step,
        "SHIFT": network.shift,
        "INDEX": max(n, lengths.lanes).bit_length() + 1,
        "IMAGES": design.images,  # of the testbench
    }
    # The core has the network's parameters as defaults: tools also elaborate a module without its
    # parameters, and its memories must fit it then too.
    core = _template(CORE)
    for name, value in parameters.items():
        core = re.sub(rf"(parameter {name} =) \d+", rf"\1 {value}", core)
    settings = ", ".join(f".{k}({v})" for k, v in parameters.items() if k != "IMAGES")
    highest = {name.lower(): parameters[name] - 1 for name in ("INDEX", "SUM", "PHASE")}
    top = Template(_template(TOP)).substitute(highest, title=design.title, settings=settings)
    return {
        CORE: core,
        TESTBENCH: _template(TESTBENCH),
        "parameters.vh": "".join(f"localparam {k} = {v};\n" for k, v in parameters.items()),
        TOP: top,
        "couplings.hex": _coupling_words(network),
        "sine.hex": _hex(network.table, lengths.sine),
        "cosine.hex": _hex(np.roll(network.table, -(1 << (lengths.address - 2))), lengths.sine),
        "start.hex": _hex(network.start, lengths.phase),
        "frequencies.hex": _hex(network.frequencies, lengths.phase),
        "fields.hex": _hex(network.fields(design.fields).reshape(-1), network.sum_bits),
    }


def cycles_per_inference(oscillators: int, outputs: int, steps: int, lanes: int = 1) -> int:
    """Clock cycles of the core for one image: K N (ceil(N / lanes) + 8) + 2 N + 2 O + 1.

    In each step an oscillator takes 3 cycles for its sine, 5 for its torque and one for every word
    of couplings; loading the start takes 2 cycles per oscillator, comparing 2 per output.
    """
    words = -(-oscillators // lanes)
    return steps * oscillators * (words + 8) + 2 * oscillators + 2 * outputs + 1


def _template(name: str) -> str:
    return (resources.files("entrain.export") / "templates" / name).read_text(encoding="utf-8")


def _hex(values: Iterable[int], bits: int) -> str:
    digits = (bits + 3) // 4
    return "".join(f"{int(value) % (1 << bits):0{digits}x}\n" for value in values)


def _coupling_words(network: FixedPoint) -> str:
    """Row by row, `lanes` couplings per word, the first in the lowest bits, zeros at the end."""
    bits, lanes = network.lengths.coupling, network.lengths.lanes
    words = [
        sum((value % (1 << bits)) << (k * bits) for k, value in enumerate(row[i : i + lanes]))
        for row in network.couplings.tolist()
        for i in range(0, len(row), lanes)
    ]
    return _hex(words, bits * lanes)
