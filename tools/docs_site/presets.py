"""The page of presets: every number of every kind of chip with its unit and its source.

python tools/docs_site/presets.py     # prints it
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import entrain

FOLDER = Path(entrain.__file__).parent / "hardware" / "presets"


def markdown() -> str:
    """A section with a table for each preset, read from its TOML file."""
    return "\n\n".join(_section(path) for path in sorted(FOLDER.glob("*.toml")))


def _section(path: Path) -> str:
    chip = tomllib.loads(path.read_text())
    rows = [
        (f"`{section}.{name}`", *_entry(entry))
        for section, entries in chip.items()
        if isinstance(entries, dict)
        for name, entry in entries.items()
    ]
    lines = [f"| {' | '.join(each.replace('|', '/') for each in row)} |" for row in rows]
    head = [f"## {path.stem}", "", f"{chip['title']}.", ""]
    return "\n".join([*head, "| entry | value | source |", "|---|---|---|", *lines])


def _entry(entry: Any) -> tuple[str, str]:
    """Value with its unit, and the source."""
    if not isinstance(entry, dict):
        return _value(entry), ""
    unit = entry.get("unit", "").removeprefix("1")
    return f"{_value(entry['value'])} {unit}".strip(), entry.get("source", "")


def _value(value: Any) -> str:
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if len(value) <= 5:
        return ", ".join(map(_value, value))
    return f"{len(value)} levels from {value[0]:g} to {value[-1]:g}"


if __name__ == "__main__":
    print(markdown())  # noqa: T201
