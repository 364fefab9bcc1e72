"""Our numbers compared with the paper's, and a verdict by rule.

A number that our configuration sets, or that follows from the split alone, is a *setting*. A
measured number is judged by the first of these rules that applies:

1. *within the paper's orders*: it differs by no more than two of the paper's standard deviations,
   which are over training orders of one teacher.
2. *within our orders*: the paper's number lies between the smallest and the largest of our training
   orders of the same training. No distribution is assumed: runs that rounding decides are skewed.
3. *within our teachers*: the paper's number is a plausible further draw from our teachers of the
   same network. With the mean m and the sample deviation s of n teachers it lies within
   m +- t_{0.975, n-1} s sqrt(1 + 1/n), a 95 % prediction interval. Where rounding decides single
   runs, which therefore have at least `DECISIVE` training orders, draws are skewed: it lies between
   the smallest and the largest of our teachers.
4. *differs*: it lies outside our teachers, or outside at least `DECISIVE` training orders. (A
   further draw lies outside n draws with probability 2 / (n + 1).)
5. *no own scale*: we have neither teachers nor enough orders of this training. No other network's
   spread takes their place; `nearest` only gives the distance a unit in the figure.

A *repeated* number is shown and judged but not counted: an earlier table has counted the same
networks, or it follows from such numbers. A claim that follows from another is not counted either.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import scipy  # its sub-packages load at first use

Verdict = Literal[
    "setting",
    "within the paper's orders",
    "within our orders",
    "within our teachers",
    "differs",
    "no own scale",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
AGREEING: tuple[Verdict, ...] = VERDICTS[1:4]
Source = tuple[str, str, str]  # dataset, method, metric

DECISIVE = 19  # orders; a further draw lies outside that many with probability 2 / 20


@dataclass(frozen=True)
class Scale:
    """Draws of a metric, two or more: over teachers, or over training orders of one."""

    draws: tuple[float, ...]
    over: Literal["teachers", "orders"] = "teachers"
    skewed: bool = False

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
    def bounds(self) -> tuple[float, float]:
        """The interval of plausible further draws: of teachers mean +- margin, of orders and of
        skewed draws their range."""
        if self.over == "orders" or self.skewed:
            return min(self.draws), max(self.draws)
        return self.mean - self.prediction_margin, self.mean + self.prediction_margin

    @property
    def decides(self) -> bool:
        """True if a number outside the bounds differs."""
        return self.over == "teachers" or len(self.draws) >= DECISIVE

    def covers(self, value: float) -> bool:
        """True if `value` lies within the bounds."""
        low, high = self.bounds
        return low - 1e-9 <= value <= high + 1e-9

    def position(self, value: float) -> float:
        """Distance of our centre from `value`, in half-widths of the bounds."""
        low, high = self.bounds
        return _ratio((low + high) / 2.0 - value, (high - low) / 2.0)

    @property
    def _deviation(self) -> float:
        n = len(self.draws)
        squares = math.fsum((value - self.mean) ** 2 for value in self.draws)
        return float(scipy.stats.t.ppf(0.975, n - 1)) * math.sqrt(squares / (n - 1))


@dataclass(frozen=True)
class Spread:
    """Scales by dataset, method and metric: over our teachers, and over our training orders."""

    teachers: Mapping[Source, Scale] = field(default_factory=dict)
    orders: Mapping[Source, Scale] = field(default_factory=dict)


def _check_numbers(*values: float | None) -> None:
    """Raise a TypeError for measured values that are neither numbers nor None."""
    for value in values:
        if not isinstance(value, float | int | None):
            raise TypeError(f"expected a number, got {value!r}")


def _ratio(difference: float, unit: float) -> float:
    if unit > 0.0:
        return difference / unit
    return 0.0 if abs(difference) < 1e-9 else math.copysign(math.inf, difference)


@dataclass(frozen=True)
class Cell:
    """One measured number, the paper's and ours, with standard deviations if there are runs.

    `source` names the metric of the same training whose draws judge the number. `nearest` names
    that of the main network, for numbers of another network: it never decides a verdict.
    `repeated` if the networks were counted in an earlier table.
    """

    paper: float | None
    ours: float | None
    source: Source | None = None
    paper_sd: float | None = None
    ours_sd: float | None = None
    form: str = ".3f"
    repeated: bool = False
    nearest: Source | None = None

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
        if self.paper_sd is not None and abs(self.difference) - 1e-9 <= 2.0 * self.paper_sd:
            return "within the paper's orders"
        orders, teachers = self._own(spread)
        if orders is not None and orders.covers(self.paper):
            return "within our orders"
        if teachers is not None and teachers.covers(self.paper):
            return "within our teachers"
        decisive = any(scale is not None and scale.decides for scale in (orders, teachers))
        return "differs" if decisive else "no own scale"

    def position(self, spread: Spread) -> float | None:
        """The difference over the scale that decides: within -1 and 1 it agrees.

        A number without a scale of its own has its difference over that of two teachers of the
        main network. None if the paper has no number, or if there is no such scale either.
        """
        verdict = self.verdict(spread)
        if verdict is None or self.paper is None or self.difference is None:
            return None
        if verdict == "within the paper's orders" and self.paper_sd is not None:
            return _ratio(self.difference, 2.0 * self.paper_sd)
        orders, teachers = self._own(spread)
        if orders is not None and verdict == "within our orders":
            return orders.position(self.paper)
        for scale in (teachers, orders):
            if scale is not None and scale.decides:
                return scale.position(self.paper)
        return self.nearest_position(spread)

    def nearest_position(self, spread: Spread) -> float | None:
        """The difference over that of two teachers of the main network; None without them."""
        main = None if self.nearest is None else spread.teachers.get(self.nearest)
        if main is None or self.difference is None:
            return None
        return _ratio(self.difference, main.difference_margin)

    def _own(self, spread: Spread) -> tuple[Scale | None, Scale | None]:
        if self.source is None:
            return None, None
        return spread.orders.get(self.source), spread.teachers.get(self.source)


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

    def position(self, spread: Spread) -> float | None:
        """None: a setting has no scale."""
        return None


@dataclass(frozen=True)
class Row:
    """A row of a table: its labels and a cell per column."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]

    def __post_init__(self) -> None:
        for label in self.labels:
            if not isinstance(label, str):
                raise TypeError(f"expected a text, got {label!r}")


def in_text(label: str, cell: Cell) -> Row:
    """A number that the paper prints in its text."""
    return Row((label,), (cell,))


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper or of ours; `holds` if our numbers support it.

    `reason` explains why it does not hold, and `evidence` names a sentence of `report.evidence`
    with the numbers of other experiments for that. `follows` names the claim from which it follows;
    such a claim is shown, and listed if it fails, but not counted.
    """

    text: str
    holds: bool
    measured: str
    reason: str = ""
    evidence: str = ""
    follows: str = ""

    @property
    def counted(self) -> bool:
        """False for a claim that follows from another."""
        return not self.follows


def printed(value: float, form: str) -> str:
    """`value` in a format, equal for sums of the same numbers in another order.

    The mean of 96.5 and 96.75 is 96.625 or 96.62500000000001 by the order of the sum, of which one
    would be rounded down and one up.
    """
    return f"{round(value, 9) + 0.0:{form}}" if math.isfinite(value) else f"{value:{form}}"


def listed(values: Iterable[float], form: str = ".2f") -> str:
    """The numbers with commas between them, for a claim or a note."""
    return ", ".join(printed(value, form) for value in values)


@dataclass(frozen=True)
class Comparison:
    """A table of the paper compared with ours; `text` has the numbers of the paper's text, and
    `reason` is the likely reason for differences."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)
    text: tuple[Row, ...] = ()

    def cells(self) -> Iterator[Cell]:
        """Every number, of the table and of the text."""
        for row in (*self.rows, *self.text):
            yield from row.cells

    def counts(self, spread: Spread) -> Counter[Verdict]:
        """Numbers of each verdict, without repeated numbers."""
        verdicts = (cell.verdict(spread) for cell in self.cells() if not cell.repeated)
        return Counter(verdict for verdict in verdicts if verdict is not None)

    @property
    def repeats(self) -> int:
        """Repeated numbers."""
        return sum(cell.repeated and cell.paper is not None for cell in self.cells())

    @property
    def supported(self) -> int:
        """Number of counted claims that hold."""
        return sum(claim.holds for claim in self.counted)

    @property
    def counted(self) -> tuple[Claim, ...]:
        """Claims that do not follow from others."""
        return tuple(claim for claim in self.claims if claim.counted)
