"""Settings of a compared system, searched on validation images with Optuna.

For systems that do not reach the accuracy their authors report. The first settings tried are those
the system has, so that the search ends no lower than where it began.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch

from entrain.data import Dataset, fingerprint
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, digest, train_stage
from entrain.training.trials import Settings, Trial, run_trials
from entrain.utils.errors import InputError
from entrain_paper.peers.interface import Peer


def own_settings(system: Peer) -> Settings:
    """The values that a system has of what a search may change."""
    return {name: getattr(system, name) for name in system.search_space()}


def search_system(
    data: Dataset,
    system: Peer,
    *,
    trials: int,
    device: torch.device,
    runs: int = 1,
    minutes: float = float("inf"),
    seed: int = 0,
    journal: Path | None = None,
    on_trials: Callable[[list[Trial]], None] | None = None,
) -> list[Trial]:
    """Up to `trials` settings of `system`, best first. Test images are not looked at.

    A trial is the mean validation top-1 of `runs` machines. None is begun after `minutes`. A search
    goes on with its `journal` file; it takes scores of the same examples, system and seed alone.
    """
    space = system.search_space()
    if not space:
        raise InputError(f"{system.name} has nothing to search: its search space is empty")
    training_data = TrainingData(data, device)
    end = time.monotonic() + 60 * minutes

    def train(settings: list[Settings]) -> list[float | None]:
        return [_validation(replace(system, **cast(dict[str, Any], each))) for each in settings]

    def _validation(changed: Peer) -> float | None:
        stage = Stage(changed, data.name, runs=tuple(range(runs)), seed=seed)
        state = train_stage(stage, training_data, {})
        if not all(int(epoch) for epoch in state.best_epoch):
            return None
        return sum(state.selected("top1", lane) for lane in range(runs)) / runs

    return run_trials(
        space,
        f"{system.name} {data.name} {digest((fingerprint(data), system, space, runs, seed))}",
        train,
        trials=trials,
        side_by_side=1,
        seed=seed,
        journal=journal,
        first=own_settings(system),
        go_on=lambda: time.monotonic() < end,
        on_trials=on_trials,
    )
