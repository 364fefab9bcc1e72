"""What a fit of the estimator tells: its epochs, and how it went wrong."""

from __future__ import annotations

import math
import sys
import time
import warnings

from sklearn.exceptions import ConvergenceWarning

from entrain.physics import Dynamics
from entrain.training import TrainingState, collapsed, time_advice


class EpochLogger:
    """Epochs on the standard error: every one, or one a second with the first and the last."""

    def __init__(self, epochs: int, verbose: int) -> None:
        self._epochs, self._verbose, self._last = epochs, verbose, -math.inf

    def __call__(self, state: TrainingState) -> None:
        now = time.monotonic()
        due = self._verbose > 1 or now - self._last >= 1.0 or state.epoch == self._epochs
        if self._verbose and due:
            self._last = now
            loss, accuracy = (state.history[name][-1][0] for name in ("loss", "top1"))
            sys.stderr.write(f"epoch {state.epoch}: loss {loss:.4f}, validation {accuracy:.2f} %\n")


def warn_not_converged(state: TrainingState, dynamics: Dynamics) -> None:
    """Say of the one run of a fit that it diverged or collapsed, and which epoch was kept."""
    kept = f"epoch {int(state.best_epoch[0])} was kept"
    if int(state.diverged[0]):
        advice = time_advice(dynamics) or "lower input_rate or coupling_rate"
        said = f"training diverged in epoch {int(state.diverged[0])}, {kept}; {advice}"
    elif collapsed(state):
        said = f"training collapsed: it ended far worse than it had been; {kept}; "
        said += "lower input_rate, coupling_rate or epochs"
    else:
        return
    warnings.warn(said, ConvergenceWarning, stacklevel=3)
