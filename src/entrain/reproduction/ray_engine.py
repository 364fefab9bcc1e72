"""Jobs done by the workers of a Ray cluster.

Datasets and states reach the workers through Ray's object store, outcomes come back to this
process, and it alone writes to the folder: the nodes share no disk and need no dataset files.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import entrain
from entrain.data import ImageDataset
from entrain.device import choose_device
from entrain.experiments import Measurement, Values
from entrain.learning import pack_state, unpack_state
from entrain.reproduction.engines import Watcher
from entrain.reproduction.folder import Job
from entrain.reproduction.queue import SECONDS_BETWEEN_LOOKS, Queue
from entrain.reproduction.ray_cluster import (
    check_device,
    check_version,
    connection,
    outcome,
    resources_of_a_task,
    slots,
)
from entrain.reproduction.worker import Worker, unpacked


class OnRay:
    """Every job as a task of a Ray cluster.

    `dataset` is called in this process only. Without an `address` a Ray of this machine is started
    for the run and stopped after it. `device` is auto, cpu or cuda. A job whose worker or
    node dies is done again, up to `retries` times; an error of the job itself ends the run.
    """

    def __init__(
        self,
        dataset: Callable[[str], ImageDataset],
        address: str | None = None,
        device: str = "auto",
        retries: int = 3,
    ) -> None:
        check_device(device)
        self._dataset, self._address = dataset, address
        self._device, self._retries = device, retries

    def run(self, queue: Queue, watcher: Watcher) -> None:
        """Until nothing is left to do."""
        with contextlib.closing(queue), connection(self._address) as ray:
            self._run(ray, queue, watcher)

    def _run(self, ray: Any, queue: Queue, watcher: Watcher) -> None:
        device, asked = resources_of_a_task(ray, self._device)
        do = ray.remote(max_retries=self._retries, **asked)(_do)
        datasets: dict[str, Any] = {}  # references to what is in the object store
        running: dict[Any, Job] = {}

        def submit(job: Job) -> Any:
            task = _task(queue, job, device)
            for name in task.datasets:
                if name not in datasets:
                    datasets[name] = ray.put(self._dataset(name))
            return do.options(name=job.key).remote(task, *(datasets[n] for n in task.datasets))

        # When this ends early, disconnecting ends the tasks that run: Ray kills the workers of a
        # driver that is gone. Not ray.cancel, whose race with a task's end aborts this process.
        while True:
            while len(running) < slots(ray, asked):
                job = queue.claim(wait=not running)
                if job is None:
                    break
                watcher.begin(job)
                running[submit(job)] = job
            if not running:
                return
            # Not for ever: another process may finish what work here waits for.
            for each in ray.wait(list(running), timeout=SECONDS_BETWEEN_LOOKS)[0]:
                job = running.pop(each)
                queue.finish(job, outcome(ray, each, job.title, self._retries))
                watcher.end(job)


@dataclass(frozen=True)
class _Task:
    """What a task is told: the states are packed, the datasets come as its other arguments."""

    job: Job
    datasets: tuple[str, ...]
    needs: dict[str, bytes]
    headers: dict[str, Values]
    saved: bytes | None
    saved_seconds: float
    device: str
    version: str = entrain.__version__


def _task(queue: Queue, job: Job, device: str) -> _Task:
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
        device=device,
    )


def _do(task: _Task, *datasets: ImageDataset) -> bytes | Values:
    """One job, on a worker."""
    check_version(task.version)
    job, named = task.job, dict(zip(task.datasets, datasets, strict=True))
    worker, needs = Worker(named.__getitem__, choose_device(task.device)), unpacked(task.needs)
    if isinstance(job, Measurement):
        return worker.measure(job, needs, task.headers)
    saved = None if task.saved is None else unpack_state(task.saved, job.key)[0]
    return worker.train(job, needs, saved, task.saved_seconds)
