"""Progress of a reproduction on standard error: all jobs, and each running job."""

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
    """A bar over all unfinished jobs with the remaining time, and one for each running job."""

    def __init__(self, queue: Queue) -> None:
        from entrain_paper.reproduction.queue import cost

        self._queue = queue
        unfinished = queue.all.keys() - queue.already_done
        self._costs = {key: cost(queue.all[key]) for key in queue.all if key in unfinished}
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<44}", markup=False),
            BarColumn(bar_width=12),
            TextColumn("{task.fields[status]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=err,
            disable=not err.is_terminal,
            speed_estimate_period=900,
        )
        total = sum(self._costs.values())
        self._all_jobs = self._bars.add_task("all jobs", total=total, status="")
        self._running: dict[str, tuple[TaskID, float]] = {}
        self._fractions: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        self._update_total()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, job: Job) -> None:
        """Show a bar for `job`."""
        bar = self._bars.add_task(job.title, total=1.0, status="")
        self._running[job.key] = (bar, time.monotonic())
        self._update_total()

    def epoch(self, stage: Stage, state: TrainingState) -> None:
        """Show epoch and validation accuracy of a stage; at its end, name collapsed runs."""
        from entrain.training import collapsed_runs

        top1 = max((v for v in state.history["top1"][-1] if v == v), default=float("nan"))
        status = f"{state.epoch}/{stage.epochs} {top1:5.2f} %"
        self._update(stage, state.epoch / stage.epochs, status)
        if state.epoch == stage.epochs and (failed := collapsed_runs(state)):
            count = state.parallel_runs
            names = stage.runs if len(stage.runs) == count else range(count)
            runs = ", ".join(str(names[run]) for run in failed)
            warning = f"{stage.title}: run {runs} collapsed and ends far below its best"
            err.print(warning, soft_wrap=True)

    def fraction(self, job: Measurement, fraction: float) -> None:
        """Show the fraction of a measurement that is done."""
        self._update(job, fraction, "")

    def end(self, job: Job) -> None:
        """Remove the bar of `job`; without a terminal, print a line."""
        bar, began = self._running.pop(job.key)
        self._fractions.pop(job.key, None)
        self._bars.remove_task(bar)
        self._update_total()
        if not err.is_terminal:
            done, count = len(self._queue.done), len(self._queue.all)
            seconds = time.monotonic() - began
            err.print(f"{done}/{count}  {job.title}  {seconds:.1f} s", soft_wrap=True)

    def _update(self, job: Job, fraction: float, status: str) -> None:
        self._bars.update(self._running[job.key][0], completed=fraction, status=status)
        self._fractions[job.key] = fraction
        self._update_total()

    def _update_total(self) -> None:
        fractions = self._fractions | dict.fromkeys(self._queue.done, 1.0)
        done = sum(self._costs.get(key, 0.0) * part for key, part in fractions.items())
        status = f"{len(self._queue.done)}/{len(self._queue.all)} done"
        self._bars.update(self._all_jobs, completed=done, status=status)
