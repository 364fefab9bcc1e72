"""The first page of the report: what the paper claims, and what came out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from entrain.utils import escape
from entrain_paper.experiments import EXPERIMENTS, PAPER
from entrain_paper.experiments.comparison import AGREEING, Cell, Claim, printed
from entrain_paper.experiments.setting import BOTH, SELECTION
from entrain_paper.experiments.shared_stages import METHODS
from entrain_paper.figures.panels import paper_row
from entrain_paper.report.evidence import reason
from entrain_paper.report.experiment_page import METHOD
from entrain_paper.report.figures import DEVIATIONS
from entrain_paper.report.judged import Judged, headline
from entrain_paper.report.markdown import grid, percent
from entrain_paper.report.pages import FOLDER, OWN_PAGES, PAGE_OF, PAPER_PAGES
from entrain_paper.reproduction.measured import reading

Results = Mapping[str, Any]

# What the paper claims, and the experiments that test it.
_CLAIMS = (
    (
        "A gradient flow of 74 oscillators classifies images accurately at a fixed time",
        ("multiseed", "paired-effects", "energy-descent"),
    ),
    ("This holds for fifteen teacher architectures", ("architectures",)),
    (
        "Path training gives a start, endpoint training the accuracy; hidden trajectories "
        "reorganise",
        ("ablation", "endpoint-weight", "trajectory", "time-resolved"),
    ),
    ("Accuracy grows with width, with diminishing returns", ("widths",)),
    ("It survives thermal noise, by averaging", ("temperature",)),
    ("A finer integration grid changes nothing", ("refinement",)),
    ("It has the smallest logical state of the compared systems", ("resources",)),
)


def overview(results: Results, judged: Judged, *, figure: bool) -> str:
    """REPRODUCTION.md; `figure` if the figure of all numbers was drawn."""
    parts = [
        "# Reproduction of the paper",
        "Yi Cheng and Zongli Lin, *A Constrained Kuramoto Gradient-Flow System Can Perform "
        "High-Accuracy Finite-Time Inference*. `entrain report` writes this page from the JSON "
        "files beside it.",
        _warning(results),
        _answer(judged),
        _claims(judged),
        _accuracies(results),
        _failures(results, judged),
        f"## All numbers\n\n{headline(judged)}" if judged.comparisons else "",
        _figure(judged) if figure else "",
        _links(results),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _warning(results: Results) -> str:
    settings = {result["setting"]["name"] for result in results.values()}
    if settings == {PAPER.name}:
        return ""
    names = escape.markdown(", ".join(sorted(settings)))
    return (
        f"> **This is not the paper's protocol.** Setting: {names}, with few bundled images and "
        "few epochs. The numbers cannot match the paper's. Signs and rankings may match."
    )


def _answer(judged: Judged) -> str:
    """The result in a sentence."""
    holding, counted = judged.supported(additional=False)
    total = judged.total()
    agreeing = sum(total[verdict] for verdict in AGREEING)
    if not counted:
        return ""
    parts = [
        f"**Result.** {holding} of the paper's {counted} sentences hold here. Of the "
        f"{agreeing + total['differs']} numbers that can be judged, {agreeing} agree and "
        f"{total['differs']} differ (about {judged.by_chance():.0f} would by chance)."
    ]
    if total["no own scale"]:
        parts.append(
            f"{total['no own scale']} more are not judged, because we have too few teachers and "
            f"orders of the same training; {judged.beyond_nearest()[0]} of these are far from the "
            "paper's."
        )
    if failing := dict.fromkeys(name for name, _ in judged.failing(additional=False)):
        titles = " and ".join(_link(name, EXPERIMENTS[name].title) for name in failing)
        parts.append(f"What does not hold is in {titles}, [below](#what-fails).")
    return " ".join(parts)


def _accuracies(results: Results) -> str:
    """The four accuracies beside the paper's, with their range over our teachers."""
    if "multiseed" not in results:
        return ""
    with reading("multiseed"):
        rows = {
            (row["dataset"], row["method"]): row for row in results["multiseed"]["values"]["rows"]
        }
        lines = [
            [
                name,
                method,
                *_paper(name, method),
                _mean_sd(rows[name, method]),
                _teachers(results, name, method),
            ]
            for name in BOTH
            for method in METHODS
        ]
        runs = len(rows[BOTH[0], METHODS[0]]["runs"])
    head = ["dataset", "method", "paper, %", f"ours, % ({runs} orders)", "over our teachers, %"]
    note = (
        "Both numbers are of one teacher, which is not the same one; ± is the SD over training "
        "orders. The last column has the lowest and the highest accuracy over our teachers, and "
        "their number."
    )
    return f"## Test accuracy of 74 oscillators\n\n{grid(head, lines)}\n\n{note}"


def _paper(name: str, method: str) -> list[str]:
    row = paper_row("multiseed", dataset=name, method=method)
    return [_thousandths(row["top1_mean"], row["top1_sd"])]


def _mean_sd(row: Mapping[str, Any]) -> str:
    return _thousandths(row["mean"]["top1"], row["sd"]["top1"])


def _thousandths(mean: float, sd: float | None) -> str:
    """Three decimals, as in the paper."""
    return printed(mean, ".3f") + ("" if sd is None else f" ± {printed(sd, '.3f')}")


def _teachers(results: Results, name: str, method: str) -> str:
    """Range over the teachers that our reading of the paper's rule selects."""
    if "teacher-sweep" not in results:
        return ""
    with reading("teacher-sweep"):
        tops = [
            row[method]["top1"]
            for row in results["teacher-sweep"]["values"]["rows"]
            if (row["dataset"], row["rule"]) == (name, SELECTION[name])
        ]
    return f"{percent(min(tops))} to {percent(max(tops))} ({len(tops)})" if tops else ""


def _claims(judged: Judged) -> str:
    """The table of claims of the paper with their outcomes."""
    lines = []
    for text, names in _CLAIMS:
        measured = [name for name in names if name in judged.comparisons]
        claims = [c for name in measured for c in judged.comparisons[name].counted]
        if not claims:
            continue
        holding = sum(claim.holds for claim in claims)
        outcome = "yes" if holding == len(claims) else "in part"
        links = ", ".join(_link(name, EXPERIMENTS[name].title) for name in measured)
        lines.append([text, f"{outcome}: {holding} of {len(claims)} sentences", links])
    if not lines:
        return ""
    return "## What the paper claims, and what came out\n\n" + grid(
        ["the paper claims", "here", "pages"], lines
    )


def _failures(results: Results, judged: Judged) -> str:
    """Every sentence that fails, with its reason."""
    parts = []
    for additional, title in ((False, "What fails"), (True, "What fails of our own claims")):
        failing, reasons = judged.failing(additional=additional), set[str]()
        lines = []
        for name, claim in failing:
            why = reason(claim, results)
            lines.append(_failure(name, claim, "" if why in reasons else why))
            reasons.add(why)
        if lines:
            parts.append(f"## {title}\n\n" + "\n".join(lines))
        if not additional and (numbers := _differing(judged)):
            parts.append(numbers if lines else f"## {title}\n\n{numbers}")
    return "\n\n".join(parts)


def _differing(judged: Judged) -> str:
    """The numbers that differ, by experiment, with the likely reason."""
    numbers: dict[str, list[tuple[float, str]]] = {}
    for name, label, cell in judged.differing():
        if cell.paper is not None:
            distance = abs(cell.position(judged.spread) or 0.0)
            text = f"{label} {_ours(cell)} (paper {printed(cell.paper, cell.form)})"
            numbers.setdefault(name, []).append((distance, text))
    lines = []
    for name, differing in numbers.items():
        farthest = sorted(differing, reverse=True)[:_SHOWN]
        title = _link(name, EXPERIMENTS[name].title)
        examples = "<br>".join(text for _, text in farthest)
        why = judged.comparisons[name].reason
        lines.append([title, str(len(differing)), examples, f"{why[:1].upper()}{why[1:]}"])
    head = ["page", "numbers", f"the farthest, {_SHOWN} at most", "likely reason"]
    return f"Numbers that differ:\n\n{grid(head, lines)}" if lines else ""


_SHOWN = 3  # numbers of one experiment on the first page


def _ours(cell: Cell) -> str:
    known = cell.ours is not None and math.isfinite(cell.ours)
    return printed(cell.ours, cell.form) if known and cell.ours is not None else "-"


def _failure(name: str, claim: Claim, why: str) -> str:
    mark = " (not counted: it follows from another)" if claim.follows else ""
    return (
        f"- **{claim.text[0].upper()}{claim.text[1:]}**{mark}. Measured: {claim.measured}. "
        f"{f'{why} ' if why else ''}({_link(name, 'table')})"
    )


def _figure(judged: Judged) -> str:
    hollow = (
        " Hollow: no scale of its own; the unit is the difference of two teachers of the main "
        "network, for orientation only."
    )
    return (
        f"![The difference of every number over its scale](figures/{DEVIATIONS}.png)\n\n"
        "*Every counted number on one axis: ours minus the paper's, over the scale that judges it. "
        "Between the lines it agrees. Filled: judged by the paper's orders, our orders or our "
        f"teachers.{hollow if judged.beyond_nearest()[1] else ''}*"
    )


def _links(results: Results) -> str:
    paper = [
        [f"[{page.title}]({page.path})", page.about]
        for page in PAPER_PAGES
        if page.experiments[0] in results
    ]
    own = [
        [f"[{page.title}]({page.path})", page.about]
        for page in OWN_PAGES
        if any(name in results for name in page.experiments)
    ]
    parts = [f"[How the numbers are judged]({FOLDER}/{METHOD}.md): rules and scales, open points "]
    parts[0] += "of the paper, assumptions, how much numerics move a result, times and versions."
    if paper:
        parts.append(grid(["page", "in the paper"], paper))
    if own:
        parts.append("Our own experiments:\n\n" + grid(["page", "subject"], own))
    return "## Pages\n\n" + "\n\n".join(parts)


def _link(name: str, text: str) -> str:
    page = PAGE_OF[name]
    anchor = f"#{name}" if len(page.experiments) > 1 else ""
    return f"[{text}]({page.path}{anchor})"
