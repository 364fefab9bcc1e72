"""Who does the jobs: this process, or a cluster."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Protocol

import torch

from entrain.data import ImageDataset
from entrain.training import Stage, TrainingState
from entrain_paper.experiments import Measurement, Values
from entrain_paper.reproduction.folder import Job, ResultsFolder
from entrain_paper.reproduction.queue import Inputs, Queue
from entrain_paper.reproduction.worker import Worker


class Watcher(Protocol):
    """Who is told how far a job is."""

    def begin(self, job: Job) -> None:
        """A job was begun."""

    def epoch(self, stage: Stage, state: TrainingState) -> None:
        """An epoch of a stage is over, or a stage goes on from a saved state."""

    def fraction(self, job: Measurement, fraction: float) -> None:
        """How far a measurement is."""

    def end(self, job: Job) -> None:
        """A job was finished."""


class Engine(Protocol):
    """Does all the jobs of a queue."""

    def run(self, queue: Queue, watcher: Watcher) -> None:
        """Until nothing is left to do."""


class ThisProcess:
    """One job after the other, here."""

    def __init__(self, dataset: Callable[[str], ImageDataset], device: torch.device) -> None:
        self._worker = Worker(dataset, device)

    def run(self, queue: Queue, watcher: Watcher) -> None:
        """Until nothing is left to do."""
        while (job := queue.claim()) is not None:
            watcher.begin(job)
            inputs = queue.inputs(job)
            if isinstance(job, Measurement):
                queue.finish(job, self._measure(job, inputs, watcher))
            else:
                queue.finish(job, self._train(job, inputs, queue.folder, watcher))
            watcher.end(job)

    def _train(
        self, stage: Stage, inputs: Inputs, folder: ResultsFolder, watcher: Watcher
    ) -> bytes:
        began = time.monotonic() - inputs.saved_seconds
        if inputs.saved is not None:
            watcher.epoch(stage, inputs.saved)

        def after(state: TrainingState) -> None:
            folder.save_state(stage, state, time.monotonic() - began)
            watcher.epoch(stage, state)

        return self._worker.train(stage, inputs.needs, inputs.saved, inputs.saved_seconds, after)

    def _measure(self, job: Measurement, inputs: Inputs, watcher: Watcher) -> Values:
        tell = functools.partial(watcher.fraction, job)
        return self._worker.measure(job, inputs.needs, inputs.headers, tell)
