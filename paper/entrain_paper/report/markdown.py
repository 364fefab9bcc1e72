"""Tables in Markdown: rows of results, columns that say how a row is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Column = tuple[str, Callable[[Mapping[str, Any]], str]]


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> str:
    """A table with one line for each row."""
    lines = ["| " + " | ".join(title for title, _ in columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(show(row) for _, show in columns) + " |" for row in rows]
    return "\n".join(lines)


def plain(name: str, provenance: str = "") -> Callable[[Mapping[str, Any]], str]:
    """A field, with its provenance letter where the table has one."""

    def show(row: Mapping[str, Any]) -> str:
        value = row.get(name)
        if value is None:
            return "NR"
        text = f"{value:,}" if isinstance(value, int) else str(value)
        letter = row.get(f"prov_{provenance}")
        return f"{text}<sup>{letter}</sup>" if letter else text

    return show


def percent(mean: float | None, sd: float | None = None) -> str:
    """Two decimals, with the SD if there is one; an SD below 0.005 has one significant digit."""
    if mean is None:
        return ""
    if sd is None:
        return f"{mean:.2f}"
    return f"{mean:.2f} ± {sd:.2f}" if sd >= 0.005 or sd == 0.0 else f"{mean:.2f} ± {sd:.1g}"
