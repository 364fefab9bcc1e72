"""REPRODUCTION.md: every table with the paper's numbers and ours, and a verdict by rule."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from entrain_paper.experiments import EXPERIMENTS, PAPER
from entrain_paper.experiments.comparison import Cell, Comparison, Spread
from entrain_paper.figures import FIGURES
from entrain_paper.report.decisions import DECISIONS
from entrain_paper.report.numerics import numerics
from entrain_paper.report.summary import SYMBOLS, judge, summary
from entrain_paper.report.tables import TABLES


def document(results: Mapping[str, Any], figures: list[str]) -> str:
    """The whole document, in Markdown."""
    judged = judge(results)
    parts = [_head(results), summary(judged), _decisions()]
    if moved := numerics(results):
        parts.append(moved)
    for name in EXPERIMENTS:
        if name in results:
            parts.append(f"## {name}")
            parts += _source(results[name])
            if name in judged.comparisons:
                parts += _compared(judged.comparisons[name], judged.spread)
            parts += _shown(name, results[name], figures)
    return "\n\n".join(parts) + "\n"


def _head(results: Mapping[str, Any]) -> str:
    settings = {result["setting"]["name"] for result in results.values()}
    lines = [
        "# The paper, reproduced",
        "`entrain report` writes this file from the JSON files in the same folder. The paper is: "
        "Yi Cheng and Zongli Lin, *A Constrained Kuramoto Gradient-Flow System Can Perform "
        "High-Accuracy Finite-Time Inference*.",
    ]
    if settings != {PAPER.name}:
        lines.append(
            f"> **This is not the paper's protocol.** Setting: {', '.join(sorted(settings))}, with "
            "few bundled images and few epochs. The numbers cannot match the paper's. Signs and "
            "rankings may match."
        )
    lines.append(_machine(results))
    return "\n\n".join(lines)


def _machine(results: Mapping[str, Any]) -> str:
    stages = {
        stage["key"]: (stage.get("device", result["device"]), stage["seconds"] or 0.0)
        for result in results.values()
        for stage in result["stages"]
    }
    measurements = [(result["device"], result["seconds"]) for result in results.values()]
    minutes = defaultdict[str, float](float)
    for device, seconds in (*stages.values(), *measurements):
        minutes[device] += seconds / 60
    spent = [
        f"{minutes[device]:.1f} minutes on {_device(device)}"
        for device in sorted(minutes, key=lambda device: -minutes[device])
    ]
    return (
        f"{len(stages)} training stages and {len(results)} measurements took {_listed(spent)}; "
        "where several shared a device, each counts in full. "
        f"Versions: {_versions(results)}. Epochs, teachers and settings were selected on "
        "validation images. The numbers below are of test images unless they say otherwise."
    )


def _device(name: str) -> str:
    """A device within a list: the comma before its cores would read as one of the list."""
    kind, _, cores = name.partition(", ")
    return f"{kind} ({cores})" if cores else kind


def _versions(results: Mapping[str, Any]) -> str:
    """The versions of most files, then what is different in others and for single trainings."""
    found = [(name, result["versions"]) for name, result in results.items()]
    usual = dict(Counter(tuple(each.items()) for _, each in found).most_common(1)[0][0])
    found += [
        (f"some trainings of {name}", stage["versions"])
        for name, result in results.items()
        for stage in result["stages"]
        if "versions" in stage
    ]
    others: dict[tuple[str, ...], list[str]] = {}
    for name, versions in found:
        different = {part: each for part, each in versions.items() if usual.get(part) != each}
        names = others.setdefault(_named(different), [])
        if different and name not in names:
            names.append(name)
    clauses = [f"{_listed(names)}: {', '.join(parts)}" for parts, names in others.items() if names]
    return "; ".join([", ".join(_named(usual)), *clauses])


def _named(versions: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{part} {version}" for part, version in versions.items())


def _listed(items: list[str]) -> str:
    """a, b and c."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def _decisions() -> str:
    listed = "\n".join(f"- **{title}.** {text}" for title, text in DECISIONS)
    return f"## What the paper leaves open, and what we chose\n\n{listed}"


def _source(result: Mapping[str, Any]) -> list[str]:
    source = f" (`{result['source']}`)" if result["source"] else " (not in the paper)"
    return [f"{result['title']}{source}."]


def _shown(name: str, result: Mapping[str, Any], figures: list[str]) -> list[str]:
    """The table and the figures of an experiment, if it has any."""
    parts = [TABLES[name](result["values"])] if name in TABLES else []
    for figure in figures:
        if FIGURES[figure].needs[-1] == name:
            parts += [f"![{figure}](figures/{figure}.png)", f"*{FIGURES[figure].caption}*"]
    return parts


def _compared(comparison: Comparison, spread: Spread) -> list[str]:
    parts = []
    if comparison.rows:
        columns = [*comparison.labels, *comparison.columns]
        lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        for row in comparison.rows:
            cells = [_cell(cell, spread) for cell in row.cells]
            lines.append("| " + " | ".join([*row.labels, *cells]) + " |")
        parts += [
            "Each cell: the paper's number, **ours**, the difference and the verdict.",
            "\n".join(lines),
        ]
    if comparison.claims:
        parts.append(
            "\n".join(
                f"- {'✓' if claim.holds else '✗'} {claim.text}: {claim.measured}"
                for claim in comparison.claims
            )
        )
    if comparison.counts(spread)["differs"] and comparison.reason:
        parts.append(f"Likely reason for the differences: {comparison.reason}.")
    if comparison.notes:
        listed = "\n".join(f"- {note}" for note in comparison.notes)
        parts.append(f"<details><summary>Details</summary>\n\n{listed}\n\n</details>")
    return parts


def _cell(cell: Cell, spread: Spread) -> str:
    verdict = cell.verdict(spread)
    ours = f"**{_number(cell.ours, cell.ours_sd, cell)}**"
    if verdict is None:
        return ours
    paper = _number(cell.paper, cell.paper_sd, cell)
    difference = "" if cell.difference is None else f"{cell.difference:{_signed(cell.form)}} "
    symbol = f"({SYMBOLS[verdict]})" if cell.repeated else SYMBOLS[verdict]
    return f"{paper}<br>{ours}<br>{difference}{symbol}"


def _number(value: float | None, sd: float | None, cell: Cell) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    spread = "" if sd is None or not math.isfinite(sd) else f" ± {sd:{cell.form.lstrip('+')}}"
    return f"{value:{cell.form}}{spread}"


def _signed(form: str) -> str:
    return form if form.startswith("+") else f"+{form}"
