"""Quantities with bounds: low, typical and high."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

_PREFIXES = ((1e-18, "a"), (1e-15, "f"), (1e-12, "p"), (1e-9, "n"), (1e-6, "u"), (1e-3, "m"),
             (1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"))  # fmt: skip


@dataclass(frozen=True)
class Range:
    """A positive quantity in SI units, low <= typical <= high.

    Sums, products and quotients combine the best values in `low` and the worst in `high`: bounds,
    not standard deviations.
    """

    low: float
    typical: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Range:
        """A value without uncertainty."""
        return cls(value, value, value)

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.typical + other.typical, self.high + other.high)

    def __mul__(self, other: Range | float) -> Range:
        by = other if isinstance(other, Range) else Range.exactly(other)
        return Range(self.low * by.low, self.typical * by.typical, self.high * by.high)

    def __truediv__(self, other: Range) -> Range:
        """The quotient, 0 for a divisor of 0, which stands for no operations."""
        pairs = (self.low, other.high), (self.typical, other.typical), (self.high, other.low)
        return Range(*(above / below if below else 0.0 for above, below in pairs))

    def to_the(self, exponent: float) -> Range:
        """The power of each number; a negative exponent swaps low and high."""
        values = (self.low**exponent, self.typical**exponent, self.high**exponent)
        return Range(*(values if exponent >= 0 else values[::-1]))

    def to_json(self) -> dict[str, float]:
        """The three numbers by name."""
        return asdict(self)


NOTHING = Range.exactly(0.0)


def si(value: float, unit: str) -> str:
    """Two digits or more with a prefix: 7.8e-8 J as 78 nJ; areas in um² or mm²."""
    if unit == "m2":
        factor, name = (1e-12, "µm²") if value < 1e-9 else (1e-6, "mm²")
        return f"{_digits(value / factor)} {name}"
    if value == 0.0:
        return f"0 {unit}"
    if value == math.inf:
        return f"∞ {unit}"
    # 999.6 p is shown as 1 n
    size, prefix = max((p for p in _PREFIXES if value >= 0.995 * p[0]), default=_PREFIXES[0])
    return f"{_digits(value / size)} {prefix.replace('u', 'µ')}{unit}"


def _digits(value: float) -> str:
    if not value:
        return "0"
    rounded = round(value, 1 - math.floor(math.log10(value)))
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def text(values: Range, unit: str) -> str:
    """Text such as "78 nJ (31 to 160 nJ)", without bounds for exact values."""
    typical, low, high = (si(value, unit) for value in (values.typical, values.low, values.high))
    if low == high:
        return typical
    number, _, name = low.partition(" ")
    low = number if name == high.partition(" ")[2] else low
    return f"{typical} ({low} to {high})"
