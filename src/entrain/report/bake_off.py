"""The table of the bake-off: what is cited, what was measured, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrain.figures.panels import by_dataset
from entrain.report.markdown import Column, percent, table

Row = Mapping[str, Any]

_TEXT = """\
Test top-1 %, mean ± SD over seeds, {runs} machines of each system trained side by side. Everything
was measured here on one protocol: the same images, split and seeds, the epoch chosen on validation
images, the test images once. What is cited was measured by others, on other splits and often on
other data, so that a difference is no verdict on either. Parameters are trained numbers, variables
are units whose state evolves, couplers are trained couplings between them, seconds are those of
training all machines of a system, on a device that other trainings may have shared. The energy is
what one inference dissipates, in units of each model, which are not the same: compare it within a
model only."""


def bake_off(values: Row) -> str:
    """For each dataset, a line for each system, the most accurate first."""
    parts = []
    for dataset, rows in by_dataset(values["rows"]).items():
        ordered = sorted(rows, key=lambda row: -(row["measured_mean"] or 0.0))
        parts += [f"{dataset}:", table(ordered, _COLUMNS)]
    runs = max((len(row["runs"]) for row in values["rows"]), default=0)
    return "\n\n".join([*parts, _TEXT.format(runs=runs)])


def difference(row: Row) -> float | None:
    """Measured less cited, in points of accuracy; None where nothing is cited."""
    if row["cited"] is None or row["measured_mean"] is None:
        return None
    return float(row["measured_mean"] - row["cited"])


def _difference(row: Row) -> str:
    found = difference(row)
    return "" if found is None else f"{found:+.2f}"


def _count(row: Row, name: str) -> str:
    return "" if row[name] is None else f"{row[name]:,}"


def _rounded(value: float | None) -> str:
    """Three digits, as far as there is a number."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


_COLUMNS: list[Column] = [
    ("system", lambda row: f"`{row['system']}`: {row['title']}"),
    ("cited", lambda row: percent(row["cited"])),
    ("measured", lambda row: percent(row["measured_mean"], row["measured_sd"])),
    ("difference", _difference),
    ("parameters", lambda row: _count(row, "parameters")),
    ("variables", lambda row: _count(row, "variables")),
    ("couplers", lambda row: _count(row, "couplers")),
    ("seconds", lambda row: _rounded(row["seconds"])),
    ("energy", lambda row: _rounded(row.get("energy"))),
    ("why", lambda row: row["why"]),
]
