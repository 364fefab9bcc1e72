"""The committed results, and experiments that no machine has measured yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.report import documents

RESULTS = Path(__file__).parents[2] / "results"

# Needs a GPU, and may be missing.
WAITING = {"teachers-of-architectures"}
MEASURED = [
    name for name in EXPERIMENTS if name not in WAITING or (RESULTS / f"{name}.json").exists()
]


def committed(name: str) -> dict[str, Any]:
    """The committed result of an experiment."""
    result: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return result


def all_committed() -> dict[str, dict[str, Any]]:
    """Every committed result, by experiment."""
    return {name: committed(name) for name in MEASURED}


def without_families() -> dict[str, dict[str, Any]]:
    """The committed results without the teachers of whole families."""
    return {n: r for n, r in all_committed().items() if not n.startswith("teachers-of-")}


def whole_report(results: dict[str, Any], figures: list[str]) -> str:
    """All pages of a report as one text."""
    return "\n".join(documents(results, figures).values())
