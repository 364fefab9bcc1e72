"""The table of the bake-off: cited and measured accuracy, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrain_paper.figures.panels import by_dataset
from entrain_paper.report.markdown import Column, percent, table

Row = Mapping[str, Any]

_TEXT = """\
Test top-1 %, mean ± SD over {runs} seeds, which train side by side. All systems have one protocol:
the same images, split and seeds. The epoch is chosen on validation images, and the test images are
used once. Cited numbers were measured by others, on other splits and often on other data, so a
difference is not a verdict on either. Parameters are trained numbers. Variables are units whose
state evolves. Couplers are trained couplings between them. Seconds are the training time of all
seeds, on a device that other trainings may have shared; those of a processor are marked. Energy is
what one inference dissipates, in units of the model: compare it within a model only."""


def bake_off(values: Row) -> str:
    """For each dataset, one row per system, the most accurate first."""
    parts = []
    for dataset, rows in by_dataset(values["rows"]).items():
        ordered = sorted(rows, key=lambda row: -(row["measured_mean"] or 0.0))
        parts += [f"{dataset}:", table(ordered, _COLUMNS)]
    runs = max((len(row["runs"]) for row in values["rows"]), default=0)
    return "\n\n".join([*parts, _TEXT.format(runs=runs)])


def difference(row: Row) -> float | None:
    """Measured minus cited, in points of accuracy; None if there is no cited number."""
    if row["cited"] is None or row["measured_mean"] is None:
        return None
    return float(row["measured_mean"] - row["cited"])


def _difference(row: Row) -> str:
    found = difference(row)
    return "" if found is None else f"{found:+.2f}"


def _count(row: Row, name: str) -> str:
    return "" if row[name] is None else f"{row[name]:,}"


def _rounded(value: float | None) -> str:
    """Three digits; empty if there is no number."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _seconds(row: Row) -> str:
    """Where a processor took them, marked: they do not compare with those of a GPU."""
    on_cpu = "" if "NVIDIA" in (row.get("device") or "NVIDIA") else " (CPU)"
    return _rounded(row["seconds"]) + on_cpu


_COLUMNS: list[Column] = [
    ("system", lambda row: f"`{row['system']}`: {row['title']}"),
    ("cited", lambda row: percent(row["cited"])),
    ("measured", lambda row: percent(row["measured_mean"], row["measured_sd"])),
    ("difference", _difference),
    ("parameters", lambda row: _count(row, "parameters")),
    ("variables", lambda row: _count(row, "variables")),
    ("couplers", lambda row: _count(row, "couplers")),
    ("seconds", _seconds),
    ("energy", lambda row: _rounded(row.get("energy"))),
    ("reason", lambda row: row["why"]),
]
