"""How the time of a training step grows, from the benchmark's results.

python tools/docs_site/growth.py     # prints it
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results" / "bench" / "cpu-2-cores" / "bench.json"
_WORDS = {"batch": "samples B", "oscillators": "oscillators N", "steps": "Euler steps K"}


def markdown() -> str:
    """A table for each size that grows: milliseconds of a step by each contestant."""
    growth = json.loads(RESULTS.read_text())["growth"]
    return "\n\n".join(_table(_WORDS[name], each) for name, each in growth.items())


def _table(title: str, growth: dict[str, Any]) -> str:
    head = [f"{title}, ms", *(f"{size:,}" for size in growth["sizes"]), "grows as"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    symbol = title.split()[-1]
    for name, times in growth["ms"].items():
        cells = [f"{each:.3g}" if each < 1000 else f"{each:,.0f}" for each in times]
        exponent = growth["exponent"][name]
        lines.append(f"| {name} | {' | '.join(cells)} | {symbol}<sup>{exponent:.2f}</sup> |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())  # noqa: T201
