"""Settings of protocol DIRECT for a user's own table of features, side by side.

    python benchmarks/own_data_defaults.py [FILE]

Seven small problems, several stratified splits of each. A quarter of the rows is the selection set
that settings are compared on, a tenth of the rest selects the epoch. Every setting is trained on
one split, from the same seed, before the next split. Results are added to FILE
(results/own-data-defaults.json) after each split and not measured twice. Prints a Markdown table.
"""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from scipy.stats import rankdata
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from entrain import kernels
from entrain.physics import Dynamics, NetworkSpec, readout
from entrain.rules import Direct
from entrain.rules.direct import small_batch
from entrain.rules.direct_task import DirectTask
from entrain.rules.training_data import Examples
from entrain.training import train_task

HIDDEN = 64
COARSE = 50  # Euler steps of all but the last twentieth of the epochs
EPOCHS = (20, 200)  # at least, at most


@dataclass(frozen=True)
class Setting:
    """Settings that are compared. Inputs have the mean length `norm`. The initial weights have the
    standard deviation field / norm, or weights / sqrt(number of inputs) if `weights` is given.
    """

    norm: float = 10.0
    field: float = 0.5
    weights: float | None = None
    gain: float = 8.0
    weight_decay: float = 10.0
    averaging: float = 0.99
    updates: int = 1500
    steps: int = 50


A = Setting(norm=48.9, weights=0.5, gain=6.0, averaging=0.999, updates=3000, steps=200)
B = Setting()
SETTINGS = {
    "A": A,
    "B": B,
    "A, norm 10": replace(A, norm=10.0, weights=0.5 * 48.9 / 10.0),
    "B, norm 20": replace(B, norm=20.0),
    "B, norm 48.9": replace(B, norm=48.9),
    "B, 3000 updates": replace(B, updates=3000),
    "B, averaging 0.999": replace(B, averaging=0.999),
    "B, gain 6": replace(B, gain=6.0),
    "B, weight decay 1": replace(B, weight_decay=1.0),
    "B, K = 200": replace(B, steps=200),
    "B, field 5": replace(B, field=5.0),
    "B, field 10": replace(B, field=10.0),
}

Rows = tuple[np.ndarray, np.ndarray]


def problem(name: str, split: int) -> Rows:
    """Features and labels; synthetic problems are different for each split."""
    make = datasets.make_classification
    if name == "20 features":
        rows: Rows = make(2000, 20, n_informative=5, n_classes=3, random_state=split)
    elif name == "100 features":
        rows = make(1000, 100, n_informative=10, n_classes=2, random_state=split)
    elif name == "moons":
        rows = datasets.make_moons(500, noise=0.25, random_state=split)
    else:
        rows = getattr(datasets, f"load_{name}")(return_X_y=True)
    return rows


SPLITS = {
    "iris": 5,
    "wine": 5,
    "moons": 5,
    "breast_cancer": 5,
    "100 features": 3,
    "digits": 3,
    "20 features": 3,
}


def measure(setting: Setting, learning: Rows, selection: Rows, seed: int) -> dict[str, float]:
    """Accuracy (percent) and log loss on the selection set, and the seconds of the training."""
    began = time.perf_counter()
    features, labels = learning
    scaler = StandardScaler().fit(features)
    factor = setting.norm / np.linalg.norm(scaler.transform(features), axis=1).mean()

    def examples(rows: np.ndarray, truth: np.ndarray) -> Examples:
        inputs = torch.from_numpy(factor * scaler.transform(rows)).float()
        return Examples(torch.from_numpy(truth.astype(np.int64)), inputs)

    classes, inputs = int(labels.max()) + 1, features.shape[1]
    held_out = max(math.ceil(0.1 * len(labels)), classes)
    x, x_held_out, y, y_held_out = train_test_split(
        features, labels, test_size=held_out, stratify=labels, random_state=seed
    )
    batch = small_batch(len(y))
    epochs = min(EPOCHS[1], max(EPOCHS[0], round(setting.updates / math.ceil(len(y) / batch))))
    initial_weights = setting.weights
    if initial_weights is None:
        initial_weights = setting.field * math.sqrt(inputs) / setting.norm
    rule = Direct(
        epochs=epochs,
        batch_size=batch,
        input_rate=1e-2,
        coupling_rate=3e-2,
        weight_decay=setting.weight_decay,
        gain=setting.gain,
        averaging=setting.averaging,
        coarse_steps=COARSE,
        fine_epochs=max(1, epochs // 20),
        initial_weights=initial_weights,
    )
    network = NetworkSpec(HIDDEN, Dynamics(1.0, 0.2, setting.steps))
    task = DirectTask(
        rule, examples(x, y), examples(x_held_out, y_held_out), network, classes, seed=seed
    )
    state = train_task(task)
    seconds = time.perf_counter() - began
    parameters = network.on(state.best["biases"], 1, classes).parameters(state.best)
    unseen = examples(*selection)
    phases = kernels.rollout(parameters.phase_model(unseen.inputs), network.dynamics)[0]
    scores = readout(phases.double(), classes)
    accuracy = (scores.argmax(1) == unseen.labels).double().mean()
    loss = torch.nn.functional.cross_entropy(setting.gain * scores, unseen.labels)
    return {
        "accuracy": 100.0 * float(accuracy),
        "log_loss": float(loss),
        "seconds": seconds,
        "epochs": epochs,
        "best_epoch": int(state.best_epoch[0]),
        "diverged": int(state.diverged[0]),
    }


def table(results: list[dict[str, Any]]) -> str:
    """Means of each setting over splits and datasets, and its accuracy minus those of A and B."""
    by_run = {(r["setting"], r["dataset"], r["split"]): r for r in results}
    names = list(SETTINGS)
    splits = {
        dataset: [k for k in range(count) if all((n, dataset, k) in by_run for n in names)]
        for dataset, count in SPLITS.items()
    }
    splits = {dataset: done for dataset, done in splits.items() if done}

    def values(quantity: str) -> list[np.ndarray]:
        """(settings, splits) of each dataset."""
        return [
            np.array([[by_run[n, dataset, k][quantity] for k in done] for n in names])
            for dataset, done in splits.items()
        ]

    def means(arrays: list[np.ndarray]) -> np.ndarray:
        """(settings, datasets)"""
        return np.stack([array.mean(1) for array in arrays], axis=1)

    accuracies = values("accuracy")
    accuracy, loss = means(accuracies), means(values("log_loss"))
    seconds = np.stack([np.median(array, axis=1) for array in values("seconds")], axis=1)
    ranks = means([rankdata(-array, axis=0) for array in accuracies])

    def less(i: int, base: str) -> str:
        """Mean of the datasets' mean differences, and its standard error over splits."""
        differences = [array[i] - array[names.index(base)] for array in accuracies]
        mean = np.mean([d.mean() for d in differences])
        variance = sum(d.var(ddof=1) / len(d) for d in differences if len(d) > 1)
        return f"{mean:+.2f} ± {math.sqrt(variance) / len(differences):.2f}"

    head = ["setting", *splits, "mean", "mean rank", "log loss", "fit s", "less A", "less B"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for i, name in enumerate(names):
        cells = [name, *(f"{value:.1f}" for value in accuracy[i]), f"{accuracy[i].mean():.2f}"]
        cells += [f"{ranks[i].mean():.2f}", f"{loss[i].mean():.3f}", f"{seconds[i].mean():.1f}"]
        lines.append("| " + " | ".join([*cells, less(i, "A"), less(i, "B")]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure missing results, write, print."""
    root = Path(__file__).parents[1]
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "results" / "own-data-defaults.json"
    results = json.loads(target.read_text())["results"] if target.exists() else []
    machine = {
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
    }
    kernels.prepare(torch.device("cpu"), lambda _: None)
    for split in range(max(SPLITS.values())):
        for dataset in (name for name, count in SPLITS.items() if split < count):
            x, y = problem(dataset, split)
            parts = train_test_split(x, y, test_size=0.25, stratify=y, random_state=split)
            learning, selection = (parts[0], parts[2]), (parts[1], parts[3])
            for name, setting in SETTINGS.items():
                label = {"setting": name, "dataset": dataset, "split": split}
                if any(label.items() <= result.items() for result in results):
                    continue
                results.append(label | measure(setting, learning, selection, split))
            settings = {name: asdict(setting) for name, setting in SETTINGS.items()}
            content = {"machine": machine, "settings": settings, "results": results}
            target.write_text(json.dumps(content, indent=1) + "\n")
            sys.stderr.write(f"{dataset}, split {split} done\n")
    sys.stdout.write(table(results) + "\n")


if __name__ == "__main__":
    main()
