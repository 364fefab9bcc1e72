"""Tolerances of the components that an LC oscillator network is built of."""

from __future__ import annotations

from dataclasses import dataclass, fields

from entrain.hardware.effect import relative_spread

_MOST = 0.3  # relative: beyond, three standard deviations may reach a value below zero


@dataclass(frozen=True)
class Components:
    """x (1 + sd g), g standard normal: components that differ, fixed for a chip.

    A netlist of LC oscillators (`entrain export --to spice --level lc --spread`) is built of such
    components; the phase model and training ignore them. Every component has its own g, as has each
    direction of a coupler.

    Tanks of 1 % capacitors and inductors differ by 0.7 % in frequency, 4.4 rad in 100 cycles, and
    are therefore tuned on chips: the capacitor is trimmed, whatever its tolerance was.

    Args:
        capacitance: Relative standard deviation of the capacitors.
        inductance: Relative standard deviation of the inductors.
        tuning: Relative error of a tank's frequency after tuning; None is no tuning.
        negative_conductance: Relative standard deviation of the negative conductances and of the
            conductances that limit them.
        transconductance: Relative standard deviation of the couplers.
        injection: Relative standard deviation of the injected fields.
    """

    capacitance: float = 0.0
    inductance: float = 0.0
    tuning: float | None = None
    negative_conductance: float = 0.0
    transconductance: float = 0.0
    injection: float = 0.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value is not None or entry.name != "tuning":
                relative_spread(entry.name, value, _MOST)

    @property
    def is_identity(self) -> bool:
        """True if every component is as designed."""
        return not any(getattr(self, entry.name) for entry in fields(self))
