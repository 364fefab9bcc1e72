"""Search for better settings of a compared system on validation images, with Optuna.

It is meant for systems below their published accuracy. The first trial has the current settings, so
that the result is at least as good.
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


def current_settings(system: Peer) -> Settings:
    """Current values of the fields that a search may change."""
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
    """Up to `trials` settings of `system`, best first, without use of test images.

    The score of a trial is the mean validation top-1 of `runs` runs. No trial starts after
    `minutes`. With a `journal` file a search continues; scores of other examples, systems or seeds
    in the file are ignored.
    """
    space = system.search_space()
    if not space:
        raise InputError(f"the search space of {system.name} is empty: define search_space")
    training_data = TrainingData(data, device)
    end = time.monotonic() + 60 * minutes

    def train(settings: list[Settings]) -> list[float | None]:
        return [
            validation_top1(replace(system, **cast(dict[str, Any], trial))) for trial in settings
        ]

    def validation_top1(changed: Peer) -> float | None:
        stage = Stage(changed, data.name, runs=tuple(range(runs)), seed=seed)
        state = train_stage(stage, training_data, {})
        if not all(int(epoch) for epoch in state.best_epoch):
            return None
        return sum(state.selected("top1", run) for run in range(runs)) / runs

    return run_trials(
        space,
        f"{system.name} {data.name} {digest((fingerprint(data), system, space, runs, seed))}",
        train,
        trials=trials,
        side_by_side=1,
        seed=seed,
        journal=journal,
        first=current_settings(system),
        should_continue=lambda: time.monotonic() < end,
        on_trials=on_trials,
    )
