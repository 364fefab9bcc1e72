"""What came out: how many numbers have which verdict, and which claims hold."""

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
| | a number is |
|---|---|
| = | a setting or a constant: equal by configuration, or by the split whose seed was searched for |
| ✓ | within two of the paper's standard deviations, which are over training orders of one teacher |
| ≈ | no farther off than one of our teachers lies from another (95 %: t s √2 of teacher-sweep, \
metric by metric): the paper's teacher is not ours |
| ✗ | farther off than both |
| · | without a scale: the paper prints no deviation, and we have not swept teachers for it |

Numbers of networks that an earlier table has counted, and numbers that follow from others in the \
same report, are shown in parentheses and not counted."""


@dataclass(frozen=True)
class Judged:
    """Comparisons by experiment, and the spread over teachers they are judged by."""

    comparisons: dict[str, Comparison]
    spread: Spread

    def counts(self, name: str) -> Counter[Verdict]:
        """Numbers of an experiment by verdict."""
        return self.comparisons[name].counts(self.spread)

    def is_ours(self, name: str) -> bool:
        """Whether an experiment, and what it claims, is our own."""
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
    """Every experiment that is compared with the paper, or claims something."""
    found = {
        name: compare(results[name]["values"])
        for name, experiment in EXPERIMENTS.items()
        if name in results and (compare := experiment.compare) is not None
    }
    return Judged(found, spread(results))


def headline(judged: Judged) -> str:
    """The counts in a sentence or two."""
    total = Counter[Verdict]()
    for name in judged.comparisons:
        total += judged.counts(name)
    measured = sum(total.values()) - total["setting"]
    again = sum(each.seen_before for each in judged.comparisons.values())
    claims = [judged.claims(ours=ours) for ours in (False, True)]
    held = [sum(claim.holds for _, claim in each) for each in claims]
    return (
        f"Of {measured} measured numbers of the paper, {total['within orders']} lie within two of "
        f"its standard deviations, {total['within teachers']} more within what our own teachers "
        f"spread over, {total['differs']} differ, and {total['no scale']} have no scale to be "
        f"judged by. {total['setting']} settings and constants are equal, and {again} numbers are "
        f"shown again. {held[0]} of {len(claims[0])} claims of the paper hold here, and {held[1]} "
        f"of {len(claims[1])} of our own experiments."
    )


def summary(judged: Judged) -> str:
    """The section that opens the document."""
    head = ["experiment", *SYMBOLS.values(), "again", "claims that hold"]
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
            f"- {claim.text}: no ({claim.measured}) [{name}](#{name})"
            for name, claim in judged.claims(ours=ours)
            if not claim.holds
        ]
        if failing:
            parts.append(f"{title} that do not hold here:\n\n" + "\n".join(failing))
    return "\n\n".join(parts)
