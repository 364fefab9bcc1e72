"""Trials of a search with Optuna, and the journal of those that are finished."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entrain.utils.errors import InputError, missing_extra, positive_int, reason, seed_number
from entrain.utils.files import (
    file_lock,
    read_json_with_digest,
    remove_temporary_files,
    strict_json,
    with_digest,
    write_atomically,
)

# Smallest and largest value by name, on a logarithmic scale; integers if both are.
Space = Mapping[str, tuple[float, float]]
Settings = dict[str, float]

_UNREADABLE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class Trial:
    """One setting and its validation top-1 in percent; None if it diverged at once."""

    settings: Settings
    top1: float | None


def run_trials(
    space: Space,
    title: str,
    train: Callable[[list[Settings]], Sequence[float | None]],
    *,
    trials: int,
    side_by_side: int,
    seed: int,
    journal: Path | None = None,
    first: Settings | None = None,
    should_continue: Callable[[], bool] = lambda: True,
    on_trials: Callable[[list[Trial]], None] | None = None,
) -> list[Trial]:
    """`trials` settings, best first; fewer if `should_continue` returns False after a round.

    `train` scores settings by their validation top-1. The settings `first` are tried before others.
    The next settings depend only on the seed, `side_by_side` and the scores so far, so a search
    that was killed requests the same settings again, reads their scores under its `title` in the
    `journal`, and ends with the same trials.
    """
    positive_int("trials", trials)
    positive_int("side_by_side", side_by_side)
    seed_number("seed", seed)
    try:
        import optuna
    except ImportError as error:
        raise missing_extra("Optuna", "search") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    if first is not None:
        study.enqueue_trial(first)
    ranges = {name: _range(optuna.distributions, *ends) for name, ends in space.items()}
    done: list[Trial] = []
    with _open_journal(journal) as searches:
        finished = searches.setdefault(title, [])
        while len(done) < trials and should_continue():
            asked = [study.ask(ranges) for _ in range(min(side_by_side, trials - len(done)))]
            settings = [{name: trial.params[name] for name in space} for trial in asked]
            scored = [trial.settings for trial in finished]
            if untried := [setting for setting in settings if setting not in scored]:
                finished += [Trial(*pair) for pair in zip(untried, train(untried), strict=True)]
                if journal is not None:
                    _write_journal(journal, searches)
            for trial, setting in zip(asked, settings, strict=True):
                done.append(next(entry for entry in finished if entry.settings == setting))
                if done[-1].top1 is None:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, done[-1].top1)
            if on_trials is not None:
                on_trials(list(done))
    return sorted(done, key=lambda trial: -(trial.top1 or 0.0))


def plain_trial(trial: Trial) -> dict[str, Any]:
    """A trial as JSON values."""
    return {"settings": trial.settings, "top1": trial.top1}


def _range(distributions: Any, low: float, high: float) -> Any:
    integers = isinstance(low, int) and isinstance(high, int)
    kind = distributions.IntDistribution if integers else distributions.FloatDistribution
    return kind(low, high, log=True)


@contextlib.contextmanager
def _open_journal(path: Path | None) -> Iterator[dict[str, list[Trial]]]:
    """The trials of each search in a journal, by title; the file is locked, as the next settings
    depend on the scores it holds."""
    if path is None:
        yield {}
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(path.with_name(path.name + ".lock")) as locked:
        if not locked:
            raise InputError(
                f"{path}: another process is searching with this journal; wait for it, or choose "
                "another file"
            )
        remove_temporary_files(path.parent, path.name)
        yield _read_journal(path) if path.exists() else {}


def _read_journal(path: Path) -> dict[str, list[Trial]]:
    content = read_json_with_digest(path, "a journal of a search")
    try:
        searches = content["searches"].items()
        return {title: [_trial(entry) for entry in trials] for title, trials in searches}
    except _UNREADABLE as error:
        raise InputError(
            f"{path}: not a journal of a search ({reason(error)}); move it away"
        ) from error


def _write_journal(path: Path, searches: dict[str, list[Trial]]) -> None:
    """Replace the file atomically: a kill leaves all trials of a round, or none of them."""
    plain = {title: [plain_trial(trial) for trial in trials] for title, trials in searches.items()}
    write_atomically(path, strict_json(with_digest({"searches": plain}), 1).encode())


def _trial(entry: Any) -> Trial:
    top1 = None if entry["top1"] is None else float(entry["top1"])
    settings = {str(name): _number(value) for name, value in entry["settings"].items()}
    if not all(map(math.isfinite, [*settings.values(), top1 or 0.0])):
        raise ValueError(f"{entry} has a non-finite number")
    return Trial(settings, top1)


def _number(value: Any) -> float:
    return value if type(value) is int else float(value)
