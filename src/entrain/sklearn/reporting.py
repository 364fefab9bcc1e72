"""Progress and warnings of the classifier's fit."""

from __future__ import annotations

import math
import sys
import time
import warnings

from sklearn.exceptions import ConvergenceWarning

from entrain.physics import Dynamics
from entrain.tasks import selection_metric
from entrain.training import TrainingState, collapsed_runs, time_hint


class EpochLogger:
    """Lines on standard error: every epoch, or one per second with the first and the last."""

    def __init__(self, verbose: int) -> None:
        self._verbose, self._last = verbose, -math.inf

    def __call__(self, state: TrainingState) -> None:
        now = time.monotonic()
        due = self._verbose > 1 or now - self._last >= 1.0 or state.is_finished
        if self._verbose and due:
            self._last = now
            loss, metric = state.history["loss"][-1][0], selection_metric(state.history)
            value = "" if metric is None else metric.text(state.history[metric.name][-1][0])
            sys.stderr.write(f"epoch {state.epoch}: loss {loss:.4f}, validation {value}\n")


def warn_not_converged(state: TrainingState, dynamics: Dynamics) -> None:
    """Warn if the fit diverged or collapsed, with the selected epoch."""
    kept = f"epoch {int(state.best_epoch[0])} was kept"
    if int(state.diverged[0]):
        advice = time_hint(dynamics) or "lower input_rate or coupling_rate"
        message = f"training diverged in epoch {int(state.diverged[0])}, {kept}; {advice}"
    elif collapsed_runs(state):
        message = f"training collapsed: it ended far worse than its best; {kept}; "
        message += "lower input_rate, coupling_rate or epochs"
    else:
        return
    warnings.warn(message, ConvergenceWarning, stacklevel=3)
