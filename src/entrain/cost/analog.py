"""Costs of analog parts while the oscillators run, and at other resolutions.

A part with a power takes P T_run, a part with an energy per cycle takes E cycles.
Energy and area of an analog part of b bits are those of its b0 bits times growth^(b - b0): one more
bit is twice as many unit cells, and four times the energy where noise or mismatch set the limit.
"""

from __future__ import annotations

from entrain.cost.parts import Part
from entrain.cost.ranges import Range
from entrain.cost.technology import Technology


def run_time(technology: Technology) -> Range:
    """T_run = cycles / frequency."""
    return technology["run.cycles"] / technology["run.frequency"]


def run_energy(technology: Technology, part: str) -> Range:
    """Energy of one part in a run: P T_run, or E cycles."""
    if f"{part}.power" in technology:
        return technology[f"{part}.power"] * run_time(technology)
    return technology[f"{part}.energy"] * technology["run.cycles"]


def precision(technology: Technology, part: str, bits: float) -> Range:
    """growth^(bits - b0), the cost relative to the resolution of the technology."""
    return technology[f"{part}.growth"].to_the(bits - technology[f"{part}.bits"].typical)


def dacs(technology: Technology, count: int, bits: float) -> Part:
    """count growth^(bits - b0) (E + P T_run): a conversion, and a current during the run."""
    scale = precision(technology, "dacs", bits) * count
    running = technology["dacs.power"] * run_time(technology)
    return Part(
        "input DACs",
        count,
        (technology["dacs.energy"] + running) * scale,
        technology["dacs.area"] * scale,
        "DACs growth^(bits - b0) (E + P T_run)",
        technology.source("dacs.energy", "dacs.power", "dacs.bits", "dacs.growth"),
        time=technology["dacs.time"],
    )
