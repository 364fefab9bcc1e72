"""A search for settings of DIRECT on validation examples, with Optuna.

In one process, the trials of a round are trained side by side along the run axis: on a GPU several
take little longer than one. On a cluster each trial is a task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from entrain.cluster import Engine, LocalEngine
from entrain.data import Dataset, fingerprint
from entrain.physics import NetworkSpec
from entrain.rules import Direct
from entrain.rules.training_data import TrainingData
from entrain.training.stages import Stage, digest, train_stage
from entrain.training.trials import Settings, Trial, run_trials
from entrain.utils.errors import InputError

# Smallest and largest value of each setting, searched on a logarithmic scale.
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
    protocol: Direct,
    *,
    trials: int,
    engine: Engine | None = None,
    side_by_side: int = 4,
    hidden: int = 64,
    seed: int = 0,
    journal: Path | None = None,
    on_trials: Callable[[list[Trial]], None] | None = None,
) -> list[Trial]:
    """Trials of settings of `protocol`, best first. Test examples are not used.

    A search that was killed continues with its `journal` file and ends with the same trials.

    Args:
        data: The dataset.
        protocol: The settings that are not searched, `epochs` among them.
        trials: Number of settings.
        engine: Computes the trials; by default this process, on the CPU.
        side_by_side: Settings of a round; the next round depends on their scores.
        hidden: Hidden oscillators.
        seed: Seed of the search and of the networks.
        journal: File of finished trials. Scores of other data, protocols, sizes or seeds in it are
            ignored.
        on_trials: Called with all trials so far after each round.
    """
    if not data.task.has_classes:
        raise InputError(f"a search compares accuracies; {data.name} has {data.task.description}")
    engine = LocalEngine() if engine is None else engine
    problem = _Problem(data, protocol, hidden, seed)

    def train(settings: list[Settings]) -> list[float | None]:
        size = len(settings) if isinstance(engine, LocalEngine) else 1
        tasks = [(i, settings[i : i + size]) for i in range(0, len(settings), size)]
        results = engine.map(_train, problem, tasks, lambda _: "trials")
        scores = {first: accuracies for (first, _), accuracies in results}
        return [score for first, _ in tasks for score in scores[first]]

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


@dataclass(frozen=True)
class _Problem:
    """Data and settings of all trials; the data are copied to the device once."""

    data: Dataset
    protocol: Direct
    hidden: int
    seed: int
    prepared: dict[torch.device, TrainingData] = field(default_factory=dict)


def _train(
    problem: _Problem, task: tuple[int, list[Settings]], device: torch.device
) -> list[float | None]:
    """Validation top-1 of settings trained side by side; None for runs that diverge at once."""
    settings = task[1]
    if device not in problem.prepared:
        problem.prepared[device] = TrainingData(problem.data, device)
    values: dict[str, Any] = {name: tuple(setting[name] for setting in settings) for name in SPACE}
    stage = Stage(
        replace(problem.protocol, **values),
        problem.data.name,
        NetworkSpec(hidden=problem.hidden),
        runs=(0,) * len(settings),
        seed=problem.seed,
    )
    state = train_stage(stage, problem.prepared[device], {})
    return [
        state.selected("top1", run) if int(state.best_epoch[run]) else None
        for run in range(len(settings))
    ]
