"""REPRODUCTION.md: every table of the paper with measured numbers and verdicts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from entrain.utils import escape
from entrain_paper.experiments import EXPERIMENTS, PAPER
from entrain_paper.experiments.comparison import Cell, Comparison, Spread
from entrain_paper.figures import FIGURES
from entrain_paper.report.assumptions import ASSUMPTIONS
from entrain_paper.report.markdown import grid
from entrain_paper.report.rounding import REPEATED, rounding_section
from entrain_paper.report.summary import SYMBOLS, judge, summary
from entrain_paper.report.tables import TABLES
from entrain_paper.reproduction.measured import read_together, reading


def document(results: Mapping[str, Any], figures: list[str]) -> str:
    """The report in Markdown, with these figures."""
    judged = judge(results)
    assumptions = "\n".join(f"- **{title}.** {text}" for title, text in ASSUMPTIONS)
    parts = [
        _head(results),
        summary(judged),
        f"## Assumptions about unspecified details\n\n{assumptions}",
        read_together(rounding_section, results, REPEATED),
    ]
    for name, experiment in EXPERIMENTS.items():
        if name in results:
            source = f"`{experiment.source}`" if experiment.source else "not in the paper"
            parts += [
                f'<a id="{name}"></a>',
                f"## {experiment.title}",
                f"Experiment `{name}` ({source}).",
            ]
            if name in judged.comparisons:
                parts += _comparison(judged.comparisons[name], judged.spread)
            with reading(name):
                parts += _table_and_figures(name, results[name], figures)
    return "\n\n".join(filter(None, parts)) + "\n"


def _head(results: Mapping[str, Any]) -> str:
    settings = {result["setting"]["name"] for result in results.values()}
    lines = [
        "# Reproduction of the paper",
        "`entrain report` writes this file from the JSON files in the same folder. The paper is: "
        "Yi Cheng and Zongli Lin, *A Constrained Kuramoto Gradient-Flow System Can Perform "
        "High-Accuracy Finite-Time Inference*.",
    ]
    if settings != {PAPER.name}:
        names = escape.markdown(", ".join(sorted(settings)))
        lines.append(
            f"> **This is not the paper's protocol.** Setting: {names}, with "
            "few bundled images and few epochs. The numbers cannot match the paper's. Signs and "
            "rankings may match."
        )
    lines.append(_times_and_versions(results))
    return "\n\n".join(lines)


def _times_and_versions(results: Mapping[str, Any]) -> str:
    stages = {
        stage["key"]: (stage.get("device", result["device"]), stage["seconds"] or 0.0)
        for result in results.values()
        for stage in result["stages"]
    }
    measurements = [(result["device"], result["seconds"]) for result in results.values()]
    minutes = defaultdict[str, float](float)
    for device, seconds in (*stages.values(), *measurements):
        minutes[device] += seconds / 60
    times = [
        f"{minutes[device]:.1f} minutes on {_device(device)}"
        for device in sorted(minutes, key=lambda device: -minutes[device])
    ]
    return (
        f"{len(stages)} training stages and {len(results)} measurements took {_listed(times)}; "
        "times on a shared device count in full. "
        f"Versions: {_versions(results)}. Epochs, teachers and settings were selected on "
        "validation images. Numbers are of test images unless stated otherwise."
    )


def _device(name: str) -> str:
    """Name of a device without a comma, for a list."""
    processor, _, cores = escape.markdown(name).partition(", ")
    return f"{processor} ({cores})" if cores else processor


def _versions(results: Mapping[str, Any]) -> str:
    """The versions of most files, and differences in other files and single trainings."""
    versions_of = [(name, result["versions"]) for name, result in results.items()]
    usual = dict(Counter(tuple(v.items()) for _, v in versions_of).most_common(1)[0][0])
    versions_of += [
        (f"some trainings of {name}", stage["versions"])
        for name, result in results.items()
        for stage in result["stages"]
        if "versions" in stage
    ]
    exceptions: dict[tuple[str, ...], list[str]] = {}
    for name, versions in versions_of:
        different = {part: v for part, v in versions.items() if usual.get(part) != v}
        names = exceptions.setdefault(_parts(different), [])
        if different and name not in names:
            names.append(name)
    clauses = [f"{_listed(names)}: {', '.join(v)}" for v, names in exceptions.items() if names]
    return "; ".join([", ".join(_parts(usual)), *clauses])


def _parts(versions: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{part} {version}" for part, version in versions.items())


def _listed(items: list[str]) -> str:
    """a, b and c."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def _table_and_figures(name: str, result: Mapping[str, Any], figures: list[str]) -> list[str]:
    parts = [TABLES[name](result["values"])] if name in TABLES else []
    for figure in figures:
        if FIGURES[figure].needs[-1] == name:
            parts += [f"![{figure}](figures/{figure}.png)", f"*{FIGURES[figure].caption}*"]
    return parts


def _comparison(comparison: Comparison, spread: Spread) -> list[str]:
    parts = []
    if comparison.rows:
        lines = [
            [*row.labels, *(_cell(cell, spread) for cell in row.cells)] for row in comparison.rows
        ]
        parts += [
            "Each cell: the paper's number, **our number**, the difference and the verdict.",
            grid([*comparison.labels, *comparison.columns], lines),
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
        notes = "\n".join(f"- {note}" for note in comparison.notes)
        parts.append(f"<details><summary>Details</summary>\n\n{notes}\n\n</details>")
    return parts


def _cell(cell: Cell, spread: Spread) -> str:
    verdict = cell.verdict(spread)
    ours = f"**{_number(cell.ours, cell.ours_sd, cell)}**"
    if verdict is None:
        return ours
    paper = _number(cell.paper, cell.paper_sd, cell)
    form = f"+{cell.form.lstrip('+')}"
    difference = "" if cell.difference is None else f"{cell.difference:{form}} "
    symbol = f"({SYMBOLS[verdict]})" if cell.repeated else SYMBOLS[verdict]
    return f"{paper}<br>{ours}<br>{difference}{symbol}"


def _number(value: float | None, sd: float | None, cell: Cell) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    spread = "" if sd is None or not math.isfinite(sd) else f" ± {sd:{cell.form.lstrip('+')}}"
    return f"{value:{cell.form}}{spread}"
