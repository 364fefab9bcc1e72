"""Growth of the time of a training step, from the results of `entrain bench`.

python tools/docs_site/growth.py     # prints it
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results" / "bench" / "cpu-2-cores" / "bench.json"
_TITLES = {"batch": "samples B", "oscillators": "oscillators N", "steps": "Euler steps K"}


def markdown() -> str:
    """A table for each size: milliseconds of a step of each backend."""
    growth = json.loads(RESULTS.read_text())["growth"]
    return "\n\n".join(_table(_TITLES[name], times) for name, times in growth.items())


def _table(title: str, growth: dict[str, Any]) -> str:
    head = [f"{title}, ms", *(f"{size:,}" for size in growth["sizes"]), "grows as"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    symbol = title.split()[-1]
    for name, times in growth["ms"].items():
        cells = [f"{ms:.3g}" if ms < 1000 else f"{ms:,.0f}" for ms in times]
        exponent = growth["exponent"][name]
        lines.append(f"| {name} | {' | '.join(cells)} | {symbol}<sup>{exponent:.2f}</sup> |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())  # noqa: T201
