"""Our numbers compared with the paper's, and a verdict by rule.

A number that our configuration sets, or that follows from the split alone, is a *setting*. A
measured number is

- *within orders* if it lies within two of the paper's standard deviations, which are over training
  orders of one teacher;
- *within teachers* if the difference is no larger than between two of our teachers, because our
  teacher is not the paper's. If the metric has the sample deviation s over n teachers, this limit
  is t_{0.975, n-1} s sqrt(2), a 95 % prediction interval for the difference of two;
- otherwise it *differs*. If the paper prints no deviation and we have not measured the spread over
  teachers, it has *no scale*.

A number is shown and judged *again*, but not counted, if an earlier table has counted the same
networks, or if it follows from such numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import scipy  # loads what is used of it at its first use

Verdict = Literal["setting", "within orders", "within teachers", "differs", "no scale"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Source = tuple[str, str, str]  # dataset, method, metric: what spreads over teachers
Spread = Mapping[Source, float]  # how far two teachers of ours may lie apart


def apart(values: Sequence[float]) -> float:
    """t_{0.975, n-1} s sqrt(2): how far two draws may differ, estimated from n draws."""
    n = len(values)
    mean = math.fsum(values) / n
    s = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return float(scipy.stats.t.ppf(0.975, n - 1)) * s * math.sqrt(2.0)


@dataclass(frozen=True)
class Cell:
    """One measured number, the paper's and ours, with standard deviations if there are runs.

    `source` names the metric whose spread over teachers it is judged by; `again` marks a number
    of networks that were counted before.
    """

    paper: float | None
    ours: float | None
    source: Source | None = None
    paper_sd: float | None = None
    ours_sd: float | None = None
    form: str = ".3f"
    again: bool = False

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.paper is None or self.ours is None or not math.isfinite(self.ours):
            return None
        return self.ours - self.paper

    def verdict(self, spread: Spread) -> Verdict | None:
        """The verdict on it; None where the paper has no number."""
        if self.paper is None:
            return None
        if self.difference is None:
            return "differs"
        off = abs(self.difference) - 1e-9
        if self.paper_sd is not None and off <= 2.0 * self.paper_sd:
            return "within orders"
        allowed = None if self.source is None else spread.get(self.source)
        if allowed is not None and off <= allowed:
            return "within teachers"
        return "no scale" if allowed is None and self.paper_sd is None else "differs"


@dataclass(frozen=True)
class Constant(Cell):
    """A number that our settings decide, equal up to the printed digits."""

    rounding: float = 0.0

    def verdict(self, spread: Spread) -> Verdict | None:
        """Equal or not."""
        if self.paper is None:
            return None
        alike = self.difference is not None and abs(self.difference) <= self.rounding + 1e-9
        return "setting" if alike else "differs"


@dataclass(frozen=True)
class Row:
    """A row: its labels and a cell per column."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper or of our own, and whether our numbers support it."""

    text: str
    holds: bool
    measured: str


@dataclass(frozen=True)
class Comparison:
    """A table of the paper compared with ours; `reason` is the likely reason for differences."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)

    def counts(self, spread: Spread) -> Counter[Verdict]:
        """How many numbers have each verdict, without those counted before."""
        found = (cell.verdict(spread) for row in self.rows for cell in row.cells if not cell.again)
        return Counter(verdict for verdict in found if verdict is not None)

    @property
    def seen_before(self) -> int:
        """Numbers that are shown again."""
        return sum(cell.again and cell.paper is not None for r in self.rows for cell in r.cells)

    @property
    def holding(self) -> int:
        """Claims that hold."""
        return sum(claim.holds for claim in self.claims)
