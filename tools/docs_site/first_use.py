"""Seconds of compiling, imports and commands, from the results of benchmarks/first_use.py.

python tools/docs_site/first_use.py     # prints them
"""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "results" / "first-use.json"


def markdown() -> str:
    """A table: CPU seconds, and those beside `import torch`, of each measurement."""
    seconds = json.loads(RESULTS.read_text())["seconds"]
    torch, _ = seconds["import torch"]
    lines = ["| | CPU seconds | times `import torch` |", "|---|---|---|"]
    lines += [f"| {name} | {cpu:.2f} | {cpu / torch:.2f} |" for name, (cpu, _) in seconds.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())  # noqa: T201
