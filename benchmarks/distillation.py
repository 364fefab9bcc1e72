"""Accuracy of DIRECT from labels and from the convolutional teacher, run by run.

    python benchmarks/distillation.py results/distillation.json           # on a GPU
    python benchmarks/distillation.py results/distillation-small.json --quick   # on two cores

Writes each result as soon as it is measured, and continues from OUT.json. Epochs are selected on
validation examples; each network reads the test examples once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import entrain
from entrain.evaluation import summarise
from entrain.rules.convolutional_teacher import ConvolutionalTeacher
from entrain.utils.device import choose_device

LABELS, TEACHER = "labels", "teacher"
# Bars: mean test accuracy by (dataset, oscillators).
BARS = {
    ("fashion-mnist", 74): 89.3,
    ("fashion-mnist", 138): 89.8,
    ("mnist", 74): 99.0,
    ("mnist", 138): 99.25,
    ("fashion-mnist", 510): 89.8,
    ("mnist", 510): 99.2,
}
# Rates of 64 hidden oscillators; larger networks take them times the root of 64 / hidden.
INPUT_RATE, COUPLING_RATE = 5e-3, 3e-2


@dataclass(frozen=True)
class Case:
    """A network on a dataset, trained from labels and from a teacher."""

    dataset: str
    hidden: int
    runs: int = 5
    epochs: int = 120
    coarse_steps: int = 200
    teacher: ConvolutionalTeacher = field(default_factory=ConvolutionalTeacher)

    @property
    def name(self) -> str:
        """Dataset and number of oscillators."""
        return f"{self.dataset}, N = {self.hidden + 10}"

    def settings(self) -> dict[str, Any]:
        """Settings of DIRECT, the same from labels and from the teacher."""
        share = (64 / self.hidden) ** 0.5
        rates = {"input_rate": INPUT_RATE * share, "coupling_rate": COUPLING_RATE * share}
        values = {**rates, "gain": 6.0, "coarse_steps": self.coarse_steps}
        if self.hidden > 64:
            values["initial_couplings"] = 0.3 * share
        return {f"DIRECT.{name}": value for name, value in values.items()}


FULL = [
    *(Case(dataset, 64) for dataset in ("fashion-mnist", "mnist")),
    *(Case(dataset, 128) for dataset in ("fashion-mnist", "mnist")),
    *(Case(dataset, 500, runs=2, coarse_steps=50) for dataset in ("fashion-mnist", "mnist")),
]
SMALL = ConvolutionalTeacher(networks=1, channels=16, epochs=15)
QUICK = [
    Case("digits", 64, epochs=60, coarse_steps=50, teacher=SMALL),
    Case("fashion-mnist-small", 64, epochs=20, coarse_steps=50, teacher=SMALL),
]


def measure(case: Case, source: str, device: str, data_dir: str | None, models: Path | None) -> Any:
    """Accuracies of each run from one source of targets.

    Args:
        case: The network and its dataset.
        source: `LABELS` or `TEACHER`.
        device: Trains and evaluates.
        data_dir: Folder of the datasets.
        models: Receives the best network on validation examples.
    """
    start = time.monotonic()
    trained = entrain.train(
        entrain.load_dataset(case.dataset, data_dir),
        protocol="DIRECT",
        teacher=case.teacher if source == TEACHER else None,
        network=case.hidden,
        runs=case.runs,
        epochs=case.epochs,
        settings=case.settings(),
        device=device,
        progress=True,
    )
    networks = trained.models["DIRECT"]
    test = [run["top1"] for run in trained.results["results"]["DIRECT"]["runs"]]
    validation = [model.details["validation"]["top1"] for model in networks]
    if models is not None:
        models.mkdir(parents=True, exist_ok=True)
        best = networks[int(np.argmax(validation))]
        best.save(models / f"{case.dataset}-{case.hidden + 10}-{source}.safetensors")
    summary = summarise(test)
    result = {"test": test, "validation": validation, "mean": summary.mean, "sd": summary.sd}
    result |= {"epochs": [model.details["epoch"] for model in networks]}
    result["seconds"] = time.monotonic() - start
    if source == TEACHER:
        history = trained.states[case.teacher.name].history["top1"]
        result["teacher_validation"] = np.max(history, axis=0).tolist()
    return result


def main() -> None:
    """Measure every case that the result does not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data-dir")
    parser.add_argument("--epochs", type=int, help="of all trainings, to try the script")
    parser.add_argument("--dataset", help="cases of this dataset only")
    parser.add_argument("--models", type=Path, help="folder for the best network of each case")
    options = parser.parse_args()
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    cases = [
        case
        for case in (QUICK if options.quick else FULL)
        if options.dataset in (None, case.dataset)
    ]
    # The bars first.
    for source, case in itertools.product((TEACHER, LABELS), cases):
        if source in results.get(case.name, {}):
            continue
        if options.epochs:
            teacher = ConvolutionalTeacher(networks=1, channels=8, epochs=options.epochs)
            case = Case(case.dataset, case.hidden, 2, options.epochs, 20, teacher)
        result = results.setdefault(case.name, {"settings": case.settings()})
        result |= {"epochs": case.epochs, "device": choose_device(options.device).type}
        result[source] = measure(case, source, options.device, options.data_dir, options.models)
        if (bar := BARS.get((case.dataset, case.hidden + 10))) is not None:
            result["bar"] = bar
        if LABELS in result and TEACHER in result:
            difference = np.subtract(result[TEACHER]["test"], result[LABELS]["test"])
            result["difference"] = difference.tolist()
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
