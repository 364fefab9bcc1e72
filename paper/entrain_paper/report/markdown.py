"""Tables in Markdown: rows of results, and functions that format a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from entrain.utils import escape
from entrain_paper.experiments.comparison import printed

Row = Mapping[str, Any]
Format = Callable[[Row], str]
Column = tuple[str, Format]


def table(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """A table with one line for each row."""
    return grid(
        [title for title, _ in columns], [[form(row) for _, form in columns] for row in rows]
    )


def grid(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of these cells."""
    listed = ["| " + " | ".join(cells) + " |" for cells in (head, *lines)]
    return "\n".join([listed[0], "|" + "---|" * len(head), *listed[1:]])


def plain(name: str, provenance: str = "") -> Format:
    """Format of a field as it is, with the letter of its provenance if there is one."""

    def form(row: Row) -> str:
        value = row.get(name)
        if value is None:
            return "NR"
        text = f"{value:,}" if isinstance(value, int) else escape.markdown(str(value))
        letter = row.get(f"prov_{provenance}")
        return f"{text}<sup>{escape.markdown(str(letter))}</sup>" if letter else text

    return form


def mean_sd(part: str) -> Format:
    """Format of the mean and SD in the field `part` of a row."""
    return lambda row: percent(row[part]["mean"], row[part]["sd"])


def metric_sd(metric: str, part: str = "") -> Format:
    """Format of the mean and SD of a metric in a row, or in its field `part`."""

    def form(row: Row) -> str:
        summary = row[part] if part else row
        return percent(summary["mean"][metric], summary["sd"][metric])

    return form


def percent(mean: float | None, sd: float | None = None) -> str:
    """Two decimals, with the SD if there is one; an SD below 0.005 has one significant digit."""
    if mean is None:
        return ""
    text = printed(mean, ".2f")
    if sd is None:
        return text
    return f"{text} ± {printed(sd, '.2f' if sd >= 0.005 or sd == 0.0 else '.1g')}"
