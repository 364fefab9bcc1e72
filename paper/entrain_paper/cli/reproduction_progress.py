"""Progress of a reproduction on standard error: all the job, and the piece at hand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from entrain.cli.console import err

if TYPE_CHECKING:
    from entrain.training import Stage, TrainingState
    from entrain_paper.experiments import Measurement
    from entrain_paper.reproduction import Job, Queue


class ReproductionProgress:
    """A bar over all pending work with the time left, and one for each piece being worked on."""

    def __init__(self, queue: Queue) -> None:
        from entrain_paper.reproduction.queue import cost

        self._queue, self._cost = queue, cost
        self._total = sum(cost(w) for k, w in queue.all.items() if k not in queue.already_done)
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<44}", markup=False),
            BarColumn(bar_width=12),
            TextColumn("{task.fields[news]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=err,
            disable=not err.is_terminal,
            speed_estimate_period=900,
        )
        self._all = self._bars.add_task("everything", total=self._total, news="")
        self._pieces: dict[str, tuple[TaskID, float]] = {}
        self._fractions: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        self._update()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, job: Job) -> None:
        """Show a bar for `job`."""
        bar = self._bars.add_task(job.title, total=1.0, news="")
        self._pieces[job.key] = (bar, time.monotonic())
        self._update()

    def epoch(self, stage: Stage, state: TrainingState) -> None:
        """Show how far a stage is, and how accurate on validation; say at its end which runs
        collapsed."""
        from entrain.training import collapsed

        top1 = max((v for v in state.history["top1"][-1] if v == v), default=float("nan"))
        news = f"{state.epoch}/{stage.epochs} {top1:5.2f} %"
        self._show(stage, state.epoch / stage.epochs, news)
        if state.epoch == stage.epochs and (failed := collapsed(state)):
            places = (
                stage.runs if len(stage.runs) == state.parallel_runs else range(state.parallel_runs)
            )
            runs = ", ".join(str(places[run]) for run in failed)
            said = f"{stage.title}: run {runs} collapsed and ends far below its best"
            err.print(said, soft_wrap=True)

    def fraction(self, job: Measurement, fraction: float) -> None:
        """Show how far a measurement is."""
        self._show(job, fraction, "")

    def _show(self, job: Job, fraction: float, news: str) -> None:
        self._bars.update(self._pieces[job.key][0], completed=fraction, news=news)
        self._fractions[job.key] = fraction
        self._update()

    def end(self, job: Job) -> None:
        """Remove the bar of `job`; without a terminal, write a line."""
        bar, began = self._pieces.pop(job.key)
        self._fractions.pop(job.key, None)
        self._bars.remove_task(bar)
        self._update()
        if not err.is_terminal:
            done, count = len(self._queue.done), len(self._queue.all)
            seconds = time.monotonic() - began
            err.print(f"{done}/{count}  {job.title}  {seconds:.1f} s", soft_wrap=True)

    def _update(self) -> None:
        queue = self._queue
        done = sum(
            self._cost(queue.all[key]) for key in queue.done if key not in queue.already_done
        )
        done += sum(self._cost(queue.all[key]) * f for key, f in self._fractions.items())
        news = f"{len(queue.done)}/{len(queue.all)} done"
        self._bars.update(self._all, completed=done, news=news)
