"""Verdicts on all measured experiments: numbers by verdict, and sentences that hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.comparison import (
    AGREEING,
    DECISIVE,
    Cell,
    Claim,
    Comparison,
    Constant,
    Spread,
    Verdict,
)
from entrain_paper.experiments.teacher_spread import SCALES, spread
from entrain_paper.reproduction.measured import read_together, reading

SYMBOLS: dict[Verdict, str] = {
    "setting": "=",
    "within the paper's orders": "✓",
    "within our orders": "○",
    "within our teachers": "≈",
    "differs": "✗",
    "no own scale": "·",
}
LEGEND = f"""\
| | meaning |
|---|---|
| = | a setting or a constant, equal by configuration or by the search for the split |
| ✓ | the difference is at most two of the paper's standard deviations, which are over training \
orders of one teacher |
| ○ | the paper's number lies between the smallest and the largest of our training orders of the \
same training. No distribution is assumed |
| ≈ | the paper's number is a plausible further draw from our teachers of the same network (95 %: \
their mean ± t s √(1 + 1/n); where rounding decides single runs, their range); the paper's teacher \
is not one of them |
| ✗ | it lies outside our teachers, or outside {DECISIVE} or more training orders |
| · | no scale of its own: we have one teacher and too few orders of this training. It is not \
judged, and no other network's spread takes the place of its own |

The first rule that applies decides. Numbers in parentheses are judged but not counted: an earlier \
table counts the same networks, or the number follows from others in this report. Sentences that \
follow from others are marked, listed if they fail, and not counted."""


@dataclass(frozen=True)
class Deviation:
    """A counted number on the common axis: its difference over its scale."""

    experiment: str
    dataset: str
    label: str
    position: float
    verdict: Verdict


@dataclass(frozen=True)
class Judged:
    """Comparisons by experiment, the scales of their verdicts, and the number of teachers."""

    comparisons: dict[str, Comparison]
    spread: Spread
    teachers: int

    def counts(self, name: str) -> Counter[Verdict]:
        """Numbers of an experiment by verdict."""
        return self.comparisons[name].counts(self.spread)

    def total(self) -> Counter[Verdict]:
        """Numbers of all experiments by verdict."""
        total = Counter[Verdict]()
        for name in self.comparisons:
            total += self.counts(name)
        return total

    def is_additional(self, name: str) -> bool:
        """True for an experiment that is not in the paper."""
        return not EXPERIMENTS[name].source

    def claims(self, *, additional: bool) -> list[tuple[str, Claim]]:
        """Sentences of the paper, or of the additional experiments, with their experiments."""
        return [
            (name, claim)
            for name, comparison in self.comparisons.items()
            if self.is_additional(name) == additional
            for claim in comparison.claims
        ]

    def supported(self, *, additional: bool) -> tuple[int, int]:
        """Numbers of counted sentences that hold, and of all counted ones."""
        counted = [c for _, c in self.claims(additional=additional) if c.counted]
        return sum(claim.holds for claim in counted), len(counted)

    def failing(self, *, additional: bool) -> list[tuple[str, Claim]]:
        """Every sentence that does not hold, counted or not."""
        return [(n, claim) for n, claim in self.claims(additional=additional) if not claim.holds]

    def deviations(self) -> list[Deviation]:
        """Every counted number that has a place on the common axis."""
        deviations = []
        for name, comparison in self.comparisons.items():
            for label, cell in _labelled(comparison):
                position = None if cell.repeated else cell.position(self.spread)
                verdict = cell.verdict(self.spread)
                if position is not None and verdict is not None:
                    dataset = _dataset(label, cell)
                    deviations.append(Deviation(name, dataset, label, position, verdict))
        return deviations

    def differing(self) -> list[tuple[str, str, Cell]]:
        """Counted numbers that differ, with their experiment and label; settings included."""
        return [
            (name, label, cell)
            for name, comparison in self.comparisons.items()
            for label, cell in _labelled(comparison)
            if not cell.repeated and cell.verdict(self.spread) == "differs"
        ]

    def beyond_nearest(self) -> tuple[int, int]:
        """Of the numbers without a scale of their own, how many differ more than two teachers of
        the main network do, and how many can be compared with them."""
        positions = [d.position for d in self.deviations() if d.verdict == "no own scale"]
        return sum(abs(position) > 1.0 for position in positions), len(positions)

    def by_chance(self) -> float:
        """Numbers that would differ by chance if the paper's teachers and orders were like ours:
        one in twenty of those judged by teachers, two in n + 1 of those judged by n orders."""
        expected = 0.0
        for comparison in self.comparisons.values():
            for cell in comparison.cells():
                if not cell.repeated and not isinstance(cell, Constant):
                    expected += self._chance(cell)
        return expected

    def _chance(self, cell: Cell) -> float:
        verdict = cell.verdict(self.spread)
        if verdict not in (*AGREEING, "differs") or cell.source is None:
            return 0.0
        if cell.source in self.spread.teachers:
            return 0.05
        orders = self.spread.orders.get(cell.source)
        decides = orders is not None and orders.decides
        return 2.0 / (len(orders.draws) + 1) if decides and orders is not None else 0.0


def _labelled(comparison: Comparison) -> list[tuple[str, Cell]]:
    """Every number with its row and column in words."""
    labelled = []
    for row in comparison.rows:
        names = [
            f"{head} = {label}" if label.replace(".", "").isdigit() else label
            for head, label in zip(comparison.labels, row.labels, strict=True)
        ]
        for column, cell in zip(comparison.columns, row.cells, strict=True):
            labelled.append((", ".join((*names, column)), cell))
    return labelled + [(row.labels[0], cell) for row in comparison.text for cell in row.cells]


def _dataset(label: str, cell: Cell) -> str:
    if cell.source is not None:
        return cell.source[0]
    return "Fashion-MNIST" if label.startswith("Fashion") else "MNIST"


def judge(results: Mapping[str, Any]) -> Judged:
    """Verdicts on every experiment that is compared with the paper or makes claims."""
    comparisons = {}
    for name, experiment in EXPERIMENTS.items():
        if name in results and experiment.compare is not None:
            with reading(name):
                comparisons[name] = experiment.compare(results[name]["values"])
    teachers = {
        stage["key"]
        for name, comparison in comparisons.items()
        if comparison.rows
        for stage in results[name]["stages"]
        if " teacher " in stage.get("title", "")
    }
    return Judged(comparisons, read_together(spread, results, SCALES), len(teachers))


def headline(judged: Judged) -> str:
    """The counts in a few sentences."""
    total = judged.total()
    measured = sum(total.values()) - total["setting"]
    repeats = sum(comparison.repeats for comparison in judged.comparisons.values())
    beyond, known = judged.beyond_nearest()
    (holding, claims), (own_holding, own) = (
        judged.supported(additional=additional) for additional in (False, True)
    )
    agreeing = sum(total[verdict] for verdict in AGREEING)
    compared = ""
    if known:
        compared = f"; {beyond} of the {known} that can be compared with the main network differ "
        compared += "more than two of its teachers do"
    return (
        f"Of {measured} measured numbers, {agreeing} agree: "
        f"{total[AGREEING[0]]} lie within two of the paper's standard deviations, "
        f"{total[AGREEING[1]]} within our training orders and {total[AGREEING[2]]} within our "
        f"teachers. {total['differs']} differ (about {judged.by_chance():.0f} would by chance). "
        f"{total['no own scale']} have no scale of their own (one teacher, too few training "
        f"orders) and are not judged{compared}. "
        f"{total['setting']} settings and constants are equal. {repeats} further numbers are "
        f"shown but not counted. {holding} of {claims} sentences of the paper hold here, and "
        f"{own_holding} of {own} of the additional experiments."
    )
