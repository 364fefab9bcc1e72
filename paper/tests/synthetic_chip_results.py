"""Synthetic results of the experiments with chips, for the tests of the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrain.evaluation.chip_yield import Yield
from entrain.hardware.strengths import LADDERS

Values = dict[str, Any]
BOTH = {"MNIST": (90.0, 97.0), "Fashion-MNIST": (80.0, 87.0)}
METHODS = ("PATH", "TWO-STAGE-END", "DIRECT", "DIRECT for chips")


def over_chips(base: float, runs: int, spread: float = 0.5) -> Values:
    """A score over chips as the experiments write it; all chips are equal without a spread."""
    each = [
        {
            "mean": base + run / 8,
            "p5": base + run / 8 - spread,
            "worst": base + run / 8 - 2 * spread,
        }
        for run in range(runs)
    ]
    means = [run["mean"] for run in each]
    return {
        "mean": float(np.mean(means)),
        "sd": float(np.std(means, ddof=1)) if runs > 1 else None,
        "p5": float(np.mean([run["p5"] for run in each])),
        "worst": min(run["worst"] for run in each),
        "chips": 7,
        "runs": each,
    }


def _strengths(effect: str, base: float, runs: int) -> list[Values]:
    return [
        {"label": strength.label, "value": strength.value} | over_chips(base - 3 * place, runs)
        for place, strength in enumerate(LADDERS[effect])
    ]


def _yield(base: float, thresholds: tuple[float, ...]) -> Values:
    found = Yield(tuple(base + step / 4 for step in range(20)))
    above = {f"{level:g}": found.above(level) for level in thresholds}
    listed = list(found.accuracies)
    return {"run": 1, "chips": 20, **found.summary(), "above": above, "accuracies": listed}


def _published(runs: int) -> list[Values]:
    chips = (("lo-2023", 48, 48, 29), ("wang-2019", 240, 138, 31), ("onn-2025", 506, 138, 31))
    labels = [
        {"chip": chip, "title": f"title of {chip}", "room": room, "N": used}
        | {"couplers": 1083, "levels": levels, "fields": fields, "epochs": 60}
        for chip, room, used, levels in chips
        for fields in ("fine", "coupling levels")
    ]
    return [
        each | over_chips(97.0 - place, runs, 0.0 if each["chip"] == "onn-2025" else 0.5)
        for place, each in enumerate(labels)
    ]


def _curves(curves: dict[str, tuple[float, ...]], runs: int) -> Values:
    rows = [
        {"dataset": "MNIST", "curve": curve, "value": value, "epochs": 60}
        | {"trained": over_chips(98.0 - place, runs, 0.0)}
        | {"not_trained": over_chips(97.0 - 9 * place, runs, 0.0)}
        for curve, values in curves.items()
        for place, value in enumerate(values)
    ]
    return {"rows": rows, "ideal": 98.25}


def results(runs: int) -> dict[str, Values]:
    """Values of every experiment with chips."""
    constraints = (("all of typical at once", 74, 0.5), ("4-bit couplings", 74, 0.0))
    rows: dict[str, list[Values]] = {
        "trained-for-chips": [
            {"constraint": constraint, "N": n, "hardware": {}}
            | {"trained": over_chips(98.0, runs, spread)}
            | {"not_trained": over_chips(61.5, runs, spread)}
            for constraint, n, spread in constraints
        ],
        "fragility": [
            {"method": method, "effect": effect}
            | {"strengths": _strengths(effect, 80.0 + len(method), runs)}
            for method in METHODS
            for effect in ("coupling_bits", "phase_noise", "comparator_noise")
        ],
        "published-chips": _published(runs),
    }
    found = {
        name: {"rows": [{"dataset": dataset} | row for dataset in BOTH for row in each]}
        for name, each in rows.items()
    }
    found["fragility"]["ideal"] = [
        {"dataset": dataset, "method": method, "mean": 81.0 + len(method)}
        for dataset in BOTH
        for method in METHODS
    ]
    found["typical-yield"] = {
        "rows": [
            {"dataset": dataset, "method": method} | _yield(75.0 + len(method), thresholds)
            for dataset, thresholds in BOTH.items()
            for method in METHODS
        ]
    }
    resources = {"couplers": (1.0, 0.1), "bits": (8, 4, 1), "inputs": (784, 8)}
    found["chip-resources"] = _curves(resources, runs)
    found["even-coupling"] = _curves({"lag": (0.1, 0.8), "second_even": (0.2,)}, runs)
    return found
