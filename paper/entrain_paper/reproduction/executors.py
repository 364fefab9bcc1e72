"""Execution of jobs in this process, and the interface that the Ray executor shares with it."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Protocol

import torch

from entrain.data import ImageDataset
from entrain.training import Stage, TrainingState
from entrain_paper.experiments import Measurement
from entrain_paper.reproduction.folder import Job
from entrain_paper.reproduction.queue import Inputs, Queue
from entrain_paper.reproduction.worker import Worker


class Callbacks(Protocol):
    """Callbacks for the progress of jobs."""

    def begin(self, job: Job) -> None:
        """A job begins."""

    def epoch(self, stage: Stage, state: TrainingState) -> None:
        """An epoch of a stage has ended, or the stage continues from a saved state."""

    def fraction(self, job: Measurement, fraction: float) -> None:
        """A fraction of a measurement is done."""

    def end(self, job: Job) -> None:
        """A job has ended."""


class Executor(Protocol):
    """Computes all jobs of a queue."""

    def run(self, queue: Queue, callbacks: Callbacks) -> None:
        """Compute jobs until none is left."""


class LocalExecutor:
    """Computes one job after the other in this process."""

    def __init__(self, dataset: Callable[[str], ImageDataset], device: torch.device) -> None:
        self._worker = Worker(dataset, device)

    def run(self, queue: Queue, callbacks: Callbacks) -> None:
        """Compute jobs until none is left."""
        while (job := queue.claim()) is not None:
            callbacks.begin(job)
            inputs = queue.inputs(job)
            if isinstance(job, Measurement):
                on_progress = functools.partial(callbacks.fraction, job)
                result = self._worker.measure(job, inputs.needs, inputs.headers, on_progress)
                queue.finish(job, result)
            else:
                queue.finish(job, self._train(job, inputs, queue, callbacks))
            callbacks.end(job)

    def _train(self, stage: Stage, inputs: Inputs, queue: Queue, callbacks: Callbacks) -> bytes:
        began = time.monotonic() - inputs.saved_seconds
        if inputs.saved is not None:
            callbacks.epoch(stage, inputs.saved)

        def on_epoch(state: TrainingState) -> None:
            queue.folder.save_state(stage, state, time.monotonic() - began)
            callbacks.epoch(stage, state)

        return self._worker.train(stage, inputs.needs, inputs.saved, inputs.saved_seconds, on_epoch)
