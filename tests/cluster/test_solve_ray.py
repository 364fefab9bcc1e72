"""Ising problems on Ray: runs and chips are those of one process."""

from __future__ import annotations

import networkx
import pytest
from ray_cluster import Cluster
from ray_cluster import cluster as cluster

from entrain import solve
from entrain.cluster import RayEngine
from entrain.ising import Annealing, MaxCut, chip_yield

PROBLEM = MaxCut(networkx.random_regular_graph(3, 40, seed=1))
QUICK = Annealing(steps=200)


def test_runs_on_ray_are_those_of_one_process(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrain.ising.batch.LARGEST", 8)
    here, there = (
        solve(PROBLEM, restarts=20, annealing=QUICK, engine=engine)
        for engine in (None, RayEngine(cluster.address, device="cpu"))
    )
    assert len(there.batches) == 3
    assert there.values == here.values
    assert there.value == here.value


def test_chips_on_ray_are_those_of_one_process(cluster: Cluster) -> None:
    here, there = (
        chip_yield(PROBLEM, "lo-2023", chips=12, restarts=3, annealing=QUICK, engine=engine)
        for engine in (None, RayEngine(cluster.address, device="cpu"))
    )
    assert there.runs == here.runs
