"""Sentences that explain a claim that does not hold with the numbers of other experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from statistics import fmean
from typing import Any

from entrain_paper.experiments.comparison import Claim, listed
from entrain_paper.experiments.setting import FASHION, MNIST, PAPER, SELECTION
from entrain_paper.experiments.teacher_spread import width_name
from entrain_paper.report.markdown import percent
from entrain_paper.reproduction.measured import read_together

Results = Mapping[str, Any]


def reason(claim: Claim, results: Results) -> str:
    """The reason of a claim, with evidence as far as it was measured."""
    sentence = ""
    if claim.evidence:
        needs, function = EVIDENCE[claim.evidence]
        if all(name in results for name in needs):
            sentence = read_together(lambda given: _safely(function, given, needs), results, needs)
    parts = [claim.reason[:1].upper() + claim.reason[1:] + "." if claim.reason else "", sentence]
    return " ".join(filter(None, parts))


def _safely(function: Callable[[Results], str], results: Results, needs: tuple[str, ...]) -> str:
    """`function(results)`, or nothing as long as not all experiments are there."""
    return function(results) if all(name in results for name in needs) else ""


def _weight(results: Results) -> str:
    """The number of training orders in which weight 10 is worse than weight 0."""
    rows = {(r["dataset"], r["what"]): r for r in results["single-runs"]["values"]["rows"]}
    large, zero = rows.get((MNIST, "weight 10")), rows.get((MNIST, "PATH-CONT"))
    if large is None or zero is None:
        return ""
    tops, bound = [run["top1"] for run in large["runs"]], zero["mean"]["top1"]
    below = sum(top < bound for top in tops)
    return (
        f"Over {len(tops)} training orders, weight 10 has {percent(min(tops))} to "
        f"{percent(max(tops))} %, and {below} of them are below weight 0 ({percent(bound)} %): the "
        "paper's single run is one of the rare ones."
    )


def _path_by_width(results: Results) -> str:
    """The range of PATH over teachers of one width, and its means by width."""
    swept = [row["PATH"]["top1"] for row in _swept(results)]
    means = _means_by_width(results, "path")
    best = max(means, key=lambda width: means[width])
    return (
        f"At H = {PAPER.hidden} our {len(swept)} teachers give PATH from {percent(min(swept))} to "
        f"{percent(max(swept))} %. Over {_teacher_counts(results)}, PATH has means of "
        f"{listed(means.values())} %, the best at H = {best}."
    )


def _last_doubling(results: Results) -> str:
    """The steps between the widths, with means over teachers."""
    means = list(_means_by_width(results, "two_stage_end").values())
    steps = [after - before for before, after in pairwise(means)]
    smallest = "the last is the smallest" if min(steps) == steps[-1] else "the last is not smallest"
    return (
        f"Over {_teacher_counts(results)}, the steps between means are {listed(steps, '+.2f')} "
        f"points: {smallest}."
    )


def _means_by_width(results: Results, method: str) -> dict[int, float]:
    """Mean top-1 over the teachers of each width, from the smallest width to the largest."""
    main = {"path": "PATH", "two_stage_end": "TWO-STAGE-END"}[method]
    means = {PAPER.hidden: fmean(row[main]["top1"] for row in _swept(results))}
    for row in _family(results):
        width = int(row["network"].removeprefix(width_name("")))
        means[width] = fmean(run["top1"] for run in row[method]["runs"])
    return dict(sorted(means.items()))


def _teacher_counts(results: Results) -> str:
    """The numbers of teachers of the widths, in words."""
    count = len(_family(results)[0]["teachers"])
    return f"{count} teachers of each width ({len(_swept(results))} at H = {PAPER.hidden})"


def _swept(results: Results) -> list[Any]:
    return [
        row
        for row in results["teacher-sweep"]["values"]["rows"]
        if (row["dataset"], row["rule"]) == (FASHION, SELECTION[FASHION])
    ]


def _family(results: Results) -> list[Any]:
    rows = results["teachers-of-widths"]["values"]["rows"]
    return [row for row in rows if row["dataset"] == FASHION]


EVIDENCE: dict[str, tuple[tuple[str, ...], Callable[[Results], str]]] = {
    "weight 10": (("single-runs",), _weight),
    "PATH by width": (("teacher-sweep", "teachers-of-widths"), _path_by_width),
    "last doubling": (("teacher-sweep", "teachers-of-widths"), _last_doubling),
}
