"""The summary of the report: how many numbers have which verdict, and which claims hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from entrain.experiments import EXPERIMENTS
from entrain.experiments.comparison import VERDICTS, Claim, Comparison, Spread, Verdict
from entrain.experiments.teacher_spread import spread

SYMBOLS: dict[Verdict, str] = {
    "setting": "=",
    "within orders": "✓",
    "within teachers": "≈",
    "differs": "✗",
    "no scale": "·",
}
_RULES = """\
| | meaning |
|---|---|
| = | a setting or a constant: equal by configuration, or because the split was searched for it |
| ✓ | the difference is within two of the paper's standard deviations (over training orders of one \
teacher) |
| ≈ | the difference is no larger than between two of our teachers (95 %: t s √2 from \
teacher-sweep, for each metric); the paper's teacher is not ours |
| ✗ | the difference is larger than both |
| · | there is no scale: the paper prints no deviation, and we have no sweep over teachers |

Numbers in parentheses are not counted. Either an earlier table has counted the same networks, or \
the number follows from others in this report."""


@dataclass(frozen=True)
class Judged:
    """Comparisons by experiment, and the spread over teachers they are judged by."""

    comparisons: dict[str, Comparison]
    spread: Spread

    def counts(self, name: str) -> Counter[Verdict]:
        """How many numbers of an experiment have each verdict."""
        return self.comparisons[name].counts(self.spread)

    def is_ours(self, name: str) -> bool:
        """Whether an experiment and its claims are our own."""
        return not EXPERIMENTS[name].source

    def claims(self, *, ours: bool) -> list[tuple[str, Claim]]:
        """The claims of the paper, or of our own experiments, with their experiments."""
        return [
            (name, claim)
            for name, comparison in self.comparisons.items()
            if self.is_ours(name) == ours
            for claim in comparison.claims
        ]


def judge(results: Mapping[str, Any]) -> Judged:
    """Every experiment that is compared with the paper or makes claims."""
    found = {
        name: compare(results[name]["values"])
        for name, experiment in EXPERIMENTS.items()
        if name in results and (compare := experiment.compare) is not None
    }
    return Judged(found, spread(results))


def headline(judged: Judged) -> str:
    """The counts in a few sentences."""
    total = Counter[Verdict]()
    for name in judged.comparisons:
        total += judged.counts(name)
    measured = sum(total.values()) - total["setting"]
    again = sum(each.seen_before for each in judged.comparisons.values())
    claims = [judged.claims(ours=ours) for ours in (False, True)]
    held = [sum(claim.holds for _, claim in each) for each in claims]
    return (
        f"We measured {measured} numbers of the paper. {total['within orders']} lie within two of "
        f"its standard deviations. {total['within teachers']} more lie within the spread of our "
        f"own teachers, {total['differs']} differ, and {total['no scale']} have no scale to judge "
        f"them by. {total['setting']} settings and constants are equal. A further {again} numbers "
        f"are shown but not counted. {held[0]} of {len(claims[0])} claims of the paper hold here, "
        f"and {held[1]} of {len(claims[1])} claims of our own experiments."
    )


def summary(judged: Judged) -> str:
    """The section that opens the document."""
    head = ["experiment", *SYMBOLS.values(), "not counted", "claims that hold"]
    rows = []
    for name, comparison in judged.comparisons.items():
        counts, claims = judged.counts(name), comparison.claims
        cells = [str(counts[verdict] or "") for verdict in VERDICTS]
        shown = f"{comparison.holding} of {len(claims)}" if claims else ""
        shown += " (ours)" if judged.is_ours(name) and claims else ""
        rows.append([f"[{name}](#{name})", *cells, str(comparison.seen_before or ""), shown])
    listed = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    table = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n" + listed
    parts = ["## Summary", headline(judged), _RULES, table]
    for ours, title in ((False, "Claims of the paper"), (True, "Claims of our own experiments")):
        failing = [
            f"- {claim.text}. Measured: {claim.measured}. [{name}](#{name})"
            for name, claim in judged.claims(ours=ours)
            if not claim.holds
        ]
        if failing:
            parts.append(f"{title} that do not hold here:\n\n" + "\n".join(failing))
    return "\n\n".join(parts)
