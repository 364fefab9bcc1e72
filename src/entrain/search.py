"""Hyper-parameters of DIRECT, searched on validation images with Optuna.

Trials are asked for several at a time and trained side by side along the run axis, so that on an
accelerator several cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from entrain.data import Dataset, fingerprint
from entrain.learning import Stage, digest, train_stage
from entrain.physics import NetworkSpec
from entrain.rules import DirectProtocol
from entrain.rules.training_data import TrainingData
from entrain.trials import Settings, Trial, run_trials

# Name -> least and most; all are searched on a logarithmic scale.
SPACE: dict[str, tuple[float, float]] = {
    "input_rate": (3e-4, 3e-2),
    "coupling_rate": (3e-3, 2e-1),
    "gain": (3.0, 16.0),
    "weight_decay": (1e-2, 30.0),
    "initial_couplings": (0.05, 2.0),
    "initial_weights": (0.05, 3.0),
}


def search(
    data: Dataset,
    protocol: DirectProtocol,
    *,
    trials: int,
    device: torch.device,
    side_by_side: int = 4,
    hidden: int = 64,
    seed: int = 0,
    journal: Path | None = None,
    on_trials: Callable[[list[Trial]], None] | None = None,
) -> list[Trial]:
    """`trials` settings of `protocol`, best first. Test images are not looked at.

    A search goes on with its `journal` file after a kill and ends with the same trials; it takes
    the scores of the same examples, protocol, size and seed alone.
    """
    training_data = TrainingData(data, device)

    def train(settings: list[Settings]) -> list[float | None]:
        values: dict[str, Any] = {name: tuple(each[name] for each in settings) for name in SPACE}
        stage = Stage(
            replace(protocol, **values),
            data.name,
            NetworkSpec(hidden=hidden),
            runs=(0,) * len(settings),
            seed=seed,
        )
        state = train_stage(stage, training_data, {})
        return [
            state.selected("top1", lane) if int(state.best_epoch[lane]) else None
            for lane in range(len(settings))
        ]

    return run_trials(
        SPACE,
        f"{data.name} {digest((fingerprint(data), protocol, hidden, seed))}",
        train,
        trials=trials,
        side_by_side=side_by_side,
        seed=seed,
        journal=journal,
        on_trials=on_trials,
    )
