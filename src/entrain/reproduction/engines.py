"""Who does the work: this process, or a cluster."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Protocol

import torch

from entrain.data import Dataset
from entrain.experiments import Measurement, Values
from entrain.learning import Stage, TrainingState
from entrain.reproduction.folder import ResultsFolder, Work
from entrain.reproduction.queue import Inputs, Queue
from entrain.reproduction.work import Bench


class Watcher(Protocol):
    """Who is told how far the work is."""

    def begin(self, work: Work) -> None:
        """Work was begun."""

    def epoch(self, stage: Stage, state: TrainingState) -> None:
        """An epoch of a stage is over, or a stage goes on from a saved state."""

    def fraction(self, work: Measurement, fraction: float) -> None:
        """How far a measurement is."""

    def end(self, work: Work) -> None:
        """Work was finished."""


class Engine(Protocol):
    """Does all the work of a queue."""

    def run(self, queue: Queue, watcher: Watcher) -> None:
        """Until nothing is left to do."""


class ThisProcess:
    """One piece of work after the other, here."""

    def __init__(self, dataset: Callable[[str], Dataset], device: torch.device) -> None:
        self._bench = Bench(dataset, device)

    def run(self, queue: Queue, watcher: Watcher) -> None:
        """Until nothing is left to do."""
        while (work := queue.claim()) is not None:
            watcher.begin(work)
            inputs = queue.inputs(work)
            if isinstance(work, Measurement):
                queue.finish(work, self._measure(work, inputs, watcher))
            else:
                queue.finish(work, self._train(work, inputs, queue.folder, watcher))
            watcher.end(work)

    def _train(
        self, stage: Stage, inputs: Inputs, folder: ResultsFolder, watcher: Watcher
    ) -> bytes:
        began = time.monotonic() - inputs.saved_seconds
        if inputs.saved is not None:
            watcher.epoch(stage, inputs.saved)

        def after(state: TrainingState) -> None:
            folder.save_state(stage, state, time.monotonic() - began)
            watcher.epoch(stage, state)

        return self._bench.train(stage, inputs.needs, inputs.saved, inputs.saved_seconds, after)

    def _measure(self, work: Measurement, inputs: Inputs, watcher: Watcher) -> Values:
        tell = functools.partial(watcher.fraction, work)
        return self._bench.measure(work, inputs.needs, inputs.seconds, tell)
