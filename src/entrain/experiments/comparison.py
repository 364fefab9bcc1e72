"""Ours beside the paper's, and a verdict by rule.

A number is *reproduced* within two of the paper's standard deviations or the stated tolerance. It
is reproduced *qualitatively* where it has the paper's sign and stands to the other rows of its
group as it does in the paper (rows the paper has closer than the tolerance are not told apart).
Otherwise it *differs*.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from entrain.experiments.setting import MNIST

Verdict = Literal["reproduced", "qualitatively", "differs"]

# The paper's spread is over training orders of one teacher. Another teacher of the same accuracy
# moves these numbers by more, so the tolerances are what five teachers of ours spread over.
RMSE = 0.15  # of the paper's value


def points(dataset: str) -> float:
    """Tolerance of an accuracy or agreement, percentage points."""
    return 1.0 if dataset == MNIST else 2.0


@dataclass(frozen=True)
class Cell:
    """One number of the paper's and ours, with standard deviations where there are runs."""

    paper: float | None
    ours: float | None
    tolerance: float = 0.0
    paper_sd: float | None = None
    ours_sd: float | None = None
    form: str = ".3f"

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.paper is None or self.ours is None or not math.isfinite(self.ours):
            return None
        return self.ours - self.paper

    @property
    def reproduced(self) -> bool:
        """Within two standard deviations or the tolerance; equal where there is neither."""
        allowed = max(2 * (self.paper_sd or 0.0), self.tolerance)
        return self.difference is not None and abs(self.difference) <= allowed + 1e-9

    def stands_alike(self, other: Cell) -> bool | None:
        """Whether the order of two rows is the paper's; None where the paper has them as one."""
        if self.paper is None or other.paper is None or self.ours is None or other.ours is None:
            return None
        gap = self.paper - other.paper
        if abs(gap) <= max(self.tolerance, other.tolerance):
            return None
        return (self.ours - other.ours) * gap > 0


@dataclass(frozen=True)
class Row:
    """A row: its labels, a cell per column, and the group whose rows are ordered together."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    group: str = ""


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and whether our numbers say it too."""

    text: str
    holds: bool
    measured: str


@dataclass(frozen=True)
class Comparison:
    """A table of the paper beside ours; `reason` is the likely one where something differs."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...] = ()
    reason: str = ""
    signed: bool = False  # numbers are effects, whose sign matters
    notes: tuple[str, ...] = field(default_factory=tuple)

    def verdict(self, row: Row, column: int) -> Verdict | None:
        """The verdict on a number; None where the paper has none."""
        cell = row.cells[column]
        if cell.paper is None:
            return None
        if cell.reproduced:
            return "reproduced"
        if cell.difference is None or cell.ours is None:
            return "differs"
        if self.signed:
            return "qualitatively" if cell.ours * cell.paper > 0 else "differs"
        orders = [
            cell.stands_alike(other.cells[column])
            for other in self.rows
            if other is not row and other.group == row.group
        ]
        told_apart = [alike for alike in orders if alike is not None]
        return "qualitatively" if told_apart and all(told_apart) else "differs"

    def verdicts(self) -> Iterable[Verdict]:
        """Every verdict of the table."""
        for row in self.rows:
            for column in range(len(row.cells)):
                if (found := self.verdict(row, column)) is not None:
                    yield found


def accuracy(
    dataset: str,
    paper: float | None,
    ours: float | None,
    paper_sd: float | None = None,
    ours_sd: float | None = None,
    form: str = ".3f",
) -> Cell:
    """A cell of an accuracy or agreement in percent."""
    return Cell(paper, ours, points(dataset), paper_sd, ours_sd, form)


def error(
    paper: float | None,
    ours: float | None,
    paper_sd: float | None = None,
    ours_sd: float | None = None,
    form: str = ".4f",
) -> Cell:
    """A cell of an RMSE."""
    return Cell(paper, ours, RMSE * abs(paper or 0.0), paper_sd, ours_sd, form)
