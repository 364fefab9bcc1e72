"""Export formats and their options."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from entrain.export.design import Design
from entrain.hardware import Components
from entrain.utils.errors import (
    InputError,
    one_of,
    positive_float,
    positive_int,
    seed_number,
    short_repr,
)

Level = Literal["phase", "lc"]
Oscillator = Literal["levelled", "cubic"]
CYCLES_OF_A_UNIT = 10.0  # of LC oscillators, in the unit of time of an Ising machine
MAX_CYCLES = 10_000.0  # whose voltages fill a gigabyte
_BITS = {
    "phase": (1, 32),
    "coupling": (2, 24),
    "sine": (2, 24),
    "address": (3, 14),
    "lanes": (1, 64),
}


@dataclass(frozen=True)
class Plain:
    """Export as JSON and NumPy arrays; no options."""


@dataclass(frozen=True)
class Onnx:
    """Export as an ONNX graph; no options."""


@dataclass(frozen=True)
class Spice:
    """Export as SPICE netlists for ngspice.

    Args:
        level: "phase", the equations, or "lc", LC oscillators.
        frequency: Of the oscillators, in hertz.
        cycles: Periods within the observation time.
        capacitance: Of each oscillator, in farads.
        amplitude_rate: g1 / (2 C) in units of the network's time. Default: 4 sqrt(cycles) over the
            observation time, which had the smallest error in trials with 30, 100 and 300 cycles:
            fast compared with the couplings, slow compared with the cycles.
        spread: Tolerances of the components of an `lc` netlist.
        seed: The chip whose components `spread` samples.
        oscillator: "levelled", with amplitude control and limited couplings, or "cubic".

    Examples:
        >>> entrain.export.Spice("lc", cycles=300.0).cycles
        300.0
    """

    level: Level = "phase"
    frequency: float = 1e9
    cycles: float = 100.0
    capacitance: float = 1e-12
    amplitude_rate: float | None = None
    spread: Components | None = None
    seed: int = 0
    oscillator: Oscillator = "levelled"

    def __post_init__(self) -> None:
        one_of("level", self.level, Level)
        one_of("oscillator", self.oscillator, Oscillator)
        seed_number("seed", self.seed)
        if self.spread is not None and not isinstance(self.spread, Components):
            raise InputError(f"spread must be Components, got {short_repr(self.spread)}")
        if self.spread is not None and self.level != "lc":
            raise InputError("the level phase has no components that could differ; export at lc")
        for name in ("frequency", "capacitance"):
            positive_float(name, getattr(self, name), least=1e-18, most=1e15)
        positive_float("cycles", self.cycles, least=1.0, most=MAX_CYCLES)
        if self.amplitude_rate is not None:
            positive_float("amplitude_rate", self.amplitude_rate, most=1e15)

    def duration(self) -> float:
        """The observation time in seconds."""
        return self.cycles / self.frequency

    def rate(self, design: Design) -> float:
        """The amplitude rate in units of the network's time.

        Args:
            design: The exported network.
        """
        if self.amplitude_rate is not None:
            return self.amplitude_rate
        # 0.2 is the paper's observation time.
        return 20.0 * math.sqrt(self.cycles) * (0.2 / design.dynamics.observation_time)

    def unit(self, design: Design) -> float:
        """T, one unit of the network's time, in seconds.

        Args:
            design: The exported network.
        """
        return self.duration() / design.dynamics.observation_time


@dataclass(frozen=True)
class WordLengths:
    """Export as a fixed-point core in Verilog.

    Args:
        phase: Bits of a phase.
        coupling: Bits of a coupling.
        sine: Bits of a sine.
        address: Bits that address the sine table.
        lanes: Couplings multiplied in one clock cycle.

    Examples:
        >>> entrain.export.WordLengths(coupling=8).coupling
        8
    """

    phase: int = 16
    coupling: int = 10
    sine: int = 12
    address: int = 10
    lanes: int = 4

    def __post_init__(self) -> None:
        for name, (least, most) in _BITS.items():
            label = name if name == "lanes" else f"{name} bits"
            if positive_int(label, getattr(self, name), most=most) < least:
                raise InputError(f"{label} must be from {least} to {most}")
        if self.address > self.phase:
            raise InputError(f"address bits must be up to those of a phase, {self.phase}")


Target = Spice | WordLengths | Plain | Onnx
_CLASSES: dict[str, type[Target]] = {
    "spice": Spice,
    "verilog": WordLengths,
    "plain": Plain,
    "onnx": Onnx,
}


def target_to_json(target: Target) -> dict[str, Any]:
    """The format and its options as JSON values."""
    (name,) = (name for name, cls in _CLASSES.items() if type(target) is cls)
    return {"to": name, **asdict(target)}


def target_from_json(values: dict[str, Any]) -> Target:
    """The target that `target_to_json` wrote."""
    options = dict(values)
    name = options.pop("to", None)
    if not isinstance(name, str) or name not in _CLASSES:
        raise InputError(f"exported to {short_repr(name)}, which this release cannot read")
    if options.get("spread") is not None:
        options["spread"] = Components(**options["spread"])
    return _CLASSES[name](**options)
