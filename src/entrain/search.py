"""Hyper-parameters of DIRECT, searched on validation images with Optuna.

Trials are asked for several at a time and trained side by side along the run axis, so that on an
accelerator several cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from entrain.data import Dataset, fingerprint
from entrain.errors import InputError, positive_int, reason, seed_number
from entrain.files import sealed, unsealed
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


# Entries of the lines of Optuna's journal, as they were before each had a digest.
_LINE = frozenset(
    {"op_code", "worker_id", "study_id", "study_name", "directions", "trial_id", "state", "values"}
    | {"datetime_start", "datetime_complete", "distribution", "distributions", "params"}
    | {"param_name", "param_value_internal", "user_attr", "user_attrs", "system_attr"}
    | {"system_attrs", "intermediate_values", "step", "intermediate_value"}
)


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

    With a `journal` file the search goes on where it was killed: finished trials count, if they are
    of the same examples, protocol, size and seed.
    """
    positive_int("trials", trials)
    positive_int("side_by_side", side_by_side)
    seed_number("seed", seed)
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize",
        storage=_storage(optuna, journal),
        study_name=f"{data.name} {digest((fingerprint(data), protocol, hidden, seed))}",
        load_if_exists=True,
    )
    # A sampler begins anew when a search goes on: with the same seed it would ask the same again.
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials), constant_liar=True)
    space = {
        name: optuna.distributions.FloatDistribution(low, high, log=True)
        for name, (low, high) in SPACE.items()
    }
    training_data = TrainingData(data, device)
    while len(found := _finished(optuna, study)) < trials:
        asked = [study.ask(space) for _ in range(min(side_by_side, trials - len(found)))]
        values: dict[str, Any] = {
            name: tuple(float(t.params[name]) for t in asked) for name in SPACE
        }
        stage = Stage(
            replace(protocol, **values),
            data.name,
            NetworkSpec(hidden=hidden),
            runs=(0,) * len(asked),
            seed=seed,
        )
        state = train_stage(stage, training_data, {})
        for lane, trial in enumerate(asked):
            if int(state.best_epoch[lane]):
                study.tell(trial, state.selected("top1", lane))
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
        if on_trials is not None:
            on_trials(_finished(optuna, study))
    return sorted(found, key=lambda each: -(each.top1 or 0.0))


def _finished(optuna: Any, study: Any) -> list[Trial]:
    """Trials that were told how they ended, in order."""
    states = optuna.trial.TrialState
    return [
        Trial(dict(trial.params), trial.value if trial.state == states.COMPLETE else None)
        for trial in study.get_trials(deepcopy=False)
        if trial.state in (states.COMPLETE, states.FAIL)
    ]


def _storage(optuna: Any, journal: Path | None) -> Any:
    if journal is None:
        return None
    journal.parent.mkdir(parents=True, exist_ok=True)
    try:
        return optuna.storages.JournalStorage(_SealedJournal(optuna, journal))
    except InputError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{journal}: not a journal of a search ({reason(error)})") from error


class _SealedJournal:
    """Optuna's journal, a JSON object a line, with a digest in each; a damaged one is refused."""

    def __init__(self, optuna: Any, path: Path) -> None:
        self._path = path
        self._lines = optuna.storages.journal.JournalFileBackend(str(path))

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        try:
            for line in self._lines.read_logs(log_number_from):
                yield unsealed(line, _LINE, "a journal of a search")
        except (AttributeError, TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"{self._path}: not a journal to go on from ({reason(error)})"
            ) from error

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self._lines.append_logs([sealed(line) for line in logs])


def _optuna() -> Any:
    try:
        import optuna
        import optuna.storages.journal
    except ImportError as error:
        raise InputError('Optuna is not installed: pip install "entrain[search]"') from error
    return optuna
