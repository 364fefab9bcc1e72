"""KuramotoClassifier and classifiers of scikit-learn: accuracy and fit time.

    OPENBLAS_NUM_THREADS=1 python benchmarks/estimator_table.py [FILE]

Bundled datasets over five stratified folds, and 100,000 x 50 rows once. On every fold all
classifiers are fitted one after the other before the next fold, so that other work on the machine
slows all of them. With more threads for its small matrices, MLPClassifier takes up to ten times as
long on a busy machine. Wall seconds, and CPU seconds of all threads. Datasets that are finished are
kept in FILE (results/estimator.json) and not measured again. Prints a Markdown table.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrain.sklearn.estimator import KuramotoClassifier

LARGE = "100,000 x 50"
OURS, BASE = "KuramotoClassifier", "MLPClassifier"
DATASETS: dict[str, Any] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    LARGE: None,
}


def classifiers(seed: int, dataset: str) -> dict[str, Any]:
    """All classifiers, unfitted, with their defaults."""
    chosen = {
        OURS: KuramotoClassifier(random_state=seed),
        BASE: MLPClassifier(random_state=seed),
        "MLPClassifier, scaled": make_pipeline(StandardScaler(), MLPClassifier(random_state=seed)),
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "SVC, RBF": make_pipeline(StandardScaler(), SVC()),
    }
    if dataset == LARGE:  # hours for an SVC
        return {name: chosen[name] for name in (OURS, BASE)}
    return chosen


def folds(dataset: str) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Training and test rows and labels of each fold."""
    if dataset == LARGE:
        rows, labels = make_classification(
            120_000, 50, n_informative=20, n_classes=4, random_state=0
        )
        train, test, y, truth = train_test_split(rows, labels, train_size=100_000, random_state=0)
        yield train, test, y, truth
        return
    rows, labels = DATASETS[dataset](return_X_y=True)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(rows, labels):
        yield rows[train], rows[test], labels[train], labels[test]


def measure(dataset: str) -> dict[str, dict[str, list[float]]]:
    """Test accuracies in percent, wall and CPU seconds of the fits, fold by fold."""
    measured: dict[str, dict[str, list[float]]] = {
        name: {"accuracy": [], "seconds": [], "cpu_seconds": []} for name in classifiers(0, dataset)
    }
    for fold, (train, test, labels, truth) in enumerate(folds(dataset)):
        for name, classifier in classifiers(fold, dataset).items():
            began, cpu = time.perf_counter(), time.process_time()
            classifier.fit(train, labels)
            values = measured[name]
            values["seconds"].append(time.perf_counter() - began)
            values["cpu_seconds"].append(time.process_time() - cpu)
            values["accuracy"].append(100.0 * classifier.score(test, truth))
    return measured


def table(results: dict[str, Any]) -> str:
    """Accuracy, CPU seconds, and the ratio to MLPClassifier's, as Markdown."""
    names = list(classifiers(0, "iris"))
    head = ["test accuracy %, CPU seconds of a fit", *names, f"times {BASE}'s"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for dataset, measured in results.items():
        cells = [dataset]
        for name in names:
            cells.append(_cell(measured[name]) if name in measured else "")
        ours, base = measured[OURS]["cpu_seconds"], measured[BASE]["cpu_seconds"]
        ratio = statistics.median(a / b for a, b in zip(ours, base, strict=True))
        lines.append("| " + " | ".join([*cells, f"{ratio:.2f}"]) + " |")
    return "\n".join(lines)


def _cell(values: dict[str, list[float]]) -> str:
    """Mean ± SD of the accuracy, and the median of the CPU seconds."""
    accuracy = values["accuracy"]
    spread = f" ± {statistics.stdev(accuracy):.1f}" if len(accuracy) > 1 else ""
    seconds = statistics.median(values["cpu_seconds"])
    return f"{statistics.mean(accuracy):.1f}{spread}, {seconds:.2g} s"


def main() -> None:
    """Measure what is missing, write, print."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # MLPClassifier's 200 epochs
    root = Path(__file__).parents[1]
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "results" / "estimator.json"
    results = json.loads(target.read_text())["datasets"] if target.exists() else {}
    machine = {
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
    }
    KuramotoClassifier().fit(*load_iris(return_X_y=True))  # compiles the kernels
    for dataset in DATASETS:
        if dataset in results:
            continue
        results[dataset] = measure(dataset)
        sys.stderr.write(f"{dataset} done\n")
        content = {"folds": 5, "machine": machine, "datasets": results}
        target.write_text(json.dumps(content, indent=1) + "\n")
    sys.stdout.write(table(results) + "\n")


if __name__ == "__main__":
    main()
