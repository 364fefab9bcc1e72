"""What is to be done, in an order in which everything is there when it is needed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from entrain.experiments import Experiment, Measurement, Setting, Values
from entrain.learning import DirectStage, TeacherStage, TrainingState
from entrain.reproduction.folder import ResultsFolder, Work
from entrain.reproduction.work import with_needs

SECONDS_BETWEEN_LOOKS = 0.5  # at what other processes have finished


@dataclass(frozen=True)
class Inputs:
    """What a piece of work starts from: the states it needs by key, and its own if interrupted."""

    needs: dict[str, TrainingState]
    seconds: dict[str, float]
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
        self.all: dict[str, Work] = {}
        for experiment in experiments:
            measurement = Measurement(experiment, setting)
            if folder.finished(measurement):
                continue  # what it was measured of is not needed again
            for work in (*with_needs(measurement.needs), measurement):
                self.all.setdefault(work.key, work)
        self.done = {key for key, work in self.all.items() if folder.finished(work)}
        self.already_done = frozenset(self.done)

    @property
    def pending(self) -> list[Work]:
        """What is neither finished nor being worked on here."""
        return [w for k, w in self.all.items() if k not in self.done and k not in self._held]

    def claim(self, *, wait: bool = True) -> Work | None:
        """Work to do now; None when all is finished or, unless `wait`, when there is none now."""
        while True:
            for work in self.pending:
                if not all(need.key in self.done for need in work.needs):
                    continue
                if self._hold(work):
                    return work
            if not wait or not self.pending:
                return None
            time.sleep(SECONDS_BETWEEN_LOOKS)
            self._look()

    def inputs(self, work: Work) -> Inputs:
        """What `work` starts from, read from the folder."""
        # A measurement also reads the teachers of its students, and times of all it rests on.
        measuring = isinstance(work, Measurement)
        needs, seconds = dict[str, TrainingState](), dict[str, float]()
        for stage in with_needs(work.needs) if measuring else work.needs:
            kept = self.folder.state(stage)
            assert kept is not None, f"{stage.key} is finished but not in {self.folder.stages}"
            needs[stage.key], seconds[stage.key] = kept[0], float(kept[1]["seconds"])
        if isinstance(work, Measurement):
            return Inputs(needs, seconds)
        begun = self.folder.state(work)
        if begun is None:
            return Inputs(needs, seconds)
        return Inputs(needs, seconds, begun[0], float(begun[1].get("seconds", 0.0)))

    def finish(self, work: Work, outcome: bytes | Values) -> None:
        """Keep the outcome of claimed work."""
        if isinstance(work, Measurement):
            assert isinstance(outcome, dict)
            self.folder.keep_result(work, outcome)
        else:
            assert isinstance(outcome, bytes)
            self.folder.keep_state(work, outcome)
        self.done.add(work.key)
        self.release(work)

    def release(self, work: Work) -> None:
        """Let claimed work go."""
        self._held.pop(work.key).close()

    def close(self) -> None:
        """Let everything go."""
        for stack in self._held.values():
            stack.close()
        self._held.clear()

    def _hold(self, work: Work) -> bool:
        stack = contextlib.ExitStack()
        if not stack.enter_context(self.folder.claim(work)):
            stack.close()
            return False
        if self.folder.finished(work):  # by another process, since we looked
            stack.close()
            self.done.add(work.key)
            return False
        self._held[work.key] = stack
        return True

    def _look(self) -> None:
        for work in self.pending:
            if self.folder.finished(work):
                self.done.add(work.key)


def cost(work: Work) -> float:
    """Roughly how long work takes, in no unit: for the time that is left."""
    if isinstance(work, Measurement):
        return {"temperature": 60.0, "refinement": 20.0}.get(work.experiment.name, 3.0)
    if isinstance(work, TeacherStage):
        return 0.05 * work.epochs * (1 + 0.2 * work.lanes)
    through_time = isinstance(work, DirectStage) or bool(work.protocol.endpoint_weight)
    return 0.05 * work.epochs * (0.5 + work.lanes * work.hidden / 64) * (4.0 if through_time else 1)
