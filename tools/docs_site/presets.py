"""Tables of the presets: every number of the TOML files with its unit and its source.

python tools/docs_site/presets.py     # prints it
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import entrain

PACKAGE = Path(entrain.__file__).parent
CHIPS = sorted((PACKAGE / "hardware" / "presets").glob("*.toml"))
TECHNOLOGIES = [
    *sorted((PACKAGE / "cost" / "presets").glob("*.toml")),
    PACKAGE / "cost" / "common.toml",
]


def markdown() -> str:
    """A section with a table for each hardware preset."""
    return "\n\n".join(_section(path, "##") for path in CHIPS)


def technologies() -> str:
    """A section with a table for each technology of `entrain cost` and for common numbers."""
    return "\n\n".join(_section(path, "###") for path in TECHNOLOGIES)


def _section(path: Path, level: str) -> str:
    content = tomllib.loads(path.read_text())
    rows = [
        (f"`{section}.{name}`", *_entry(entry))
        for section, entries in content.items()
        if isinstance(entries, dict)
        for name, entry in entries.items()
    ]
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    title = [f"{content['title']}.", ""] if "title" in content else []
    head = [f"{level} {path.stem}", "", *title]
    return "\n".join([*head, "| entry | value | source |", "|---|---|---|", *lines])


def _entry(entry: Any) -> tuple[str, str]:
    """Value or range with unit, and the source."""
    if not isinstance(entry, dict):
        return _value(entry), ""
    unit = entry.get("unit", "").removeprefix("1")
    if "value" in entry:
        value = _value(entry["value"])
    else:
        low, typical, high = (_value(entry[name]) for name in ("low", "typical", "high"))
        value = f"{typical} ({low} to {high})"
    return f"{value} {unit}".strip(), entry.get("source", "")


def _value(value: Any) -> str:
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if len(value) <= 5:
        return ", ".join(map(_value, value))
    return f"{len(value)} levels from {value[0]:g} to {value[-1]:g}"


if __name__ == "__main__":
    print(markdown(), technologies(), sep="\n\n")  # noqa: T201
