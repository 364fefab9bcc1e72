"""Progress of a training on standard error: bars, or occasional lines without a terminal."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from entrain.tasks import selection_metric

if TYPE_CHECKING:
    from entrain.training import TrainingState

SECONDS_BETWEEN_LINES = 20.0


class TrainingProgress:
    """One bar per stage, with the loss and the validation metric of the best run."""

    def __init__(self, console: Console | None = None) -> None:
        """`console` is the standard error by default."""
        self._console = console or Console(stderr=True, highlight=False, markup=False, emoji=False)
        self.seconds: dict[str, float] = {}
        self._bars = Progress(
            TextColumn("{task.description:<17}", markup=False),  # the row fits into 80 columns
            BarColumn(bar_width=10),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}", markup=False),
            TimeRemainingColumn(compact=True),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._began = self._last = self._line_at = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def print(self, text: str) -> None:
        """Print a line above the bars."""
        self._console.print(text, soft_wrap=True)

    def epoch(self, stage: str, state: TrainingState, epochs: int) -> None:
        """Show `state` after an epoch of `stage`."""
        now = time.monotonic()
        status = _status(state)
        bar = self._bar(stage, epochs)
        self.seconds[stage] = now - self._began
        self._last = now
        self._bars.update(bar, completed=state.epoch, status=status)
        if not self._console.is_terminal and (
            state.is_finished or now - self._line_at > SECONDS_BETWEEN_LINES
        ):
            self._console.print(f"{stage}: epoch {state.epoch}/{epochs}  {status}")
            self._line_at = now

    def within(self, stage: str, fraction: float) -> None:
        """Show the share done of the single epoch of `stage`."""
        self._bars.update(self._bar(stage, 1), completed=fraction, status="solving")

    def _bar(self, stage: str, epochs: int) -> TaskID:
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=epochs, status="")
            self._began = self._last
        return self._tasks[stage]


def _status(state: TrainingState) -> str:
    """The smallest loss and the best validation metric of the last epoch."""
    if not state.history:
        return ""
    loss = min(state.history["loss"][-1], key=lambda x: (math.isnan(x), x))
    metric = selection_metric(state.history)
    if metric is None:
        return f"loss {loss:.2e}"
    sign = 1.0 if metric.larger_is_better else -1.0
    values = state.history[metric.name][-1]
    best = max(values, key=lambda x: (not math.isnan(x), sign * x))
    return f"loss {loss:.2e}  validation {metric.text(best)}"
