"""The summary of the report: how many numbers have which verdict, and which claims hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.comparison import VERDICTS, Claim, Comparison, Spread, Verdict
from entrain_paper.experiments.teacher_spread import spread
from entrain_paper.report.markdown import plain, table

SYMBOLS: dict[Verdict, str] = {
    "setting": "=",
    "within orders": "✓",
    "within teachers": "≈",
    "borrowed scale": "~",
    "differs": "✗",
    "no scale": "·",
}
_RULES = """\
| | meaning |
|---|---|
| = | a setting or a constant: equal by configuration, or because the split was searched for it |
| ✓ | the difference is within two of the paper's standard deviations (over training orders of one \
teacher); or the paper has a single run that rounding decides, and it is a plausible further draw \
from our 20 training orders (95 %) |
| ≈ | the paper's number is a plausible further draw from our own teachers (95 %: their mean ± t s \
√(1 + 1/n), for each metric); its teacher is not ours |
| ~ | a borrowed scale: the network has another width, architecture or learning rate, for which we \
have no such teachers. The difference is no larger than between two teachers of the main network \
(95 %: t s √2) |
| ✗ | the difference is larger |
| · | there is no scale: the paper prints no deviation, and we have no scale of our own |

Numbers in parentheses are not counted. Either an earlier table has counted the same networks, or \
the number follows from others in this report. So are claims that follow from others."""


@dataclass(frozen=True)
class Judged:
    """Comparisons by experiment, the scales they are judged by, and how many teachers of ours are
    behind the numbers."""

    comparisons: dict[str, Comparison]
    spread: Spread
    teachers: int

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
            for claim in comparison.counted
        ]


def judge(results: Mapping[str, Any]) -> Judged:
    """Every experiment that is compared with the paper or makes claims."""
    found = {
        name: compare(results[name]["values"])
        for name, experiment in EXPERIMENTS.items()
        if name in results and (compare := experiment.compare) is not None
    }
    teachers = {
        stage["key"]
        for name, comparison in found.items()
        if comparison.rows
        for stage in results[name]["stages"]
        if " teacher " in stage.get("title", "")
    }
    return Judged(found, spread(results), len(teachers))


def headline(judged: Judged) -> str:
    """The counts in a few sentences."""
    total = Counter[Verdict]()
    for name in judged.comparisons:
        total += judged.counts(name)
    measured = sum(total.values()) - total["setting"]
    again = sum(each.repeats for each in judged.comparisons.values())
    claims = [judged.claims(ours=ours) for ours in (False, True)]
    held = [sum(claim.holds for _, claim in each) for each in claims]
    return (
        f"We measured {measured} numbers of the paper. {total['within orders']} lie within two of "
        f"its standard deviations. {total['within teachers']} more lie within the spread of our "
        f"own teachers, and {total['borrowed scale']} within that of the main network's teachers, "
        "though they are of another width, architecture or learning rate. "
        f"{total['differs']} differ, and {total['no scale']} have no scale to judge them by. "
        f"{total['setting']} settings and constants are equal. A further {again} numbers "
        f"are shown but not counted. {held[0]} of {len(claims[0])} claims of the paper hold here, "
        f"and {held[1]} of {len(claims[1])} claims of our own experiments."
    )


def _chance(judged: Judged) -> str:
    """How many numbers would differ by chance, and why they are not so many witnesses."""
    judged_so = sum(
        judged.counts(name)[verdict]
        for name in judged.comparisons
        for verdict in ("within orders", "within teachers", "borrowed scale", "differs")
    )
    return (
        f"These numbers are not independent: they are of {judged.teachers} teachers of ours, each "
        "of which moves all numbers of its students together. If the paper's teachers were like "
        f"ours, about one number in twenty, {judged_so / 20:.0f}, would differ by chance."
    )


def _limits(judged: Judged) -> str:
    """The scales of the main numbers, in full."""
    rows = []
    for (dataset, method, metric), scale in judged.spread.items():
        if metric in _SHOWN and scale.over == "teachers":
            form = ".4f" if "rmse" in metric else ".2f"
            rows.append(
                {"dataset": dataset, "method": method, "metric": _SHOWN[metric]}
                | {"our teachers": str(len(scale.draws)), "mean": f"{scale.mean:{form}}"}
                | {
                    "≈ within": f"±{scale.prediction_margin:{form}}",
                    "~ within": f"±{scale.difference_margin:{form}}",
                }
            )
    if not rows:
        return ""
    text = "What is allowed: ≈ from the mean of our teachers, ~ from our own number."
    return f"{text}\n\n" + table(rows, [(name, plain(name)) for name in rows[0]])


_SHOWN = {
    "test_top1": "top-1 %",
    "top1": "top-1 %",
    "agreement": "agreement %",
    "endpoint_rmse": "endpoint RMSE",
}


def summary(judged: Judged) -> str:
    """The section that opens the document."""
    head = ["experiment", *SYMBOLS.values(), "not counted", "claims that hold"]
    rows = []
    for name, comparison in judged.comparisons.items():
        counts, claims = judged.counts(name), comparison.counted
        cells = [str(counts[verdict] or "") for verdict in VERDICTS]
        shown = f"{comparison.supported} of {len(claims)}" if claims else ""
        shown += " (ours)" if judged.is_ours(name) and claims else ""
        rows.append([f"[{name}](#{name})", *cells, str(comparison.repeats or ""), shown])
    listed = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    counted = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n" + listed
    parts = ["## Summary", headline(judged), _chance(judged), _RULES, counted]
    if limits := _limits(judged):
        parts.append(limits)
    for ours, title in ((False, "Claims of the paper"), (True, "Claims of our own experiments")):
        failing = [
            f"- {claim.text}. Measured: {claim.measured}. [{name}](#{name})"
            for name, claim in judged.claims(ours=ours)
            if not claim.holds
        ]
        if failing:
            parts.append(f"{title} that do not hold here:\n\n" + "\n".join(failing))
    return "\n\n".join(parts)
