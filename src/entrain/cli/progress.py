"""Progress of a training on standard error: bars, or a line now and then without a terminal."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from entrain.cli.console import err

if TYPE_CHECKING:
    from entrain.learning import TrainingState

SECONDS_BETWEEN_LINES = 20.0


class TrainingProgress:
    """One bar per stage, with the loss and the validation accuracy of the best run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._bars = Progress(
            TextColumn("{task.description:<17}", markup=False),  # all fits into 80 columns
            BarColumn(bar_width=10),
            MofNCompleteColumn(),
            TextColumn("{task.fields[news]}", markup=False),
            TimeRemainingColumn(compact=True),
            console=err,
            disable=not err.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._began = self._last = self._line_at = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def epoch(self, stage: str, state: TrainingState, epochs: int) -> None:
        """Show `state` after an epoch of `stage`."""
        now = time.monotonic()
        news = self._news(state)
        bar = self._bar(stage, epochs)
        self.seconds[stage] = now - self._began
        self._last = now
        self._bars.update(bar, completed=state.epoch, news=news)
        if not err.is_terminal and (
            state.epoch == epochs or now - self._line_at > SECONDS_BETWEEN_LINES
        ):
            err.print(f"{stage}: epoch {state.epoch}/{epochs}  {news}")
            self._line_at = now

    def within(self, stage: str, fraction: float) -> None:
        """Show how far the single epoch of `stage` is."""
        self._bars.update(self._bar(stage, 1), completed=fraction, news="solving")

    def _bar(self, stage: str, epochs: int) -> TaskID:
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=epochs, news="")
            self._began = self._last
        return self._tasks[stage]

    @staticmethod
    def _news(state: TrainingState) -> str:
        if not state.history:
            return ""
        loss = min(state.history["loss"][-1], key=lambda x: (math.isnan(x), x))
        top1 = max(state.history["top1"][-1], key=lambda x: (not math.isnan(x), x))
        return f"loss {loss:.2e}  validation {top1:.2f} %"


@contextlib.contextmanager
def fraction_bar(description: str) -> Iterator[Callable[[float], None]]:
    """A bar on standard error; what is yielded is told the fraction done."""
    columns = (
        TextColumn("{task.description}", markup=False),  # it may hold the name of a file
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bars:
        bar = bars.add_task(description, total=1.0)
        yield lambda fraction: bars.update(bar, completed=fraction)
