"""A Ray cluster: connecting to one, what a task of it may use, and how it answers."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Any

from entrain.utils.errors import InputError

SECONDS_TO_CONNECT = 10.0

# Of one task, or all CPUs of the smallest node where it has fewer. Ray gives a worker as many
# OpenMP threads as its task has CPUs, and our kernels take as many. Stages wait for one another, so
# that there are often fewer of them than CPUs: a node of few CPUs does one at a time with all of
# them, a larger one several side by side, which gains more than further threads.
CPUS_PER_TASK = 4


def check_device(device: str) -> None:
    """Refuse a device that cannot be asked of a cluster."""
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(
            f"device {device!r} cannot be asked of a cluster: expected auto, cpu or cuda "
            "(Ray gives every task a GPU of its own)"
        )


@contextlib.contextmanager
def connection(address: str | None) -> Iterator[Any]:
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


def slots(ray: Any, asked: dict[str, int]) -> int:
    """How many tasks the cluster has room for now, at least one."""
    kind = "GPU" if "num_gpus" in asked else "CPU"
    each = 1 if kind == "GPU" else asked["num_cpus"]
    return max(1, sum(int(count // each) for count in _resources(ray, kind)))


def task_resources(ray: Any, device: str) -> tuple[str, dict[str, int]]:
    """The device of the workers, cpu or cuda, and what Ray is asked for each task."""
    gpus = bool(_resources(ray, "GPU"))
    if device == "cuda" and not gpus:
        raise InputError("device 'cuda' is not available: the Ray cluster has no GPUs; use cpu")
    if gpus and device != "cpu":
        return "cuda", {"num_cpus": 1, "num_gpus": 1}
    return "cpu", {"num_cpus": int(min([CPUS_PER_TASK, *_resources(ray, "CPU")]))}


def result_of(ray: Any, reference: Any, title: str, retries: int) -> Any:
    """The result of a task; its error is raised as on the worker."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise InputError(
            f"{title}: the Ray cluster gave up after {retries} retries; the same command "
            f"continues from what was kept ({error})"
        ) from error
