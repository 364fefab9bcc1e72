"""A real Ray cluster of several nodes, and its workers, for tests that kill them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

if not os.access("/dev/shm", os.W_OK):
    pytest.skip("Ray needs shared memory: /dev/shm cannot be written", allow_module_level=True)
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # nodes on 127.0.0.1; read at the import
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
ray = pytest.importorskip("ray", reason="Ray is not installed (the extra `cluster`)")
import psutil  # noqa: E402  Ray brings it
from ray.cluster_utils import Cluster  # noqa: E402


@functools.cache
def start_cluster() -> Cluster:
    """A head that does no work, until this process ends."""
    head = {
        "num_cpus": 0,
        "node_ip_address": "127.0.0.1",
        "include_dashboard": False,
        # A dead node is soon known to be dead, and workers do not step back for other processes.
        "_system_config": {"health_check_period_ms": 500, "worker_niceness": 0},
    }
    cluster = Cluster(initialize_head=True, head_node_args=head)
    atexit.register(cluster.shutdown)
    return cluster


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """One cluster with two nodes of one CPU, for all test files of this process."""
    cluster = start_cluster()
    for _ in range(2 - len(cluster.worker_nodes)):
        cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    return cluster


def workers_on(*nodes: Any) -> list[tuple[str, psutil.Process]]:
    """The workers of nodes, each with what it says it is doing."""
    found = []
    for node in nodes:
        raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
        for worker in raylet.children():
            with contextlib.suppress(psutil.Error, IndexError):
                found.append((worker.cmdline()[0].removeprefix("ray::"), worker))
    return found


def wait_for(find: Callable[[], Any], seconds: float = 240.0) -> Any:
    """What `find` finds, as soon as it finds something."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := find():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain")
