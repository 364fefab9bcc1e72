"""Settings of DIRECT for a user's own data, side by side.

    python benchmarks/own_data_defaults.py [FILE]

Six problems that docs/estimator.md does not report, three stratified folds of each. A tenth of
the training rows of a fold validates. Every setting is trained on one fold, from the same seed,
before the next fold. Results are added to FILE (results/own-data-defaults.json) after each fold and
not measured twice. Prints a Markdown table.
"""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from sklearn import datasets
from sklearn.model_selection import StratifiedKFold, train_test_split

from entrain import kernels, load_test_split
from entrain.data import FeatureScaling
from entrain.physics import Dynamics, NetworkSpec, readout
from entrain.rules import Direct
from entrain.rules.direct import small_set, tuned
from entrain.rules.direct_training import DirectTraining
from entrain.rules.training_data import Examples
from entrain.tasks import Classification
from entrain.training import run_training

FOLDS = 3
NETWORK = NetworkSpec(64, Dynamics(1.0, 0.2, 200))
OFF = {"second_order_steps": 0, "validation_interval": 0, "patience": 0}
Rows = tuple[np.ndarray, np.ndarray]


def default(examples: int, **changes: Any) -> Direct:
    """The rule of the estimator, with some fields changed."""
    return replace(tuned(Direct(), "table"), **small_set(examples) | changes)


def earlier(examples: int) -> Direct:
    """The default of versions up to 0.2: about 3,000 steps, all but the last of 50 Euler steps."""
    rule = default(examples, weight_decay=10.0, averaging=0.999, **OFF)
    epochs = min(200, max(20, 3000 * rule.batch_size // examples))
    return replace(rule, epochs=epochs, fine_epochs=max(1, epochs // 20))


def scaled(factor: float) -> Callable[[int], Direct]:
    """The default with other numbers of steps and of epochs to wait."""

    def rule(examples: int) -> Direct:
        usual = default(examples)
        changes = {n: math.ceil(factor * getattr(usual, n)) for n in ("epochs", "patience")}
        return replace(usual, **changes)

    return rule


SETTINGS: dict[str, Callable[[int], Direct]] = {
    "up to 0.2": earlier,
    "default": default,
    "all steps": lambda n: default(n, patience=0),
    "half the steps": scaled(0.5),
    "Euler, K = 16": lambda n: default(n, second_order_steps=0, coarse_steps=16, fine_epochs=0),
    "Euler, K = 50": lambda n: default(n, second_order_steps=0, fine_epochs=0),
    "order 2, K = 32": lambda n: default(n, second_order_steps=32),
    "decay 10": lambda n: default(n, weight_decay=10.0),
}


def pictures() -> Rows:
    """1,000 test images of MNIST, reduced to 7 x 7."""
    test = load_test_split("mnist")
    rows = np.random.default_rng(0).permutation(len(test.targets))[:1000]
    images = np.asarray(test.features, dtype=float)[rows].reshape(-1, 7, 4, 7, 4)
    return images.mean((2, 4)).reshape(len(rows), 49), np.asarray(test.targets)[rows]


PROBLEMS: dict[str, Callable[[], Rows]] = {
    "10 features": lambda: datasets.make_classification(
        300, 10, n_informative=6, flip_y=0.05, random_state=0
    ),
    "moons": lambda: datasets.make_moons(500, noise=0.25, random_state=0),
    "circles": lambda: datasets.make_circles(400, noise=0.12, factor=0.5, random_state=0),
    "quantiles": lambda: datasets.make_gaussian_quantiles(
        n_samples=600, n_features=5, n_classes=3, random_state=0
    ),
    "blobs": lambda: datasets.make_blobs(200, 3, centers=4, cluster_std=3.5, random_state=0)[:2],
    "MNIST, 7 x 7": pictures,
}


def measure(setting: str, learning: Rows, unseen: Rows, seed: int) -> dict[str, float]:
    """Accuracy in percent and log loss on unseen rows, CPU seconds and epochs of the training."""
    features, labels = learning
    scaling = FeatureScaling.fit(features)

    def examples(rows: np.ndarray, truth: np.ndarray) -> Examples:
        return Examples(torch.from_numpy(truth.astype(np.int64)), scaling(rows))

    task = Classification(tuple(map(str, range(int(labels.max()) + 1))))
    x, x_held_out, y, y_held_out = train_test_split(
        features, labels, test_size=0.1, stratify=labels, random_state=seed
    )
    rule = SETTINGS[setting](len(y))
    data = examples(x, y), examples(x_held_out, y_held_out)
    began = time.process_time()
    state = run_training(DirectTraining(rule, *data, NETWORK, task, seed=seed))
    seconds = time.process_time() - began
    parameters = NETWORK.on(state.best["biases"], 1, task.outputs).parameters(state.best)
    test = examples(*unseen)
    phases = kernels.rollout(parameters.phase_model(test.all_inputs()), NETWORK.dynamics)[0]
    scores = readout(phases.double(), task.outputs)
    loss = torch.nn.functional.cross_entropy(6.0 * scores, test.targets)
    return {
        "accuracy": 100.0 * float((scores.argmax(1) == test.targets).double().mean()),
        "log_loss": float(loss),
        "cpu_seconds": seconds,
        "epochs": state.epoch,
    }


def table(results: list[dict[str, Any]]) -> str:
    """Mean accuracies of each setting, and the difference to those of "default"."""
    by_run = {(r["setting"], r["dataset"], r["fold"]): r for r in results}

    def values(setting: str, quantity: str) -> np.ndarray:
        """(datasets, folds)"""
        return np.array(
            [[by_run[setting, name, fold][quantity] for fold in range(FOLDS)] for name in PROBLEMS]
        )

    head = ["setting", *PROBLEMS, "mean", "less default", "log loss", "CPU s"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    usual = values("default", "accuracy")
    for setting in SETTINGS:
        accuracy = values(setting, "accuracy")
        less = accuracy - usual
        error = math.sqrt((less.var(1, ddof=1) / FOLDS).sum()) / len(less)
        loss = values(setting, "log_loss").mean()
        seconds = values(setting, "cpu_seconds").mean()
        cells = [setting, *(f"{value:.1f}" for value in accuracy.mean(1)), f"{accuracy.mean():.2f}"]
        cells += [f"{less.mean():+.2f} ± {error:.2f}", f"{loss:.3f}", f"{seconds:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure missing results, write, print."""
    root = Path(__file__).parents[1]
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "results" / "own-data-defaults.json"
    results = json.loads(target.read_text())["results"] if target.exists() else []
    machine = {
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
    }
    for dataset, load in PROBLEMS.items():
        x, y = load()
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(x, y)
        for fold, (learned, unseen) in enumerate(folds):
            for name in SETTINGS:
                label = {"setting": name, "dataset": dataset, "fold": fold}
                if any(label.items() <= result.items() for result in results):
                    continue
                parts = (x[learned], y[learned]), (x[unseen], y[unseen])
                results.append(label | measure(name, *parts, seed=fold))
            content = {"machine": machine, "results": results}
            target.write_text(json.dumps(content, separators=(",", ":")) + "\n")
            sys.stderr.write(f"{dataset}, fold {fold} done\n")
    sys.stdout.write(table(results) + "\n")


if __name__ == "__main__":
    main()
