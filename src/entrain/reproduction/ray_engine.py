"""Jobs done by the workers of a Ray cluster.

Datasets and states reach the workers through Ray's object store, outcomes come back to this
process, and it alone writes to the folder: the nodes share no disk and need no dataset files.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import entrain
from entrain.data import ImageDataset
from entrain.device import choose_device
from entrain.errors import InputError
from entrain.experiments import Measurement, Values
from entrain.learning import pack_state, unpack_state
from entrain.reproduction.engines import Watcher
from entrain.reproduction.folder import Job
from entrain.reproduction.queue import SECONDS_BETWEEN_LOOKS, Queue
from entrain.reproduction.worker import Worker, unpacked

SECONDS_TO_CONNECT = 10.0

# Of one task, or all CPUs of the smallest node where it has fewer. Ray gives a worker as many
# OpenMP threads as its task has CPUs, and our kernels take as many. Stages wait for one another, so
# that there are often fewer of them than CPUs: a node of few CPUs does one at a time with all of
# them, a larger one several side by side, which gains more than further threads.
CPUS_PER_TASK = 4


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
        if device not in ("auto", "cpu", "cuda"):
            raise InputError(
                f"device {device!r} cannot be asked of a cluster: expected auto, cpu or cuda "
                "(Ray gives every task a GPU of its own)"
            )
        self._dataset, self._address = dataset, address
        self._device, self._retries = device, retries

    def run(self, queue: Queue, watcher: Watcher) -> None:
        """Until nothing is left to do."""
        with contextlib.closing(queue), _connection(self._address) as ray:
            self._run(ray, queue, watcher)

    def _run(self, ray: Any, queue: Queue, watcher: Watcher) -> None:
        device = self._device_of(ray)
        if device == "cuda":
            asked = {"num_cpus": 1, "num_gpus": 1}
        else:
            asked = {"num_cpus": int(min([CPUS_PER_TASK, *_resources(ray, "CPU")]))}
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
            while len(running) < _slots(ray, asked):
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
                queue.finish(job, self._outcome(ray, job, each))
                watcher.end(job)

    def _device_of(self, ray: Any) -> str:
        gpus = bool(_resources(ray, "GPU"))
        if self._device == "cuda" and not gpus:
            raise InputError("device 'cuda' is not available: the Ray cluster has no GPUs; use cpu")
        return "cuda" if gpus and self._device != "cpu" else "cpu"

    def _outcome(self, ray: Any, job: Job, reference: Any) -> bytes | Values:
        try:
            outcome: bytes | Values = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error  # as it was raised on the worker
        except ray.exceptions.RayError as error:
            raise InputError(
                f"{job.title}: the Ray cluster gave up after {self._retries} retries; what is "
                f"finished is kept, the same command goes on from it ({error})"
            ) from error
        return outcome


@dataclass(frozen=True)
class _Task:
    """What a task is told: the states are packed, the datasets come as its other arguments."""

    job: Job
    datasets: tuple[str, ...]
    needs: dict[str, bytes]
    seconds: dict[str, float]
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
        seconds=inputs.seconds,
        saved=None if inputs.saved is None else pack_state(inputs.saved, {}),
        saved_seconds=inputs.saved_seconds,
        device=device,
    )


def _do(task: _Task, *datasets: ImageDataset) -> bytes | Values:
    """One job, on a worker."""
    if task.version != entrain.__version__:
        raise InputError(
            f"a worker of the Ray cluster has entrain {entrain.__version__}, this process "
            f"{task.version}: install the same version on every node"
        )
    job, named = task.job, dict(zip(task.datasets, datasets, strict=True))
    worker, needs = Worker(named.__getitem__, choose_device(task.device)), unpacked(task.needs)
    if isinstance(job, Measurement):
        return worker.measure(job, needs, task.seconds)
    saved = None if task.saved is None else unpack_state(task.saved, job.key)[0]
    return worker.train(job, needs, saved, task.saved_seconds)


@contextlib.contextmanager
def _connection(address: str | None) -> Iterator[Any]:
    """The module `ray`, connected; a Ray that was started here is stopped at the end."""
    # Ray reads these when it is imported.
    if address is None:
        # Without the first (needed on Linux only) it replaces 127.0.0.1 by the address that the
        # machine has in its network.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    else:  # where something else listens it would try twenty times, 40 s each
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "1")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise InputError('Ray is not installed: pip install "entrain[cluster]"') from error
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is None:
            quiet |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
            ray.init(address="local", **quiet)
            if not _on_loopback(ray):
                ray.shutdown()
                raise InputError(
                    "Ray was imported before Entrain could keep it off the network: set "
                    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 before, or give an address"
                )
        else:
            _require_listener(address)
            ray.init(address=address, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        if address is None:
            raise
        raise InputError(
            f"{address}: no Ray cluster can be reached there ({error}); "
            "expected HOST:PORT of one that runs"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()  # no more than disconnects from a cluster that was there


def _require_listener(address: str) -> None:
    """Ask for the port first: Ray goes on trying for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_CONNECT).close()


def _on_loopback(ray: Any) -> bool:
    return all(node["NodeManagerAddress"] == "127.0.0.1" for node in ray.nodes())


def _resources(ray: Any, kind: str) -> list[float]:
    """How many CPUs or GPUs every node has that has any."""
    found = (node["Resources"].get(kind, 0.0) for node in ray.nodes() if node["Alive"])
    return [count for count in found if count >= 1]


def _slots(ray: Any, asked: dict[str, int]) -> int:
    """How many tasks the cluster has room for now, at least one."""
    kind = "GPU" if "num_gpus" in asked else "CPU"
    each = 1 if kind == "GPU" else asked["num_cpus"]
    return max(1, sum(int(count // each) for count in _resources(ray, kind)))
