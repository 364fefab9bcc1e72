"""Parts of a design, and designs as the sum of their parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from typing import Any

from entrain.cost.ranges import NOTHING, Range

MEASURES = {"time": "s", "energy": "J", "power": "W", "area": "m2"}


@dataclass(frozen=True)
class Part:
    """`count` equal parts, in SI units.

    Args:
        name: Name of the part.
        count: Their number.
        energy: Energy of all in an inference, J.
        area: Area of all, m^2; None if unknown.
        formula: Formula of the energy.
        source: Sources of its quantities.
        time: Share of an inference, s; 0 if they run in parallel to another part.
        power: Energy over the time of the inference (see `average_power`), W.
    """

    name: str
    count: int
    energy: Range
    area: Range | None
    formula: str
    source: str
    time: Range = NOTHING
    power: Range = NOTHING

    def to_json(self) -> dict[str, Any]:
        """All fields as JSON values."""
        values = {"name": self.name, "count": self.count, **_measures(self)}
        return values | {"formula": self.formula, "source": self.source}


@dataclass(frozen=True)
class System:
    """A design: time, energy and area of one inference are the sums over its parts."""

    name: str
    title: str
    parts: tuple[Part, ...]

    @property
    def time(self) -> Range:
        """Seconds of an inference."""
        return sum((part.time for part in self.parts), NOTHING)

    @property
    def energy(self) -> Range:
        """Joules of an inference."""
        return sum((part.energy for part in self.parts), NOTHING)

    @property
    def power(self) -> Range:
        """Watts, on average over the inference."""
        return average_power(self.energy, self.time)

    @property
    def area(self) -> Range | None:
        """Square metres; None if the area of a part is unknown."""
        areas = [part.area for part in self.parts if part.area is not None]
        return sum(areas, NOTHING) if len(areas) == len(self.parts) else None

    def to_json(self) -> dict[str, Any]:
        """Totals and parts as JSON values."""
        values = {"name": self.name, "title": self.title, **_measures(self)}
        return values | {"parts": [part.to_json() for part in self.parts]}


def _measures(item: Part | System) -> dict[str, Any]:
    values = {measure: getattr(item, measure) for measure in MEASURES}
    return {name: None if value is None else value.to_json() for name, value in values.items()}


def system(name: str, title: str, parts: Iterable[Part]) -> System:
    """A design of these parts, whose powers are their energies over the time of an inference."""
    design = System(name, title, tuple(parts))
    powered = (
        replace(part, power=average_power(part.energy, design.time)) for part in design.parts
    )
    return replace(design, parts=tuple(powered))


def average_power(energy: Range, time: Range) -> Range:
    """E / T with all numbers low, all typical and all high at once; the bounds are the least and
    the largest of the three, since no chip needs the most energy in the least time."""
    pairs = zip(astuple(energy), astuple(time), strict=True)
    watts = [joules / seconds if seconds else 0.0 for joules, seconds in pairs]
    return Range(min(watts), watts[1], max(watts))
