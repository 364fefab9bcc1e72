"""The table of the bake-off: cited and measured accuracy, and reasons for differences."""

from __future__ import annotations

from entrain.utils import escape
from entrain_paper.figures.panels import by_dataset
from entrain_paper.report.markdown import Column, Row, percent, table

_TEXT = """\
Test top-1 %, mean ± SD over {runs} seeds, which train side by side. All systems have one protocol:
the same images, split and seeds. The epoch is selected on validation images, and the test images
are used once. Cited numbers are the authors', on other splits and often on other data, so that a
difference does not rate either. Parameters are the trained ones. Variables are units whose state
evolves. Couplers are trained couplings between variables. Seconds are the training time of all
seeds, on a device that other trainings may have shared; CPU times are marked. Energy is dissipated
by one inference, in units of the model, and comparable within a model only."""


def bake_off(values: Row) -> str:
    """One table per dataset with one row per system, in order of decreasing accuracy."""
    parts = []
    for dataset, rows in by_dataset(values["rows"]).items():
        ordered = sorted(rows, key=lambda row: -(row["measured_mean"] or 0.0))
        parts += [f"{dataset}:", table(ordered, _COLUMNS)]
    runs = max((len(row["runs"]) for row in values["rows"]), default=0)
    return "\n\n".join([*parts, _TEXT.format(runs=runs)])


def difference(row: Row) -> float | None:
    """Measured minus cited accuracy in points; None without a cited number."""
    if row["cited"] is None or row["measured_mean"] is None:
        return None
    return float(row["measured_mean"] - row["cited"])


def _difference(row: Row) -> str:
    value = difference(row)
    return "" if value is None else f"{value:+.2f}"


def _count(row: Row, name: str) -> str:
    return "" if row[name] is None else f"{row[name]:,}"


def _rounded(value: float | None) -> str:
    """Three significant digits, or all of an integer part; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _seconds(row: Row) -> str:
    """Training time, marked on a CPU, where it is not comparable with that on a GPU."""
    on_cpu = "" if "NVIDIA" in (row.get("device") or "NVIDIA") else " (CPU)"
    return _rounded(row["seconds"]) + on_cpu


_COLUMNS: list[Column] = [
    ("system", lambda row: f"`{row['system']}`: {escape.markdown(row['title'])}"),
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
