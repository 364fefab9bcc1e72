"""Execution of jobs by the workers of a Ray cluster.

Only this process reads and writes the folder: Ray's object store sends datasets and states to the
workers and outcomes to this process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from entrain.cluster import RayEngine
from entrain.cluster.queue import SECONDS_BETWEEN_LOOKS
from entrain.cluster.ray_engine import Workers
from entrain.data import ImageDataset
from entrain.training import pack_state, unpack_state
from entrain_paper.experiments import Measurement, Values
from entrain_paper.reproduction.executors import Callbacks
from entrain_paper.reproduction.folder import Job
from entrain_paper.reproduction.queue import Queue
from entrain_paper.reproduction.worker import Worker


class RayExecutor:
    """Computes every job as a task of a Ray cluster; see `entrain.cluster.RayEngine`.

    `dataset` loads a dataset by name, in this process only.
    """

    def __init__(
        self,
        dataset: Callable[[str], ImageDataset],
        address: str | None = None,
        device: str = "auto",
        retries: int = 3,
    ) -> None:
        self._engine = RayEngine(address, device, retries)
        self._dataset = dataset

    def run(self, queue: Queue, callbacks: Callbacks) -> None:
        """Compute jobs until none is left."""
        with contextlib.closing(queue), self._engine.workers() as workers:
            self._run(workers, queue, callbacks)

    def _run(self, workers: Workers, queue: Queue, callbacks: Callbacks) -> None:
        datasets: dict[str, Any] = {}  # references in the object store
        running: dict[Any, Job] = {}

        def submit(job: Job) -> Any:
            task = _task(queue, job)
            for name in task.datasets:
                if name not in datasets:
                    datasets[name] = workers.put(self._dataset(name))
            return workers.submit(job.key, _compute, task, *(datasets[n] for n in task.datasets))

        while True:
            while len(running) < workers.slots:
                job = queue.claim(wait=not running)
                if job is None:
                    break
                callbacks.begin(job)
                running[submit(job)] = job
            if not running:
                return
            # The timeout is for prerequisites that another process finishes.
            for finished in workers.wait(running, SECONDS_BETWEEN_LOOKS):
                job = running.pop(finished)
                queue.finish(job, workers.result(finished, job.title))
                callbacks.end(job)


@dataclass(frozen=True)
class _Task:
    """A job with its states packed; the datasets are separate arguments."""

    job: Job
    datasets: tuple[str, ...]
    needs: dict[str, bytes]
    headers: dict[str, Values]
    saved: bytes | None
    saved_seconds: float


def _task(queue: Queue, job: Job) -> _Task:
    inputs = queue.inputs(job)
    if isinstance(job, Measurement):
        datasets = tuple(dict.fromkeys(dict(job.setting.datasets).values()))
    else:
        datasets = (job.dataset,)
    return _Task(
        job=job,
        datasets=datasets,
        needs={key: pack_state(state, {}) for key, state in inputs.needs.items()},
        headers=inputs.headers,
        saved=None if inputs.saved is None else pack_state(inputs.saved, {}),
        saved_seconds=inputs.saved_seconds,
    )


def _compute(task: _Task, *arguments: Any) -> bytes | Values:
    """Outcome of one job, on a worker; `arguments` are its datasets and the device."""
    datasets, device = arguments[:-1], arguments[-1]
    assert isinstance(device, torch.device)
    by_name = dict(zip(task.datasets, datasets, strict=True))
    job, worker = task.job, Worker(by_name.__getitem__, device)
    needs = {key: unpack_state(content, key)[0] for key, content in task.needs.items()}
    if isinstance(job, Measurement):
        return worker.measure(job, needs, task.headers)
    saved = None if task.saved is None else unpack_state(task.saved, job.key)[0]
    return worker.train(job, needs, saved, task.saved_seconds)
