"""Synthetic results of the bake-off, for the tests of its report."""

from __future__ import annotations

from typing import Any

import numpy as np

Values = dict[str, Any]

# Name -> variables, parameters, seconds, and cited and measured accuracy on both datasets.
SYSTEMS: dict[str, tuple[int, int, float, tuple[float | None, ...], tuple[float, ...]]] = {
    "rageau": (510, 402_010, 35.0, (97.77, None), (97.84, 88.1)),
    "gower": (530, 412_010, 40.0, (97.2, 88.0), (97.0, 87.7)),
    "wang": (138, 102_400, 22.0, (None, None), (95.6, 84.9)),
    "laydevant": (160, 98_960, 51.0, (88.8, None), (91.3, 80.2)),
    "fan": (160, 98_960, 47.0, (88.0, 87.0), (92.4, 82.2)),
    "whitelam": (74, 58_736, 30.0, (92.0, 77.3), (92.3, 80.0)),
    "scellier": (522, 407_050, 33.0, (98.21, None), (97.9, 88.4)),
    "subdeq": (87, 76_656, 28.0, (98.08, None), (97.9, 88.3)),
    "aoc": (16, 13_000, 14.0, (95.0, 86.0), (94.9, 85.5)),
    "nmode": (2048, 1_628_170, 30.0, (99.5, None), (98.4, 89.7)),
    "mresn": (2000, 20_010, 9.0, (96.64, 86.77), (96.2, 86.6)),
    "snn": (810, 635_200, 55.0, (98.88, 90.19), (98.3, 88.9)),
    "logistic": (0, 7_850, 3.0, (None, None), (92.6, 84.3)),
    "mlp": (0, 52_906, 6.0, (None, None), (98.0, 88.9)),
    "svm": (0, 52_906, 12.0, (None, None), (98.1, 88.5)),
    "two-stage-end": (74, 52_906, 35.0, (96.711, 86.399), (96.73, 86.04)),
    "direct": (74, 52_906, 28.0, (None, None), (98.83, 88.79)),
    "direct-plain": (74, 52_906, 12.0, (None, None), (97.82, 88.36)),
    "ep": (74, 52_906, 18.0, (None, None), (96.9, 86.9)),
    "frozen-couplings": (74, 50_186, 12.0, (None, None), (96.4, 86.5)),
}
BOTH = ("MNIST", "Fashion-MNIST")
ON_CPU = ("whitelam",)


def row(system: str, dataset: str, runs: int) -> Values:
    """A row as the experiment writes it."""
    variables, parameters, seconds, cited, measured = SYSTEMS[system]
    place = BOTH.index(dataset)
    tops = [measured[place] + 0.05 * (run - (runs - 1) / 2) for run in range(runs)]
    return {
        "system": system,
        "title": f"title of {system}",
        "dataset": dataset,
        "cited": cited[place],
        "measured_mean": float(np.mean(tops)),
        "measured_sd": float(np.std(tops, ddof=1)) if runs > 1 else None,
        "runs": tops,
        "validation": [top + 0.2 for top in tops],
        "epochs": [25] * runs,
        "parameters": parameters,
        "variables": variables,
        "couplers": 10 * variables or None,
        "seconds": seconds,
        "device": "x86_64, 2 cores" if system in ON_CPU else "NVIDIA H200",
        "energy": 12.345 if system == "ep" else None,
        "why": f"reason of {system}" if cited[place] else "",
    }


def results(runs: int) -> dict[str, Values]:
    """Values of the bake-off."""
    return {
        "bake-off": {"rows": [row(system, dataset, runs) for dataset in BOTH for system in SYSTEMS]}
    }
