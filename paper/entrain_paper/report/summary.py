"""Summary of the report: numbers by verdict, and claims that hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.comparison import VERDICTS, Claim, Comparison, Spread, Verdict
from entrain_paper.experiments.teacher_spread import SCALES, spread
from entrain_paper.report.markdown import grid, plain, table
from entrain_paper.reproduction.measured import read_together, reading

SYMBOLS: dict[Verdict, str] = {
    "setting": "=",
    "within orders": "✓",
    "within teachers": "≈",
    "borrowed scale": "~",
    "differs": "✗",
    "no scale": "·",
}
_LEGEND = """\
| | meaning |
|---|---|
| = | a setting or a constant, equal by configuration or by the search for the split |
| ✓ | the difference is at most two of the paper's standard deviations (over training orders of \
one teacher); or the paper has a single run whose result depends on rounding, and its number is a \
plausible further draw from our 20 training orders (95 %) |
| ≈ | the paper's number is a plausible further draw from our teachers (95 %: their mean ± t s \
√(1 + 1/n), for each metric); the paper's teacher is not one of them |
| ~ | borrowed scale: the network has another width, architecture or learning rate, for which we \
have no set of teachers. The difference is at most that of two teachers of the main network \
(95 %: t s √2) |
| ✗ | the difference is larger |
| · | no scale: neither the paper nor we have a standard deviation |

Numbers in parentheses are not counted: an earlier table counts the same networks, or the number \
follows from others in this report. Claims that follow from others are not counted either."""
_METRICS = {
    "test_top1": "top-1 %",
    "top1": "top-1 %",
    "agreement": "agreement %",
    "endpoint_rmse": "endpoint RMSE",
}


@dataclass(frozen=True)
class Judged:
    """Comparisons by experiment, the scales of their verdicts, and the number of teachers."""

    comparisons: dict[str, Comparison]
    spread: Spread
    teachers: int

    def counts(self, name: str) -> Counter[Verdict]:
        """Numbers of an experiment by verdict."""
        return self.comparisons[name].counts(self.spread)

    def is_additional(self, name: str) -> bool:
        """True for an experiment that is not in the paper."""
        return not EXPERIMENTS[name].source

    def claims(self, *, additional: bool) -> list[tuple[str, Claim]]:
        """Counted claims of the paper, or of the additional experiments, with their experiments."""
        return [
            (name, claim)
            for name, comparison in self.comparisons.items()
            if self.is_additional(name) == additional
            for claim in comparison.counted
        ]


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
    total = Counter[Verdict]()
    for name in judged.comparisons:
        total += judged.counts(name)
    measured = sum(total.values()) - total["setting"]
    repeats = sum(comparison.repeats for comparison in judged.comparisons.values())
    claims = [judged.claims(additional=additional) for additional in (False, True)]
    supported = [sum(claim.holds for _, claim in group) for group in claims]
    return (
        f"We compare {measured} measured numbers with the paper. {total['within orders']} lie "
        f"within two of its standard deviations. {total['within teachers']} more lie within the "
        f"spread of our teachers, and {total['borrowed scale']} within that of the main network's "
        "teachers, although they have another width, architecture or learning rate. "
        f"{total['differs']} differ, and {total['no scale']} have no scale for a verdict. "
        f"{total['setting']} settings and constants are equal. {repeats} further numbers "
        f"are shown but not counted. {supported[0]} of {len(claims[0])} claims of the paper hold "
        f"here, and {supported[1]} of {len(claims[1])} claims of the additional experiments."
    )


def _expected_by_chance(judged: Judged) -> str:
    """Numbers that would differ by chance alone, in sentences."""
    count = sum(
        judged.counts(name)[verdict]
        for name in judged.comparisons
        for verdict in ("within orders", "within teachers", "borrowed scale", "differs")
    )
    return (
        f"These numbers are not independent: they come from {judged.teachers} teachers, each of "
        "which moves all numbers of its students together. If the paper's teachers were like "
        f"ours, about one number in twenty, {count / 20:.0f}, would differ by chance."
    )


def _limits(judged: Judged) -> str:
    """Table of the scales of the main numbers; empty without scales."""
    rows = []
    for (dataset, method, metric), scale in judged.spread.items():
        if metric in _METRICS and scale.over == "teachers":
            form = ".4f" if "rmse" in metric else ".2f"
            rows.append(
                {
                    "dataset": dataset,
                    "method": method,
                    "metric": _METRICS[metric],
                    "our teachers": str(len(scale.draws)),
                    "mean": f"{scale.mean:{form}}",
                    "≈ within": f"±{scale.prediction_margin:{form}}",
                    "~ within": f"±{scale.difference_margin:{form}}",
                }
            )
    if not rows:
        return ""
    text = "Limits of the verdicts: ≈ around the mean of our teachers, ~ around our number."
    return f"{text}\n\n" + table(rows, [(name, plain(name)) for name in rows[0]])


def summary(judged: Judged) -> str:
    """The first section of the report."""
    lines = []
    for name, comparison in judged.comparisons.items():
        counts, claims = judged.counts(name), comparison.counted
        cells = [str(counts[verdict] or "") for verdict in VERDICTS]
        supported = f"{comparison.supported} of {len(claims)}" if claims else ""
        supported += " (additional)" if judged.is_additional(name) and claims else ""
        lines.append([f"[{name}](#{name})", *cells, str(comparison.repeats or ""), supported])
    head = ["experiment", *SYMBOLS.values(), "not counted", "claims that hold"]
    parts = ["## Summary", headline(judged), _expected_by_chance(judged), _LEGEND]
    parts += [grid(head, lines), _limits(judged)]
    for additional, title in ((False, "the paper"), (True, "the additional experiments")):
        failing = [
            f"- {claim.text}. Measured: {claim.measured}. [{name}](#{name})"
            for name, claim in judged.claims(additional=additional)
            if not claim.holds
        ]
        if failing:
            parts.append(f"Claims of {title} that do not hold here:\n\n" + "\n".join(failing))
    return "\n\n".join(filter(None, parts))
