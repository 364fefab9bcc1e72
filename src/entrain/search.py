"""Hyper-parameters of DIRECT, searched on validation images with Optuna.

Trials are asked for several at a time and trained side by side along the run axis, so that on an
accelerator several cost little more than one.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from entrain.data import Dataset, fingerprint
from entrain.errors import InputError, positive_int, reason, seed_number
from entrain.files import (
    held,
    read_sealed,
    remove_leftovers,
    sealed,
    strict_json,
    write_atomically,
)
from entrain.learning import Stage, digest, train_stage
from entrain.physics import NetworkSpec
from entrain.rules import DirectProtocol
from entrain.rules.training_data import TrainingData

# Name -> least and most; all are searched on a logarithmic scale.
SPACE: dict[str, tuple[float, float]] = {
    "input_rate": (3e-4, 3e-2),
    "coupling_rate": (3e-3, 2e-1),
    "gain": (3.0, 16.0),
    "weight_decay": (1e-2, 30.0),
    "initial_couplings": (0.05, 2.0),
    "initial_weights": (0.05, 3.0),
}

_UNREADABLE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class Trial:
    """One setting and its validation top-1, percent; None where it diverged at once."""

    settings: dict[str, float]
    top1: float | None


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

    What is tried next follows from the seed, `side_by_side` and the scores so far. So a search
    that goes on with its `journal` file after a kill asks for the same settings, takes the scores
    that are there (of the same examples, protocol, size and seed), and ends with the same trials.
    """
    positive_int("trials", trials)
    positive_int("side_by_side", side_by_side)
    seed_number("seed", seed)
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    space = {
        name: optuna.distributions.FloatDistribution(low, high, log=True)
        for name, (low, high) in SPACE.items()
    }
    training_data = TrainingData(data, device)

    def train(settings: list[dict[str, float]]) -> list[Trial]:
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
            Trial(each, state.selected("top1", lane) if int(state.best_epoch[lane]) else None)
            for lane, each in enumerate(settings)
        ]

    found: list[Trial] = []
    title = f"{data.name} {digest((fingerprint(data), protocol, hidden, seed))}"
    with _journal(journal, title) as kept:
        while len(found) < trials:
            asked = [study.ask(space) for _ in range(min(side_by_side, trials - len(found)))]
            settings = [{name: float(each.params[name]) for name in SPACE} for each in asked]
            if untried := [each for each in settings if each not in kept]:
                kept.add(train(untried))
            for trial, each in zip(asked, settings, strict=True):
                found.append(kept[each])
                if found[-1].top1 is None:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, found[-1].top1)
            if on_trials is not None:
                on_trials(list(found))
    return sorted(found, key=lambda each: -(each.top1 or 0.0))


class _Journal:
    """The finished trials of one search, kept in a file that may hold other searches too.

    JSON: {"searches": {title: trials}} and a digest. It is replaced as a whole, so that a kill
    leaves all trials that were trained side by side, or none of them.
    """

    def __init__(self, path: Path | None, title: str) -> None:
        self._path, self._title = path, title
        self._searches: dict[str, list[dict[str, Any]]] = {}
        if path is not None and path.exists():
            try:
                found = read_sealed(path, {"searches"}, "a journal of a search")["searches"]
                self._searches = {
                    name: [_plain(_trial(each)) for each in trials]
                    for name, trials in found.items()
                }
            except InputError:
                raise
            except _UNREADABLE as error:
                raise InputError(
                    f"{path}: not a journal of a search ({reason(error)}); move it away"
                ) from error
        self._trials = [_trial(each) for each in self._searches.get(title, [])]

    def __contains__(self, settings: dict[str, float]) -> bool:
        return any(each.settings == settings for each in self._trials)

    def __getitem__(self, settings: dict[str, float]) -> Trial:
        return next(each for each in self._trials if each.settings == settings)

    def add(self, trials: list[Trial]) -> None:
        self._trials += trials
        self._searches[self._title] = [_plain(each) for each in self._trials]
        if self._path is not None:
            text = strict_json(sealed({"searches": self._searches}), 1)
            write_atomically(self._path, text.encode())


@contextlib.contextmanager
def _journal(path: Path | None, title: str) -> Iterator[_Journal]:
    """The journal, held against other processes: what one tries next hangs on what it found."""
    if path is None:
        yield _Journal(None, title)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with held(path.with_name(path.name + ".lock")) as ours:
        if not ours:
            raise InputError(
                f"{path}: another process is searching with this journal; wait for it, or choose "
                "another file"
            )
        remove_leftovers(path.parent, f"{path.stem}.")  # of the command's result too
        yield _Journal(path, title)


def _plain(trial: Trial) -> dict[str, Any]:
    return {"settings": trial.settings, "top1": trial.top1}


def _trial(entry: Any) -> Trial:
    top1 = None if entry["top1"] is None else float(entry["top1"])
    if top1 is not None and not math.isfinite(top1):
        raise ValueError(f"the score {top1} is not finite")
    return Trial({name: float(entry["settings"][name]) for name in SPACE}, top1)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise InputError('Optuna is not installed: pip install "entrain[search]"') from error
    return optuna
