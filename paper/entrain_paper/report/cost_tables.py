"""Table of the cost of inferences, from results/cost.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from entrain.cost import Range, text
from entrain_paper.report.markdown import Column, Row, plain, table


def cost_table(rows: Sequence[Row]) -> str:
    """Time, energy, power, area and largest energy shares of every design."""
    columns: list[Column] = [
        ("model", plain("model")),
        ("design", plain("design")),
        ("time", lambda row: _range(row["time"], "s")),
        ("energy", lambda row: _range(row["energy"], "J")),
        ("power", lambda row: _range(row["power"], "W")),
        ("area", lambda row: _range(row["area"], "m2")),
        ("most of the energy", lambda row: _largest(row["shares"])),
    ]
    return table(rows, columns)


def _range(values: Mapping[str, float] | None, unit: str) -> str:
    return "" if values is None else text(Range(**values), unit)


def _largest(shares: Mapping[str, float]) -> str:
    most = sorted(shares.items(), key=lambda item: -item[1])[:2]
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in most)
