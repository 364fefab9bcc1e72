"""The search for the settings of DIRECT.

    python paper/tools/record_search.py --out results/searches

One change at a time from the current settings, each trained on the training images and compared by
validation accuracy only. Changes of numbers that may differ per run are trained side by side.
After a kill, the same command continues with the next group.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from entrain.data import load_dataset
from entrain.physics import NetworkSpec
from entrain.rules import Augmentation, Direct
from entrain.rules.direct import tuned
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, train_stage
from entrain.utils.files import write_atomically

SIDE_BY_SIDE: dict[str, tuple[float, ...]] = {  # a run each
    "gain": (4.0, 9.0),
    "coupling_rate": (1.5e-2, 6e-2),
    "input_rate": (5e-3, 2e-2),
    "initial_couplings": (0.1, 0.6),
    "initial_weights": (1.0,),
    "weight_decay": (0.03, 0.3, 1.0),
    "smoothing": (0.05,),
}
ALONE: dict[str, tuple[float, ...]] = {  # a training each
    "averaging": (0.9995, 0.9998),
    "distortion": (0.7, 1.4),  # times the current augmentation
    "unaugmented_epochs": (0,),
}


def groups(base: Direct, seeds: int) -> Iterator[tuple[list[dict[str, Any]], Stage]]:
    """Changes, one for every run of a stage, and the stage; `base` itself comes first."""
    changes: list[dict[str, Any]] = [{}] + [
        {name: value} for name, values in SIDE_BY_SIDE.items() for value in values
    ]
    runs = [(change, seed) for change in changes for seed in range(seeds)]
    columns = {
        name: tuple(float(change.get(name, getattr(base, name))) for change, _ in runs)
        for name in SIDE_BY_SIDE
    }
    runs = tuple(seed for _, seed in runs)
    yield [change for change, _ in runs], _stage(replace(base, **columns), runs)
    for name, values in ALONE.items():
        for value in values:
            if name == "distortion":
                rule = replace(base, augmentation=_scaled(base.augmentation, value))
            else:
                rule = replace(base, **{name: type(getattr(base, name))(value)})
            yield [{name: value}] * seeds, _stage(rule, tuple(range(seeds)))


def _stage(rule: Direct, runs: tuple[int, ...]) -> Stage:
    return Stage(rule, "", NetworkSpec(), runs=runs)


def _scaled(distorted: Augmentation, factor: float) -> Augmentation:
    numbers = {k: v * factor for k, v in asdict(distorted).items() if not isinstance(v, bool)}
    return replace(distorted, **numbers)


def search(name: str, epochs: int, steps: int, seeds: int, device: str, path: Path) -> None:
    """Train every group that is not in `path` yet."""
    base = replace(tuned(Direct(), name, epochs=epochs), coarse_steps=steps)
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    data = TrainingData(load_dataset(name), torch.device(device))
    for changes, stage in groups(base, seeds):
        if any(row["change"] == changes[-1] for row in rows):
            continue
        began = time.monotonic()
        state = train_stage(replace(stage, dataset=name), data, {})
        for run, change in enumerate(changes):
            curve = [epoch[run] for epoch in state.history["top1"]]
            rows.append(
                {
                    "change": change,
                    "run": stage.runs[run],
                    "best": max(curve),
                    "best_epoch": 1 + curve.index(max(curve)),
                    "last_ten": sum(curve[-10:]) / len(curve[-10:]),
                    "seconds_of_group": time.monotonic() - began,
                }
            )
        header = {"dataset": name, "epochs": epochs, "steps": steps, "base": base.settings()}
        write_atomically(path, json.dumps(header | {"rows": rows}, indent=1).encode())
        sys.stderr.write(f"{name}: {changes[-1]} in {time.monotonic() - began:.0f} s\n")


def main() -> None:
    """Search both datasets, or those of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dataset", action="append")
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.dataset or ("mnist", "fashion-mnist"):
        path = arguments.out / f"records-{name}.json"
        search(name, arguments.epochs, arguments.steps, arguments.seeds, arguments.device, path)


if __name__ == "__main__":
    main()
