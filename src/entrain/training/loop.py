"""The one training loop: epochs, validation, selection of the best epoch, divergence.

It trains several runs side by side (of a student, or initialisations of a teacher) as tensors with
a leading run axis R. A run that becomes non-finite keeps its best parameters and stops, and one
that has converged stays as it is; neither has an effect on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from entrain.rules.interface import Tensors, Training
from entrain.utils.summary import Summary
from entrain.utils.threads import configure_threads

_GAIN = 1e-2  # of a metric of the validation; less does not continue a training


@dataclass(repr=False)
class TrainingState(Summary):
    """The state of a training, enough to continue.

    Args:
        epoch: Epochs that have ended.
        current: The tensors after them.
        best: The tensors of the selected epoch of each run.
        best_merit: Merit (R, n) of that epoch; -inf before the first one.
        best_epoch: The selected epoch (R,); 0 is the initial point.
        diverged: The epoch in which a run became non-finite (R,), 0 for never.
        history: Metrics by name, epoch by epoch, (R,) each.
        is_finished: True if no epoch is left.
    """

    epoch: int
    current: Tensors
    best: Tensors
    best_merit: Tensor
    best_epoch: Tensor
    diverged: Tensor
    history: dict[str, list[list[float]]] = field(default_factory=dict)
    is_finished: bool = False

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        best = ", ".join(map(str, self.best_epoch.tolist()))
        return {"epochs": str(self.epoch), "runs": str(self.parallel_runs), "best epoch": best}

    @property
    def parallel_runs(self) -> int:
        """R, the number of runs."""
        return len(self.best_epoch)

    def selected(self, metric: str, run: int) -> float:
        """A metric of `run` at its selected epoch (NaN if no epoch could be selected).

        Args:
            metric: A name of `history`.
            run: Index of the run.
        """
        epoch = int(self.best_epoch[run])
        return self.history[metric][epoch - 1][run] if epoch else float("nan")


def run_training(
    training: Training,
    state: TrainingState | None = None,
    on_epoch: Callable[[TrainingState], None] | None = None,
) -> TrainingState:
    """The final state of `training`, trained from `state` or from its beginning."""
    configure_threads()
    state = _initial_state(training) if state is None else state
    converged = _converged(training, state)
    state.is_finished = _is_finished(training, state, converged)
    while not state.is_finished:
        if converged:
            cast("Any", training).stop(converged)
        metrics = training.run_epoch(state.current, state.epoch)
        _keep_rows(metrics, state, converged)
        state.epoch += 1
        if _is_validated(training, state.epoch) or not bool(metrics["loss"].isfinite().all()):
            metrics |= training.validate(state.current)
            _keep_rows(metrics, state, converged)
            _select(state, metrics, training.merit(metrics))
        for name, values in metrics.items():
            state.history.setdefault(name, []).append(values.tolist())
        for rows in state.history.values():  # metrics stay those of the last validation
            rows.extend(rows[-1:] * (state.epoch - len(rows)))
        if _is_validated(training, state.epoch):
            converged = _converged(training, state)
        state.is_finished = _is_finished(training, state, converged)
        if on_epoch is not None:
            on_epoch(state)
    return state


def _keep_rows(metrics: Tensors, state: TrainingState, runs: Sequence[int]) -> None:
    """Give runs that have converged the metrics of their last epoch."""
    for name, values in metrics.items() if runs else ():
        last = state.history[name][-1]
        values[list(runs)] = values.new_tensor([last[run] for run in runs])


def _is_validated(training: Training, epoch: int) -> bool:
    """True if `epoch`, from 1, ends with a validation: the first, the last, and every n-th."""
    interval = getattr(training, "validation_interval", 0) or 1
    return epoch in (1, training.epochs) or epoch % interval == 0


def _is_finished(training: Training, state: TrainingState, converged: Sequence[int]) -> bool:
    """True after the last epoch, or if every run has diverged or converged."""
    stopped = {*converged, *state.diverged.nonzero()[:, 0].tolist()}
    return state.epoch >= training.epochs or len(stopped) == state.parallel_runs


def _converged(training: Training, state: TrainingState) -> list[int]:
    """Runs that had not gained for `patience` epochs when they were last validated."""
    patience, epoch = getattr(training, "patience", 0), state.epoch
    while epoch > 0 and not _is_validated(training, epoch):
        epoch -= 1
    if not patience or not epoch:
        return []
    waited = epoch - _last_gain(training, state)
    return (waited >= patience).nonzero()[:, 0].tolist()


def _last_gain(training: Training, state: TrainingState) -> Tensor:
    """The last epoch (R,) in which a number of the merit, such as an accuracy or minus a loss, was
    larger than before by more than `_GAIN`."""
    metrics = {name: torch.tensor(rows).flatten() for name, rows in state.history.items()}
    merit = training.merit(metrics).view(state.epoch, state.parallel_runs, -1).cpu().numpy()
    largest, last = merit[0].copy(), np.ones(state.parallel_runs, dtype=np.int64)
    for epoch, values in enumerate(merit, 1):
        gained = values > largest + _GAIN
        if gained.any():
            largest[gained] = values[gained]
            last[gained.any(1)] = epoch
    return torch.from_numpy(last)


def best_run(state: TrainingState) -> int:
    """The run of largest merit, the first of equals."""
    best = 0
    for run in range(1, state.parallel_runs):
        if state.best_merit[run].tolist() > state.best_merit[best].tolist():
            best = run
    return best


def _initial_state(training: Training) -> TrainingState:
    current = training.initial()
    runs = len(next(iter(current.values())))
    return TrainingState(
        epoch=0,
        current=current,
        best={name: tensor.clone() for name, tensor in current.items()},
        best_merit=torch.full((runs, 1), -torch.inf, dtype=torch.float64),
        best_epoch=torch.zeros(runs, dtype=torch.int64),
        diverged=torch.zeros(runs, dtype=torch.int64),
    )


def _select(state: TrainingState, metrics: Tensors, merit: Tensor) -> None:
    """Store runs that improved as the best; reset those that diverged to their best."""
    finite = metrics["loss"].isfinite().cpu()
    for tensor in state.current.values():
        finite &= tensor.reshape(len(tensor), -1).isfinite().all(1).cpu()
    merit = merit.double().cpu()
    if state.best_merit.shape != merit.shape:
        state.best_merit = torch.full_like(merit, -torch.inf)
    running = state.diverged == 0
    state.diverged[running & ~finite] = state.epoch
    running &= finite
    for run in range(state.parallel_runs):
        if not running[run]:
            for name, tensor in state.current.items():
                tensor[run] = state.best[name][run]
        elif merit[run].tolist() > state.best_merit[run].tolist():
            state.best_merit[run] = merit[run]
            state.best_epoch[run] = state.epoch
            for name, tensor in state.current.items():
                state.best[name][run] = tensor[run]
