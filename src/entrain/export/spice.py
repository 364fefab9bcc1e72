"""How a SPICE netlist is built: its level, its oscillators, and the SI units of a network."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from entrain.export.design import Design
from entrain.hardware import Components
from entrain.utils.errors import InputError, one_of, positive_float, seed_number, short_repr

Level = Literal["phase", "lc"]
MOST_CYCLES = 10_000.0  # whose voltages fill a gigabyte
Oscillator = Literal["levelled", "cubic"]


@dataclass(frozen=True)
class Spice:
    """How a netlist is built. `frequency` in hertz, `cycles` of it within the observation time,
    `capacitance` in farads; `amplitude_rate` g1 / (2 C) in units of the network's time, by default
    4 sqrt(cycles) over the observation time, which kept the error of trials with 30, 100 and 300
    cycles smallest: quick beside the couplings, slow beside the cycles. With a
    `spread` the components of an `lc` netlist are those of the chip `seed`. `oscillator` says how
    its amplitude is kept, and whether couplings see it (`lc_netlist`)."""

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
        positive_float("cycles", self.cycles, least=1.0, most=MOST_CYCLES)
        if self.amplitude_rate is not None:
            positive_float("amplitude_rate", self.amplitude_rate, most=1e15)

    def to_json(self) -> dict[str, Any]:
        """As a design keeps it."""
        return {"to": "spice", **asdict(self)}

    def rate(self, design: Design) -> float:
        """The amplitude rate."""
        if self.amplitude_rate is not None:
            return self.amplitude_rate
        # 0.2 is the paper's observation time.
        return 20.0 * math.sqrt(self.cycles) * (0.2 / design.dynamics.observation_time)

    def duration(self) -> float:
        """The observation time in seconds."""
        return self.cycles / self.frequency

    def unit(self, design: Design) -> float:
        """T: one unit of the network's time in seconds."""
        return self.duration() / design.dynamics.observation_time


def spice_from_json(target: dict[str, Any]) -> Spice:
    """What `to_json` gave."""
    given = {name: value for name, value in target.items() if name != "to"}
    if given.get("spread") is not None:
        given["spread"] = Components(**given["spread"])
    return Spice(**given)


def number(value: float) -> str:
    """As netlists hold it."""
    return f"{value:.12g}"
