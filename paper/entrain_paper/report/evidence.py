"""Sentences that explain a claim that does not hold with the numbers of other experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from entrain_paper.experiments.comparison import Claim, printed
from entrain_paper.experiments.setting import FASHION, MNIST, PAPER, SELECTION
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


def _small_weight(results: Results) -> str:
    """The difference of weights 0.1 and 1 over training orders."""
    rows = {(r["dataset"], r["what"]): r for r in results["single-runs"]["values"]["rows"]}
    small, one = rows.get((MNIST, "weight 0.1")), rows.get((MNIST, "TWO-STAGE-END"))
    if small is None or one is None:
        return ""
    spans = [
        f"{percent(min(tops))} to {percent(max(tops))} %"
        for tops in ([run["top1"] for run in row["runs"]] for row in (small, one))
    ]
    difference = one["mean"]["top1"] - small["mean"]["top1"]
    return (
        f"Over {len(small['runs'])} training orders weight 0.1 has {spans[0]} and weight 1 "
        f"{spans[1]}; their means differ by {printed(difference, '.2f')} points."
    )


def _path_by_width(results: Results) -> str:
    """The range of PATH over teachers of one width, and over the widths."""
    swept = [
        row["PATH"]["top1"]
        for row in results["teacher-sweep"]["values"]["rows"]
        if (row["dataset"], row["rule"]) == (FASHION, SELECTION[FASHION])
    ]
    widths = [r["path"]["mean"]["top1"] for r in _widths(results)]
    return (
        f"At H = {PAPER.hidden} our {len(swept)} teachers give PATH from {percent(min(swept))} to "
        f"{percent(max(swept))} %; our widths, one teacher each, from {percent(min(widths))} to "
        f"{percent(max(widths))} %."
    )


def _last_doubling(results: Results) -> str:
    """The steps with means over teachers, where more than one teacher was trained."""
    main = [
        row["TWO-STAGE-END"]["top1"]
        for row in results["teacher-sweep"]["values"]["rows"]
        if (row["dataset"], row["rule"]) == (FASHION, SELECTION[FASHION])
    ]
    rows = _widths(results)
    wide = [
        row["two_stage_end"]
        for row in results["more-teachers"]["values"]["widths"]
        if (row["dataset"], row["H"], row["rule"]) == (FASHION, rows[-1]["H"], SELECTION[FASHION])
    ]
    if not wide or len(rows) < 3:
        return ""
    before, ours = rows[-3]["two_stage_end"]["mean"]["top1"], rows[-2]["two_stage_end"]["mean"]
    above = sum(top > ours["top1"] for top in main)
    after = fmean(run["top1"] for run in wide[0]["runs"])
    step, last = fmean(main) - before, after - fmean(main)
    return (
        f"{above} of our {len(main)} teachers at H = {rows[-2]['H']} give more than the main one. "
        f"With means over {len(main)} teachers at H = {rows[-2]['H']} and "
        f"{len(wide[0]['runs'])} at H = {rows[-1]['H']} (one at H = {rows[-3]['H']}), the last two "
        "steps are "
        f"{printed(step, '+.2f')} and {printed(last, '+.2f')} points: returns do diminish."
        if last < step
        else f"With means over teachers the last two steps are {printed(step, '+.2f')} and "
        f"{printed(last, '+.2f')} points."
    )


def _widths(results: Results) -> list[Any]:
    return [r for r in results["widths"]["values"]["rows"] if r["dataset"] == FASHION]


EVIDENCE: dict[str, tuple[tuple[str, ...], Callable[[Results], str]]] = {
    "weight 0.1": (("single-runs",), _small_weight),
    "weight 10": (("single-runs",), _weight),
    "PATH by width": (("teacher-sweep", "widths"), _path_by_width),
    "last doubling": (("teacher-sweep", "widths", "more-teachers"), _last_doubling),
}
