"""Settings of DIRECT, searched on validation examples with Optuna.

In one process, the trials of a round are trained side by side along the run axis, so that on an
accelerator several cost little more than one; on a cluster each is a task of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
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

# Name -> smallest and largest value; all are searched on a logarithmic scale.
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
    """Trials of `protocol`, best first. Test examples are not used.

    A search continues with its `journal` file after a kill and ends with the same trials.

    Parameters
    ----------
    data : Dataset
    protocol : Direct
        The settings that are not searched, `epochs` among them.
    trials : int
        The number of settings.
    engine : Engine, default this process on the CPU
    side_by_side : int, default 4
        The number of settings of a round; the next round depends on their scores.
    hidden : int, default 64
        Hidden oscillators.
    seed : int, default 0
        Of the search and of the networks.
    journal : Path, optional
        Where finished trials are kept; scores of other examples, protocols, sizes and seeds are
        not used.
    on_trials : callable, optional
        Called with all trials so far after each round.
    """
    engine = LocalEngine() if engine is None else engine
    problem = _Problem(data, protocol, hidden, seed)

    def train(settings: list[Settings]) -> list[float | None]:
        size = len(settings) if isinstance(engine, LocalEngine) else 1
        groups = [
            tuple(range(first, min(first + size, len(settings))))
            for first in range(0, len(settings), size)
        ]
        tasks = [(group, [settings[index] for index in group]) for group in groups]
        scores: dict[int, float | None] = {}
        for (group, _), accuracies in engine.map(_train, problem, tasks, lambda _: "trials"):
            scores |= dict(zip(group, accuracies, strict=True))
        return [scores[index] for index in range(len(settings))]

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
    """What all trials share; its data go to the device once."""

    data: Dataset
    protocol: Direct
    hidden: int
    seed: int

    @cached_property
    def _prepared(self) -> dict[torch.device, TrainingData]:
        return {}

    def on(self, device: torch.device) -> TrainingData:
        """The data on a device."""
        if device not in self._prepared:
            self._prepared[device] = TrainingData(self.data, device)
        return self._prepared[device]


def _train(
    problem: _Problem, task: tuple[tuple[int, ...], list[Settings]], device: torch.device
) -> list[float | None]:
    """The validation top-1 of settings trained side by side; None where a run diverged at once."""
    settings = task[1]
    values: dict[str, Any] = {name: tuple(each[name] for each in settings) for name in SPACE}
    stage = Stage(
        replace(problem.protocol, **values),
        problem.data.name,
        NetworkSpec(hidden=problem.hidden),
        runs=(0,) * len(settings),
        seed=problem.seed,
    )
    state = train_stage(stage, problem.on(device), {})
    return [
        state.selected("top1", run) if int(state.best_epoch[run]) else None
        for run in range(len(settings))
    ]
