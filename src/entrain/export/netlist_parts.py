"""Lines that netlists of both levels have: numbers, start phases, and the ramp of an injection."""

from __future__ import annotations

import numpy as np

from entrain.export.design import Design
from entrain.export.targets import Spice

_POINTS_PER_LINE = 8


def number(value: float) -> str:
    """A value as netlists have it."""
    return f"{value:.12g}"


def own_starts(design: Design, image: int) -> list[str]:
    """Start phases theta0, theta1, ... of a run as parameters; none if all images share them."""
    if design.machine is None:
        return []
    return [f".param theta{i}={number(start)}" for i, start in enumerate(design.starts[image])]


def start_phase(design: Design, oscillator: int) -> str:
    """theta(0) of an oscillator."""
    if design.machine is None:
        return number(design.start[oscillator])
    return f"{{theta{oscillator}}}"


def ramp_source(design: Design, spice: Spice) -> list[str]:
    """A current into 1 ohm, so that the voltage of the node `ramp` is the factor of the injection.

    A machine alone has it; the injection of other designs is constant.
    """
    if design.machine is None:
        return []
    factors = design.machine.ramp.numpy()
    times = np.linspace(0.0, spice.duration(), len(factors))
    points = [f"{number(t)} {number(f)}" for t, f in zip(times, factors, strict=True)]
    rows = [
        f"+ {' '.join(points[k : k + _POINTS_PER_LINE])}"
        for k in range(0, len(points), _POINTS_PER_LINE)
    ]
    return ["* factor of the injection", "Iramp 0 ramp pwl(", *rows, "+ )", "Rramp ramp 0 1"]
