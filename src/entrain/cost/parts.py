"""Parts of a design, and designs as the sum of their parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from entrain.cost.ranges import NOTHING, Range, total

MEASURES = {"time": "s", "energy": "J", "power": "W", "area": "m2"}


@dataclass(frozen=True)
class Part:
    """`count` equal parts, in SI units.

    `time` is what they add to an inference: 0 where they work beside another part. `power` is their
    energy over the time of the whole inference (see `average_power`). `area` is None where it is
    not known.
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
        """As JSON values."""
        found: dict[str, Any] = {"name": self.name, "count": self.count}
        for measure in MEASURES:
            value = getattr(self, measure)
            found[measure] = None if value is None else value.to_json()
        return found | {"formula": self.formula, "source": self.source}


@dataclass(frozen=True)
class System:
    """A design: time, energy and area of one inference are the sums over its parts."""

    name: str
    title: str
    parts: tuple[Part, ...]

    @property
    def time(self) -> Range:
        """Seconds."""
        return total(part.time for part in self.parts)

    @property
    def energy(self) -> Range:
        """Joules."""
        return total(part.energy for part in self.parts)

    @property
    def power(self) -> Range:
        """Watts, on average over the inference."""
        return average_power(self.energy, self.time)

    @property
    def area(self) -> Range | None:
        """Square metres; None where that of a part is not known."""
        areas = [part.area for part in self.parts if part.area is not None]
        return total(areas) if len(areas) == len(self.parts) else None

    def to_json(self) -> dict[str, Any]:
        """As JSON values, with totals."""
        found: dict[str, Any] = {"name": self.name, "title": self.title}
        for measure in MEASURES:
            value = getattr(self, measure)
            found[measure] = None if value is None else value.to_json()
        return found | {"parts": [part.to_json() for part in self.parts]}


def system(name: str, title: str, parts: Iterable[Part]) -> System:
    """A design of these parts, whose powers are energies over the time of all."""
    made = System(name, title, tuple(parts))
    whole = made.time
    return replace(
        made,
        parts=tuple(replace(each, power=average_power(each.energy, whole)) for each in made.parts),
    )


def average_power(energy: Range, time: Range) -> Range:
    """E / T with all numbers low, all typical and all high at once; the bounds are the least and
    the largest of the three. The most energy in the least time is no power of any one chip."""
    pairs = ((energy.low, time.low), (energy.typical, time.typical), (energy.high, time.high))
    low, typical, high = (joules / seconds if seconds else 0.0 for joules, seconds in pairs)
    return Range(min(low, typical, high), typical, max(low, typical, high))
