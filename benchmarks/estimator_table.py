"""KuramotoClassifier and classifiers of scikit-learn on its bundled datasets.

    python benchmarks/estimator_table.py [FILE]

Accuracy and fit time over stratified splits (a quarter is the test set), every classifier on one
split before the next split. Writes results/estimator.json or FILE, prints a Markdown table.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrain.sklearn.estimator import KuramotoClassifier

SPLITS = range(5)
DATASETS = {
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
}


def classifiers(seed: int) -> dict[str, Any]:
    """All classifiers, unfitted."""
    return {
        "KuramotoClassifier": KuramotoClassifier(random_state=seed),
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "SVC, RBF": make_pipeline(StandardScaler(), SVC()),
        "MLPClassifier, 64 hidden": make_pipeline(
            StandardScaler(),
            MLPClassifier(hidden_layer_sizes=(64,), max_iter=1000, random_state=seed),
        ),
    }


def measure(X: Any, y: Any) -> dict[str, dict[str, list[float]]]:
    """Test accuracies in percent and fit times in seconds, split by split."""
    measured: dict[str, dict[str, list[float]]] = {
        name: {"accuracy": [], "seconds": []} for name in classifiers(0)
    }
    for split in SPLITS:
        train, test, labels, truth = train_test_split(
            X, y, test_size=0.25, stratify=y, random_state=split
        )
        for name, classifier in classifiers(split).items():
            began = time.perf_counter()
            classifier.fit(train, labels)
            measured[name]["seconds"].append(time.perf_counter() - began)
            measured[name]["accuracy"].append(100.0 * classifier.score(test, truth))
    return measured


def table(results: dict[str, Any]) -> str:
    """Mean ± SD of the accuracy, and the mean fit time, as Markdown."""
    names = list(classifiers(0))
    lines = ["| test accuracy %, fit time | " + " | ".join(names) + " |", "|---" * 5 + "|"]
    for dataset, measured in results.items():
        cells = []
        for name in names:
            accuracy, seconds = measured[name]["accuracy"], measured[name]["seconds"]
            mean, deviation = statistics.mean(accuracy), statistics.stdev(accuracy)
            cells.append(f"{mean:.1f} ± {deviation:.1f}, {statistics.mean(seconds):.2g} s")
        lines.append(f"| {dataset} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure, write, print."""
    root = Path(__file__).parents[1]
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "results" / "estimator.json"
    KuramotoClassifier(hidden=4, epochs=1).fit(np.eye(4), [0, 0, 1, 1])  # compiles the kernels
    results = {}
    for dataset, load in DATASETS.items():
        results[dataset] = measure(*load(return_X_y=True))
        sys.stderr.write(f"{dataset} done\n")
    machine = {
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
    }
    content = {"splits": len(SPLITS), "test_size": 0.25, "machine": machine, "datasets": results}
    target.write_text(json.dumps(content, indent=1) + "\n")
    sys.stdout.write(table(results) + "\n")


if __name__ == "__main__":
    main()
