"""Our numbers compared with the paper's, and a verdict by rule.

A number that our configuration sets, or that follows from the split alone, is a *setting*. A
measured number is

- *within orders* if it lies within two of the paper's standard deviations, which are over training
  orders of one teacher; or, if the paper has a single run that rounding decides, if that is a
  plausible further draw from our own training orders;
- *within teachers* if the paper's number is a plausible further draw from our own teachers, because
  its teacher is not ours: with the mean m and the sample deviation s of n teachers, if it lies
  within m +- t_{0.975, n-1} s sqrt(1 + 1/n), a 95 % prediction interval;
- of a *borrowed scale* if the number is of another width, architecture or learning rate, for which
  we have no such teachers: if it differs from ours by no more than two of the main network's
  teachers, t_{0.975, n-1} s sqrt(2);
- otherwise it *differs*. If the paper prints no deviation and we have no scale of our own, it has
  *no scale*.

A *repeated* number is shown and judged but not counted: an earlier table has counted the same
networks, or it follows from such numbers. A claim that follows from another is repeated as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import scipy  # its sub-packages load at first use

Verdict = Literal[
    "setting", "within orders", "within teachers", "borrowed scale", "differs", "no scale"
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Source = tuple[str, str, str]  # dataset, method, metric that spreads over teachers


@dataclass(frozen=True)
class Scale:
    """Draws of a metric, two or more: over teachers, or over training orders of one."""

    draws: tuple[float, ...]
    over: Literal["teachers", "orders"] = "teachers"

    def __post_init__(self) -> None:
        _check_numbers(*self.draws)

    @property
    def mean(self) -> float:
        """Mean of the draws."""
        return math.fsum(self.draws) / len(self.draws)

    @property
    def prediction_margin(self) -> float:
        """t s sqrt(1 + 1/n), the largest expected distance of a further draw from the mean."""
        return self._deviation * math.sqrt(1.0 + 1.0 / len(self.draws))

    @property
    def difference_margin(self) -> float:
        """t s sqrt(2), the largest expected difference of two draws."""
        return self._deviation * math.sqrt(2.0)

    @property
    def _deviation(self) -> float:
        n = len(self.draws)
        squares = math.fsum((value - self.mean) ** 2 for value in self.draws)
        return float(scipy.stats.t.ppf(0.975, n - 1)) * math.sqrt(squares / (n - 1))


Spread = Mapping[Source, Scale]


def _check_numbers(*values: float | None) -> None:
    """Raise a TypeError for measured values that are neither numbers nor None."""
    for value in values:
        if not isinstance(value, float | int | None):
            raise TypeError(f"expected a number, got {value!r}")


@dataclass(frozen=True)
class Cell:
    """One measured number, the paper's and ours, with standard deviations if there are runs.

    `source` names the metric whose scale judges the number; `borrowed` if that scale is of other
    networks. `own_source` is the metric of the same networks, which is preferred if it was
    measured. `repeated` if the networks were counted in an earlier table.
    """

    paper: float | None
    ours: float | None
    source: Source | None = None
    paper_sd: float | None = None
    ours_sd: float | None = None
    form: str = ".3f"
    repeated: bool = False
    borrowed: bool = False
    own_source: Source | None = None

    def __post_init__(self) -> None:
        _check_numbers(self.ours, self.ours_sd)

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.paper is None or self.ours is None or not math.isfinite(self.ours):
            return None
        return self.ours - self.paper

    def verdict(self, spread: Spread) -> Verdict | None:
        """The verdict by the rules above; None if the paper has no number."""
        if self.paper is None:
            return None
        if self.difference is None:
            return "differs"
        off = abs(self.difference) - 1e-9
        if self.paper_sd is not None and off <= 2.0 * self.paper_sd:
            return "within orders"
        own_scale = None if self.own_source is None else spread.get(self.own_source)
        scale = own_scale or (None if self.source is None else spread.get(self.source))
        if scale is None:
            return "no scale" if self.paper_sd is None else "differs"
        if self.borrowed and own_scale is None:
            return "borrowed scale" if off <= scale.difference_margin else "differs"
        if abs(self.paper - scale.mean) - 1e-9 > scale.prediction_margin:
            return "differs"
        return "within teachers" if scale.over == "teachers" else "within orders"


@dataclass(frozen=True)
class Constant(Cell):
    """A number that the settings determine; it must equal the paper's up to the printed digits."""

    rounding: float = 0.0

    def verdict(self, spread: Spread) -> Verdict | None:
        """`setting` if the numbers are equal, otherwise `differs`."""
        if self.paper is None:
            return None
        equal = self.difference is not None and abs(self.difference) <= self.rounding + 1e-9
        return "setting" if equal else "differs"


@dataclass(frozen=True)
class Row:
    """A row of a table: its labels and a cell per column."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper or of ours; `holds` if our numbers support it, `repeated` if it follows
    from another claim."""

    text: str
    holds: bool
    measured: str
    repeated: bool = False


def listed(values: Iterable[float], form: str = ".2f") -> str:
    """The numbers with commas between them, for a claim or a note."""
    return ", ".join(f"{value:{form}}" for value in values)


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
        """Numbers of each verdict, without repeated numbers."""
        cells = (cell for row in self.rows for cell in row.cells if not cell.repeated)
        verdicts = (cell.verdict(spread) for cell in cells)
        return Counter(verdict for verdict in verdicts if verdict is not None)

    @property
    def repeats(self) -> int:
        """Repeated numbers."""
        return sum(cell.repeated and cell.paper is not None for r in self.rows for cell in r.cells)

    @property
    def supported(self) -> int:
        """Number of counted claims that hold."""
        return sum(claim.holds for claim in self.counted)

    @property
    def counted(self) -> tuple[Claim, ...]:
        """Claims that do not follow from others."""
        return tuple(claim for claim in self.claims if not claim.repeated)
