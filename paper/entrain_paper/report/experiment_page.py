"""A page of the report: one experiment of the paper, or a group of our own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.comparison import (
    AGREEING,
    Cell,
    Claim,
    Comparison,
    Spread,
    printed,
)
from entrain_paper.figures import FIGURES
from entrain_paper.report.evidence import reason
from entrain_paper.report.judged import SYMBOLS, Judged
from entrain_paper.report.markdown import grid
from entrain_paper.report.pages import PLACES, Page
from entrain_paper.report.tables import TABLES
from entrain_paper.reproduction.measured import reading

Results = Mapping[str, Any]

METHOD = "method"
"""Name of the page on the verdicts."""


def experiment_page(page: Page, results: Results, judged: Judged, figures: list[str]) -> str:
    """A page in Markdown, with the experiments that were measured."""
    of_paper = page.experiments[0] in PLACES
    about = f"{page.about} of the paper." if of_paper else page.about
    parts = [
        f"# {page.title}",
        f"{about} [Overview](../REPRODUCTION.md), [signs and rules of the verdicts]({METHOD}.md).",
    ]
    measured = [name for name in page.experiments if name in results]
    for name in measured:
        if len(page.experiments) > 1:
            parts += [f'<a id="{name}"></a>', f"## {EXPERIMENTS[name].title}"]
        if name in judged.comparisons:
            parts += _comparison(judged.comparisons[name], judged.spread, results)
        with reading(name):
            parts += _table_and_figures(name, results[name], figures)
        if name in judged.comparisons:
            parts += _details(judged.comparisons[name])
        parts.append(f"Experiment `{name}`: [{name}.json](../{name}.json).")
    return "\n\n".join(filter(None, parts)) + "\n"


def _table_and_figures(name: str, result: Mapping[str, Any], figures: list[str]) -> list[str]:
    parts = [TABLES[name](result["values"])] if name in TABLES else []
    for figure in figures:
        if name in FIGURES[figure].shown_with:
            caption = FIGURES[figure].caption
            parts += [f"![{EXPERIMENTS[name].title}](../figures/{figure}.png)", f"*{caption}*"]
    return parts


def verdict(comparison: Comparison, spread: Spread) -> str:
    """The verdict on an experiment in a sentence or two; empty without numbers and sentences."""
    counts = comparison.counts(spread)
    agreeing = sum(counts[name] for name in AGREEING)
    differing, open_ = counts["differs"], counts["no own scale"]
    parts = []
    if counts["setting"]:
        parts.append(f"{counts['setting']} settings and constants are equal")
    if agreeing + differing + open_:
        parts.append(
            f"{agreeing} numbers agree, {differing} differ, {open_} have no scale of their own"
        )
    if comparison.repeats:
        parts.append(f"{comparison.repeats} are judged but counted elsewhere")
    if comparison.counted:
        parts.append(f"{comparison.supported} of {len(comparison.counted)} sentences hold")
    return "; ".join(parts)


def _comparison(comparison: Comparison, spread: Spread, results: Results) -> list[str]:
    parts = []
    if text := verdict(comparison, spread):
        parts.append(f"**Verdict.** {text[0].upper()}{text[1:]}.")
    if comparison.rows:
        lines = [
            [*row.labels, *(_cell(cell, spread) for cell in row.cells)] for row in comparison.rows
        ]
        parts += [
            "Each cell: the paper's number, **our number**, the difference and the verdict.",
            grid([*comparison.labels, *comparison.columns], lines),
        ]
    if comparison.text:
        lines = [[*row.labels, *_columns(row.cells[0], spread)] for row in comparison.text]
        parts += [
            "Numbers of the paper's text:",
            grid(["number", "paper", "ours", "difference", "verdict"], lines),
        ]
    if comparison.claims:
        listed = "\n".join(f"- {sentence(claim, results)}" for claim in comparison.claims)
        parts.append(f"Sentences:\n\n{listed}")
    counts = comparison.counts(spread)
    if (counts["differs"] or counts["no own scale"]) and comparison.reason:
        parts.append(f"Likely reason for the differences: {comparison.reason}.")
    return parts


def sentence(claim: Claim, results: Results) -> str:
    """A sentence with its sign, the measurement, and the reason if it does not hold."""
    sign = "✓" if claim.holds else "✗"
    mark = f" (not counted: follows from “{claim.follows}”)" if claim.follows else ""
    why = "" if claim.holds else reason(claim, results)
    return f"{sign} {claim.text}: {claim.measured}{mark}" + (f". {why}" if why else "")


def _details(comparison: Comparison) -> list[str]:
    if not comparison.notes:
        return []
    notes = "\n".join(f"- {note}" for note in comparison.notes)
    return [f"<details><summary>Details</summary>\n\n{notes}\n\n</details>"]


def _cell(cell: Cell, spread: Spread) -> str:
    if cell.verdict(spread) is None:
        return f"**{_number(cell.ours, cell.ours_sd, cell)}**"
    paper, ours, difference, sign = _columns(cell, spread)
    return f"{paper}<br>{ours}<br>{f'{difference} {sign}'.strip()}"


def _columns(cell: Cell, spread: Spread) -> list[str]:
    """The paper's number, ours, the difference and the sign of the verdict."""
    verdict = cell.verdict(spread)
    sign = "" if verdict is None else SYMBOLS[verdict]
    form = f"+{cell.form.lstrip('+')}"
    difference = "" if cell.difference is None else printed(cell.difference, form)
    return [
        _number(cell.paper, cell.paper_sd, cell),
        f"**{_number(cell.ours, cell.ours_sd, cell)}**",
        difference,
        f"({sign})" if cell.repeated else sign,
    ]


def _number(value: float | None, sd: float | None, cell: Cell) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    text = printed(value, cell.form)
    if sd is None or not math.isfinite(sd):
        return text
    return f"{text} ± {printed(sd, cell.form.lstrip('+'))}"
