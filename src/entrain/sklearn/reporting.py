"""Progress of an estimator's fit."""

from __future__ import annotations

import math
import sys
import time

from entrain.tasks import selection_metric
from entrain.training import TrainingState


class EpochLogger:
    """Lines on standard error: every epoch, or one per second with the first and the last."""

    def __init__(self, verbose: int) -> None:
        self._verbose, self._last = verbose, -math.inf

    def __call__(self, stage: str, state: TrainingState, epochs: int) -> None:
        now = time.monotonic()
        due = self._verbose > 1 or now - self._last >= 1.0 or state.is_finished
        if self._verbose and due:
            self._last = now
            loss, metric = state.history["loss"][-1][0], selection_metric(state.history)
            value = "" if metric is None else metric.text(state.history[metric.name][-1][0])
            sys.stderr.write(f"epoch {state.epoch}: loss {loss:.4f}, validation {value}\n")
