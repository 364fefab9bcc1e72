"""Growth of the time of a training step with batch, oscillators and steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from entrain_paper.bench.backends import IDENTITY, OURS, REFERENCE, Backend
from entrain_paper.bench.compare import Progress, interleaved
from entrain_paper.bench.problem import Problem

SIZES: dict[str, tuple[int, ...]] = {
    "batch": (32, 64, 128, 256, 512, 1024),
    "oscillators": (26, 42, 74, 138, 256),
    "steps": (25, 50, 100, 200, 400),
}


def growth(
    problem: Problem,
    *,
    backends: Sequence[Backend] = (OURS, REFERENCE, IDENTITY),
    rounds: int = 5,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Sizes of each axis, median times (ms) of each backend, and the exponents p of the fits
    ms ~ size^p over the upper half of the sizes, as JSON values."""
    report = progress or (lambda _: None)
    axes: dict[str, Any] = {}
    for axis, sizes in SIZES.items():
        medians: dict[str, list[float]] = {backend.name: [] for backend in backends}
        for size in sizes:
            report(f"{axis} = {size}")
            sized = replace(problem, **{axis: size})  # type: ignore[arg-type]
            calls = {backend.name: backend.prepare(sized)[0] for backend in backends}
            for name, value in interleaved(calls, sized, rounds, lambda _: None).items():
                medians[name].append(value)
        half = len(sizes) // 2
        axes[axis] = {
            "sizes": list(sizes),
            "ms": medians,
            "exponent": {
                name: float(np.polyfit(np.log(sizes[half:]), np.log(values[half:]), 1)[0])
                for name, values in medians.items()
            },
        }
    return axes
