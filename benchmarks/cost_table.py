"""Cost of an inference on every technology: `python benchmarks/cost_table.py`.

Writes results/cost.json and its figure, and the table of docs/cost.md between its two marks, in
seconds: nothing is simulated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import entrain
from entrain.cost import System, technologies
from entrain.plots.cost import draw_cost
from entrain.utils.files import write_atomically
from entrain_paper.report.cost_tables import cost_table

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "results" / "cost.json"
FIGURE = ROOT / "results" / "figures" / "cost.png"
PAGE = ROOT / "docs" / "cost.md"
MODELS = ("mnist-74-direct", "mnist-74-robust", "mnist-48-chip")
DRAWN = "mnist-74-robust"
BEGIN, END = "<!-- costs -->\n", "<!-- end of costs -->"


def designs(name: str) -> dict[str, System]:
    """The chip on every technology with both kinds of input weights, and the compared systems."""
    model = entrain.load(name)
    systems: dict[str, System] = {}
    for technology in technologies():
        for inputs in ("digital", "crossbar"):
            cost = entrain.cost_of(model, technology, inputs=inputs)  # type: ignore[arg-type]
            systems[f"{technology}, {inputs}"] = cost.chip
    systems[cost.mlp.title] = cost.mlp
    assert cost.core is not None
    systems[cost.core.title] = cost.core
    return systems


def row(model: str, design: str, system: System) -> dict[str, Any]:
    values = system.to_json()
    total = system.energy.typical
    costs = {name: values[name] for name in ("time", "energy", "power", "area")}
    shares = {part.name: part.energy.typical / total for part in system.parts}
    return {"model": model, "design": design, **costs, "shares": shares}


def rows() -> list[dict[str, Any]]:
    """Every model and design."""
    return [
        row(name, design, system) for name in MODELS for design, system in designs(name).items()
    ]


def main() -> None:
    measured = rows()
    write_atomically(OUT, (json.dumps({"rows": measured}, indent=1) + "\n").encode())
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    tail = rest.split(END)[1]
    write_atomically(PAGE, f"{head}{BEGIN}{cost_table(measured)}\n{END}{tail}".encode())
    drawn = [system.to_json() | {"title": design} for design, system in designs(DRAWN).items()]
    draw_cost(FIGURE, drawn, DRAWN)


if __name__ == "__main__":
    main()
