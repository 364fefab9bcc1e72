"""A Ray cluster: connection, resources of a task, and results."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Any

from entrain.utils.errors import InputError, missing_extra

SECONDS_TO_CONNECT = 10.0

# CPUs of a task, or all of the smallest node if it has fewer. Ray gives a worker as many OpenMP
# threads as its task has CPUs, and the kernels use as many. Since stages wait for one another,
# there are often fewer of them than CPUs: a small node computes one at a time with all its CPUs, a
# larger node several side by side, which gains more than further threads.
CPUS_PER_TASK = 4


@contextlib.contextmanager
def connection(address: str | None) -> Iterator[Any]:
    """The module `ray`, connected; a cluster that was started here is stopped at the end."""
    # Ray reads these variables at import.
    if address is None:
        # Without the first, Ray on Linux replaces 127.0.0.1 by the network address of the machine.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    else:  # if another program listens there, Ray would try twenty times, 40 s each
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "1")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise missing_extra("Ray", "cluster") from error
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is None:
            quiet |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
            ray.init(address="local", **quiet)
            nodes: list[dict[str, Any]] = ray.nodes()
            if any(node["NodeManagerAddress"] != "127.0.0.1" for node in nodes):
                ray.shutdown()
                raise InputError(
                    "Ray was imported before Entrain could restrict it to this machine: set "
                    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 before the import, or give an address"
                )
        else:
            _require_listener(address)
            ray.init(address=address, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        if address is None:
            raise
        raise InputError(
            f"{address}: no Ray cluster can be reached there ({error}); "
            "expected HOST:PORT of a running cluster"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()  # only disconnects from a cluster at `address`


def _require_listener(address: str) -> None:
    """Check the port first: Ray would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_CONNECT).close()


def _resources(ray: Any, name: str) -> list[float]:
    """Number of CPUs or GPUs of each node that has any."""
    counts = (node["Resources"].get(name, 0.0) for node in ray.nodes() if node["Alive"])
    return [count for count in counts if count >= 1]


def slots(ray: Any, task: dict[str, int]) -> int:
    """Number of tasks with these resources that the cluster has room for, at least one."""
    if "num_gpus" in task:
        counts = [int(count) for count in _resources(ray, "GPU")]
    else:
        counts = [int(count // task["num_cpus"]) for count in _resources(ray, "CPU")]
    return max(1, sum(counts))


def task_resources(ray: Any, device: str) -> tuple[str, dict[str, int]]:
    """The device of the workers, cpu or cuda, and the resources of a task."""
    gpus = bool(_resources(ray, "GPU"))
    if device == "cuda" and not gpus:
        raise InputError("device 'cuda' is not available: the Ray cluster has no GPUs; use cpu")
    if gpus and device != "cpu":
        return "cuda", {"num_cpus": 1, "num_gpus": 1}
    return "cpu", {"num_cpus": int(min([CPUS_PER_TASK, *_resources(ray, "CPU")]))}
