"""Seconds of 50 settings of a small fit: one by one, side by side, and by GridSearchCV.

    python benchmarks/side_by_side.py [OUT.json] [--repeats 5]

`entrain search` trains the settings of a round as runs of one training. Here the same 50 settings
are a training each, and runs of one; their scores must be equal. GridSearchCV fits as many
classifiers on one split. The ways take turns, so that ratios hold on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from entrain.data.selection import select
from entrain.physics import NetworkSpec
from entrain.rules import Direct
from entrain.rules.training_data import TrainingData
from entrain.sklearn import KuramotoClassifier
from entrain.training.search import SPACE
from entrain.training.stages import Stage, train_stage
from entrain.utils.threads import cpu_share

SETTINGS = 50
DATASETS: dict[str, Any] = {"iris": load_iris, "wine": load_wine}
GRID = {"input_rate": np.geomspace(1e-3, 3e-2, 10), "weight_decay": np.geomspace(0.1, 10.0, 5)}


def main() -> None:
    """Measure and write."""
    root = Path(__file__).parents[1]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", default=root / "results/side-by-side.json")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    result = {
        "unit": f"median seconds of {SETTINGS} settings: wall, and CPU of all processes",
        "datasets": {name: measure(name, options.repeats) for name in DATASETS},
        "cores": cpu_share(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    json.dump(result, sys.stdout, indent=1)


def measure(dataset: str, repeats: int) -> dict[str, list[float]]:
    """Wall and CPU seconds of each way, after a turn that compiles and starts processes."""
    ways = calls(*DATASETS[dataset](return_X_y=True))
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for turn in range(repeats + 1):
        scores = {}
        for name, call in ways.items():
            began, cpu = time.perf_counter(), cpu_seconds()
            scores[name] = call()
            if turn:
                spent[name].append((time.perf_counter() - began, cpu_seconds() - cpu))
        if scores["one by one"] != scores["side by side"]:
            raise SystemExit(f"{dataset}: settings side by side have other scores")
    return {
        name: [round(statistics.median(part), 3) for part in zip(*rows, strict=True)]
        for name, rows in spent.items()
    }


def calls(rows: Any, labels: Any) -> dict[str, Callable[[], Any]]:
    """The ways to score the settings."""
    data = select(rows, labels)
    rule, prepared = (
        Direct().tuned_for(data.name, len(data.train)),
        TrainingData(data, torch.device("cpu")),
    )
    random = np.random.default_rng(0)
    settings = {
        name: np.exp(random.uniform(*np.log(ends), SETTINGS)) for name, ends in SPACE.items()
    }

    def search(size: int) -> list[float]:
        scores = []
        for first in range(0, SETTINGS, size):
            some = {name: tuple(v[first : first + size].tolist()) for name, v in settings.items()}
            stage = Stage(
                replace(rule, **some), data.name, NetworkSpec(hidden=64), runs=(0,) * size
            )
            state = train_stage(stage, prepared, {})
            scores += [state.selected("top1", run) for run in range(size)]
        return scores

    def grid(n_jobs: int) -> list[float]:
        split = PredefinedSplit(np.where(np.arange(len(labels)) % 5, -1, 0))
        classifier = KuramotoClassifier(random_state=0)
        fitted = GridSearchCV(classifier, GRID, cv=split, n_jobs=n_jobs, refit=False)
        scores: list[float] = fitted.fit(rows, labels).cv_results_["mean_test_score"].tolist()
        return scores

    return {
        "one by one": lambda: search(1),
        "side by side": lambda: search(SETTINGS),
        "GridSearchCV, n_jobs=1": lambda: grid(1),
        "GridSearchCV, n_jobs=-1": lambda: grid(-1),
    }


def cpu_seconds() -> float:
    """CPU seconds of this process and its children so far, those that run too."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = time.process_time()
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            fields = Path("/proc", child, "stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / ticks
    return total


if __name__ == "__main__":
    main()
