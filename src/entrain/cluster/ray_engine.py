"""Tasks computed by the workers of a Ray cluster.

What tasks share reaches the workers through Ray's object store, and results come back to this
process: the nodes share no disk and need no dataset files.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

import entrain
from entrain.cluster.engine import R, S, T
from entrain.cluster.ray_connection import (
    check_device,
    connection,
    result_of,
    slots,
    task_resources,
)
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError


class RayEngine:
    """Each task as a task of a Ray cluster.

    A task whose worker or node dies is computed again; an error of the task itself is raised here
    as it was raised there.

    Parameters
    ----------
    address : str, optional
        HOST:PORT of a cluster that runs; without it Ray is started on this machine, listening on
        127.0.0.1 alone, and stopped at the end.
    device : str, default "auto"
        auto, cpu or cuda: Ray gives every task a GPU of its own where there are any.
    retries : int, default 3
        How often a task is computed again.
    """

    def __init__(self, address: str | None = None, device: str = "auto", retries: int = 3) -> None:
        check_device(device)
        self._address, self._device, self._retries = address, device, retries

    @contextlib.contextmanager
    def workers(self) -> Iterator[Workers]:
        """The workers of the cluster, connected.

        Leaving early ends the tasks that run: Ray kills the workers of a driver that is gone.
        """
        with connection(self._address) as ray:
            yield Workers(ray, self._device, self._retries)

    def map(
        self,
        function: Callable[[S, T, torch.device], R],
        shared: S,
        tasks: Sequence[T],
        title: Callable[[T], str] = str,
    ) -> Iterator[tuple[T, R]]:
        """See `Engine.map`; the order is that in which tasks end."""
        with self.workers() as workers:
            reference = workers.put(shared)
            waiting, running = deque(tasks), dict[Any, T]()
            while waiting or running:
                while waiting and len(running) < workers.slots:
                    task = waiting.popleft()
                    running[workers.submit(title(task), function, reference, task)] = task
                for each in workers.wait(running):
                    task = running.pop(each)
                    yield task, workers.result(each, title(task))


class Workers:
    """A connected cluster: objects in its store, and tasks on its nodes."""

    def __init__(self, ray: Any, device: str, retries: int) -> None:
        self._ray, self._retries = ray, retries
        self._device, self._resources = task_resources(ray, device)
        self._remote = ray.remote(max_retries=retries, **self._resources)(_compute)

    @property
    def slots(self) -> int:
        """The number of tasks for which the cluster has room now, at least one."""
        return slots(self._ray, self._resources)

    def put(self, value: object) -> Any:
        """A reference to a value in the object store, which tasks receive as the value."""
        return self._ray.put(value)

    def submit(self, title: str, function: Callable[..., Any], *arguments: object) -> Any:
        """A reference to the result of function(*arguments, device) on a worker."""
        task = self._remote.options(name=title)
        return task.remote(entrain.__version__, self._device, function, *arguments)

    def wait(self, references: Iterable[Any], timeout: float | None = None) -> list[Any]:
        """The references whose tasks have ended, at least one unless `timeout` seconds pass."""
        ended: list[Any] = self._ray.wait(list(references), timeout=timeout)[0]
        return ended

    def result(self, reference: Any, title: str) -> Any:
        """The result of a task that has ended; its error is raised."""
        return result_of(self._ray, reference, title, self._retries)


def _compute(version: str, device: str, function: Callable[..., Any], *arguments: object) -> Any:
    """Compute a task, on a worker."""
    if version != entrain.__version__:
        raise InputError(
            f"a worker of the Ray cluster has entrain {entrain.__version__}, this process "
            f"{version}: install the same version on every node"
        )
    return function(*arguments, choose_device(device))
