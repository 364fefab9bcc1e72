"""Chips measured on a real Ray cluster, whose workers are killed."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from ray_cluster import Cluster, psutil, wait_for, workers_on
from ray_cluster import cluster as cluster

from chips import inputs, parameters
from command_line import Invoke, cli, printed
from entrain.cluster import LocalEngine, RayEngine
from entrain.data import Split
from entrain.evaluation.chip_yield import Block, ChipTest, measure_block, yields_of
from entrain.evaluation.chips import blocks
from entrain.hardware import Hardware, Mismatch, preset
from entrain.models.model import Model
from entrain.physics import Dynamics
from entrain.utils.errors import InputError
from test_yield import chip_run as chip_run
from test_yield import model as model
from test_yield import test_set as test_set

# As many threads as a worker of one CPU has.
pytestmark = pytest.mark.usefixtures("one_thread")

KIND = Hardware(mismatch=Mismatch(couplings=0.3, input_weights=0.3))


def long_test() -> ChipTest:
    """Two blocks of it take long enough for one to be killed."""
    return ChipTest(parameters(), Dynamics(1.0, 0.4, 20_000), inputs(), torch.arange(5) % 3)


BLOCKS = [Block(KIND, (0, 1, 2)), Block(KIND, (3, 4))]


def workers(cluster: Cluster, name: str) -> list[psutil.Process]:
    """Those of the cluster that measure these chips."""
    return [worker for doing, worker in workers_on(*cluster.worker_nodes) if doing == name]


def test_a_cluster_computes_the_same_yields_as_one_process(
    cluster: Cluster, model: Model, test_set: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit, however many chips are measured at a time."""
    typical = preset("typical")
    kinds = [typical, typical.only("mismatch")]
    here = yields_of(model, kinds, test_set, chips=10)
    monkeypatch.setattr("entrain.evaluation.chips._ON_A_CPU", 3 * len(test_set))
    assert len(blocks(model.batched_parameters(), range(10), len(test_set))) == 4
    done: list[float] = []
    there = yields_of(
        model,
        kinds,
        test_set,
        chips=10,
        engine=RayEngine(cluster.address, "cpu"),
        on_done=done.extend,
    )
    assert there == here
    assert len(done) == 20


def test_a_killed_worker_is_replaced(cluster: Cluster) -> None:
    test, found = long_test(), {}

    def kill() -> None:
        (worker,) = wait_for(lambda: workers(cluster, "chips 0 to 2"))
        os.kill(worker.pid, signal.SIGKILL)
        killed.append(worker.pid)

    killed: list[int] = []
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = dict(RayEngine(cluster.address, "cpu").map(measure_block, test, BLOCKS))
    killer.join(60)
    assert killed
    assert found == dict(LocalEngine().map(measure_block, test, BLOCKS))


def test_a_worker_that_always_dies_ends_the_measurement(cluster: Cluster) -> None:
    endless = replace(long_test(), dynamics=Dynamics(1.0, 0.4, 10**6))

    def kill() -> None:
        (worker,) = wait_for(lambda: workers(cluster, "chips 0 to 2"))
        os.kill(worker.pid, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    with pytest.raises(InputError, match="chips 0 to 2: the Ray cluster gave up after 0 retries"):
        list(RayEngine(cluster.address, "cpu", retries=0).map(measure_block, endless, BLOCKS))


def test_an_error_of_a_worker_is_raised_unchanged(cluster: Cluster) -> None:
    small = [Block(Hardware(oscillators=3), (0,))]
    with pytest.raises(InputError, match="the network has 12 oscillators, the chip 3"):
        list(RayEngine(cluster.address, "cpu").map(measure_block, long_test(), small))
    with pytest.raises(InputError, match="no GPUs"):
        list(RayEngine(cluster.address, "cuda").map(measure_block, long_test(), small))


def test_the_command_works_on_a_cluster(
    cluster: Cluster, chip_run: Path, tmp_path: Path, invoke: Invoke
) -> None:
    command = ("yield", chip_run, "--chips", 6, "--json")
    place = ("--engine", "ray", "--address", cluster.address, "--device", "cpu")
    done = cli(*command, *place, "--out", tmp_path / "yield.json")
    assert done.returncode == 0, done.stderr
    here = printed(invoke, *command[:-1], "--out", tmp_path / "yield.json")
    alone = printed(invoke, *command[:-1])
    assert here["accuracies"] == alone["accuracies"]
    assert f'"accuracies": {alone["accuracies"]}' in done.stdout
