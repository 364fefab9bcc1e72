"""What is to be done, in an order in which everything is there when it is needed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from entrain.experiments import Experiment, Measurement, Setting, Values
from entrain.learning import TrainingState
from entrain.reproduction.folder import Job, ResultsFolder
from entrain.reproduction.worker import with_needs

SECONDS_BETWEEN_LOOKS = 0.5  # at what other processes have finished


@dataclass(frozen=True)
class Inputs:
    """What a job starts from: the states it needs and their headers by key, and its own state if
    interrupted."""

    needs: dict[str, TrainingState]
    headers: dict[str, Values]
    saved: TrainingState | None = None
    saved_seconds: float = 0.0


class Queue:
    """The work of some experiments that is not finished, shared with other processes.

    `claim` hands out work whose needs are met and that no other process holds; `finish` keeps its
    outcome in the folder and lets it go.
    """

    def __init__(
        self, folder: ResultsFolder, experiments: Sequence[Experiment], setting: Setting
    ) -> None:
        self.folder = folder
        self._held: dict[str, contextlib.ExitStack] = {}
        self.all: dict[str, Job] = {}
        for experiment in experiments:
            measurement = Measurement(experiment, setting)
            if folder.finished(measurement):
                continue  # what it was measured of is not needed again
            jobs: list[Job] = [*with_needs(measurement.needs), measurement]
            for job in jobs:
                self.all.setdefault(job.key, job)
        self.done = {key for key, job in self.all.items() if folder.finished(job)}
        self.already_done = frozenset(self.done)

    @property
    def pending(self) -> list[Job]:
        """What is neither finished nor being worked on here."""
        return [w for k, w in self.all.items() if k not in self.done and k not in self._held]

    def claim(self, *, wait: bool = True) -> Job | None:
        """A job to do now; None when all is finished or, unless `wait`, when there is none now."""
        while True:
            for job in self.pending:
                if not all(need.key in self.done for need in job.needs):
                    continue
                if self._hold(job):
                    return job
            if not wait or not self.pending:
                return None
            time.sleep(SECONDS_BETWEEN_LOOKS)
            self._look()

    def inputs(self, job: Job) -> Inputs:
        """What `job` starts from, read from the folder."""
        # A measurement also reads the teachers of its students, and where all were trained.
        measuring = isinstance(job, Measurement)
        needs, headers = dict[str, TrainingState](), dict[str, Values]()
        for stage in with_needs(job.needs) if measuring else job.needs:
            kept = self.folder.state(stage)
            assert kept is not None, f"{stage.key} is finished but not in {self.folder.stages}"
            needs[stage.key], headers[stage.key] = kept
        if isinstance(job, Measurement):
            return Inputs(needs, headers)
        begun = self.folder.state(job)
        if begun is None:
            return Inputs(needs, headers)
        return Inputs(needs, headers, begun[0], float(begun[1].get("seconds", 0.0)))

    def finish(self, job: Job, outcome: bytes | Values) -> None:
        """Keep the outcome of a claimed job."""
        if isinstance(job, Measurement):
            assert isinstance(outcome, dict)
            self.folder.keep_result(job, outcome)
        else:
            assert isinstance(outcome, bytes)
            self.folder.keep_state(job, outcome)
        self.done.add(job.key)
        self.release(job)

    def release(self, job: Job) -> None:
        """Let claimed work go."""
        self._held.pop(job.key).close()

    def close(self) -> None:
        """Let everything go."""
        for stack in self._held.values():
            stack.close()
        self._held.clear()

    def _hold(self, job: Job) -> bool:
        stack = contextlib.ExitStack()
        if not stack.enter_context(self.folder.claim(job)):
            stack.close()
            return False
        if self.folder.finished(job):  # by another process, since we looked
            stack.close()
            self.done.add(job.key)
            return False
        self._held[job.key] = stack
        return True

    def _look(self) -> None:
        for job in self.pending:
            if self.folder.finished(job):
                self.done.add(job.key)


def cost(job: Job) -> float:
    """Roughly how long work takes, in no unit: for the time that is left."""
    if isinstance(job, Measurement):
        return {"temperature": 60.0, "refinement": 20.0}.get(job.experiment.name, 3.0)
    size = 0.5 + job.lanes * job.network.hidden / 64
    return 0.05 * job.epochs * size * job.rule.cost
