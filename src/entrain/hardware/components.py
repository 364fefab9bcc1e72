"""Tolerances of the components that an LC oscillator network is built of."""

from __future__ import annotations

from dataclasses import dataclass, fields

from entrain.utils.errors import InputError, positive_float

_MOST = 0.3  # relative: beyond, three standard deviations may reach a value below zero


@dataclass(frozen=True)
class Components:
    """Relative standard deviations of single components, drawn once for a chip: x (1 + sd g).

    No effect of the phase model, and nothing that training sees: a netlist of LC oscillators
    (`entrain export --to spice --level lc --spread`) is built of such components. Every capacitor
    and inductor has its own g, so has every negative conductance and what levels it, the injection
    of every field, and each of the two directions of a coupler.

    Tanks of 1 % capacitors and inductors differ by 0.7 % in frequency, 4.4 rad in 100 cycles, and
    are therefore tuned on chips. `tuning` is the relative error of a tank's frequency after that:
    its capacitor is trimmed to what frequency and inductor ask for, whatever its own tolerance was.
    None leaves the tanks as they were made.
    """

    capacitance: float = 0.0
    inductance: float = 0.0
    tuning: float | None = None
    negative_conductance: float = 0.0
    transconductance: float = 0.0
    injection: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is None and each.name == "tuning":
                continue
            found = positive_float(each.name, value, zero=True)
            if found > _MOST:
                raise InputError(
                    f"{each.name} is a relative spread, 0.01 for 1 %, and at most {_MOST:g}; "
                    f"got {found:g}. Was it meant in percent?"
                )

    @property
    def is_identity(self) -> bool:
        """Whether every component is as designed."""
        return not any(getattr(self, each.name) for each in fields(self))


def component_entries() -> list[str]:
    """What a file may say of components."""
    return [each.name for each in fields(Components)]
