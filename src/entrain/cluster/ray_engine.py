"""Computation of tasks by the workers of a Ray cluster.

Ray's object store sends shared objects to the workers and results to this process: the nodes need
no common disk and no dataset files.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

import entrain
from entrain.cluster.engine import R, S, T
from entrain.cluster.ray_connection import connection, slots, task_resources
from entrain.utils.device import choose_device
from entrain.utils.errors import InputError


class RayEngine:
    """Computes each task as a task of a Ray cluster.

    A task whose worker or node dies is computed again; an error of the task itself is raised here.

    Args:
        address: HOST:PORT of a running cluster; without it Ray is started on this machine, listens
            on 127.0.0.1 only, and is stopped at the end.
        device: auto, cpu or cuda; Ray assigns a GPU to each task where there are any.
        retries: Number of times that a task is computed again.
    """

    def __init__(self, address: str | None = None, device: str = "auto", retries: int = 3) -> None:
        if device not in ("auto", "cpu", "cuda"):
            raise InputError(
                f"device {device!r} cannot be requested from a cluster: expected auto, cpu or cuda "
                "(Ray assigns a GPU to each task)"
            )
        self._address, self._device, self._retries = address, device, retries

    @contextlib.contextmanager
    def workers(self) -> Iterator[Workers]:
        """The workers of the cluster; an early exit kills the running tasks."""
        with connection(self._address) as ray:
            yield Workers(ray, self._device, self._retries)

    def map(
        self,
        function: Callable[[S, T, torch.device], R],
        shared: S,
        tasks: Sequence[T],
        title: Callable[[T], str] = str,
    ) -> Iterator[tuple[T, R]]:
        """See `Engine.map`."""
        with self.workers() as workers:
            reference = workers.put(shared)
            waiting, running = deque(tasks), dict[Any, T]()
            while waiting or running:
                while waiting and len(running) < workers.slots:
                    task = waiting.popleft()
                    running[workers.submit(title(task), function, reference, task)] = task
                for finished in workers.wait(running):
                    task = running.pop(finished)
                    yield task, workers.result(finished, title(task))


class Workers:
    """A connected cluster: objects in its store, and tasks on its nodes."""

    def __init__(self, ray: Any, device: str, retries: int) -> None:
        self._ray, self._retries = ray, retries
        self._device, self._resources = task_resources(ray, device)
        self._remote = ray.remote(max_retries=retries, **self._resources)(_compute)

    @property
    def slots(self) -> int:
        """Number of tasks that the cluster has room for now, at least one."""
        return slots(self._ray, self._resources)

    def put(self, value: object) -> Any:
        """A reference to a value in the object store; tasks receive the value."""
        return self._ray.put(value)

    def submit(self, title: str, function: Callable[..., Any], *arguments: object) -> Any:
        """A reference to the result of function(*arguments, device) on a worker."""
        remote = self._remote.options(name=title).remote
        return remote(entrain.__version__, self._device, function, *arguments)

    def wait(self, references: Iterable[Any], timeout: float | None = None) -> list[Any]:
        """References of finished tasks, at least one unless `timeout` seconds pass."""
        finished: list[Any] = self._ray.wait(list(references), timeout=timeout)[0]
        return finished

    def result(self, reference: Any, title: str) -> Any:
        """The result of a finished task; its error is raised."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            raise InputError(
                f"{title}: the Ray cluster gave up after {self._retries} retries; the same command "
                f"continues from the stored results ({error})"
            ) from error


def _compute(version: str, device: str, function: Callable[..., Any], *arguments: object) -> Any:
    """Compute a task, on a worker."""
    if version != entrain.__version__:
        raise InputError(
            f"a worker of the Ray cluster has entrain {entrain.__version__}, this process "
            f"{version}: install the same version on every node"
        )
    return function(*arguments, choose_device(device))
