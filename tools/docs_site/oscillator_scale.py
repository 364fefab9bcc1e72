"""The tables of how oscillators scale on a CPU, from results/oscillator-scale-cpu.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[2] / "results" / "oscillator-scale-cpu.json"
_SIZES = {
    "edges": "directed edges of a ring of degree 8, B = 32, 50 steps",
    "oscillators, all coupled": "oscillators, all coupled, B = 32, 50 steps",
    "batch": "batch, 74 oscillators, 50 steps",
    "steps": "steps, 74 oscillators, B = 64",
}


def markdown() -> str:
    """CPU seconds along each axis with its exponent, and the large systems."""
    results: dict[str, Any] = json.loads(RESULTS.read_text())
    rows = ["| along | sizes | CPU ms of a step | grows as |", "|---|---|---|---|"]
    for axis, title in _SIZES.items():
        sizes = ", ".join(f"{size:,}" for size in results["sizes"][axis])
        times = ", ".join(f"{1e3 * seconds:.3g}" for seconds in results["cpu_seconds"][axis])
        rows.append(f"| {title} | {sizes} | {times} | n^{results['exponents'][axis]:.2f} |")
    king, large, mnist = (results[name] for name in ("kings_graph", "large", "mnist"))
    systems = [
        ("King's graph of 2,000, B = 32, 50 steps, by edges", f"{king['edges']:.3f} CPU s"),
        ("the same as a matrix", f"{king['matrix']:.2f} CPU s"),
        (
            "100,000 of degree 8 in random order, B = 32, 200 steps",
            f"{large['seconds']:.1f} s, {large['cpu_seconds']:.1f} CPU s, "
            f"{large['peak_gib']:.1f} GiB at its peak",
        ),
        (
            f"an epoch of MNIST ({mnist['examples']:,} images, 50 steps), King's graph of 1,968, "
            "inputs on every second one",
            f"{mnist['seconds']:.0f} s; validation top-1 {mnist['validation_top1']:.1f} %",
        ),
        (
            "40 segments of fields, against constant ones (74, B = 256, 200 steps)",
            f"{results['segments']['ratio']:.2f} times the CPU time",
        ),
    ]
    lines = ["| step with all gradients | takes |", "|---|---|"]
    return "\n".join([*rows, "", *lines, *(f"| {name} | {value} |" for name, value in systems)])
