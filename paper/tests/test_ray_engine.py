"""Work on a real Ray cluster of several nodes, whose nodes and workers are killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from ray_cluster import Cluster, psutil, ray, wait_for, workers_on
from ray_cluster import cluster as cluster

from command_line import cli, environment
from entrain.data import ImageDataset, load_dataset
from entrain.training import DivergedError, Stage, TrainingState
from entrain.utils.errors import InputError
from entrain_paper.experiments import EXPERIMENTS, TINY, Setting
from entrain_paper.reproduction import Job, LocalExecutor, Queue, ResultsFolder
from entrain_paper.reproduction.ray_executor import RayExecutor
from stage_origins import assert_trained, trained_elsewhere

# As many threads as a worker of one CPU has, so that sums are equal to the last digit.
pytestmark = pytest.mark.usefixtures("one_thread")

NAMES = ("teachers", "multiseed")
SETTING = replace(TINY, teacher_epochs=2, path_epochs=1, endpoint_epochs=1)
# Whose PATH stages take long enough to be killed, much longer than they take to be found.
LONG = replace(SETTING, path_epochs=40)
FEW = ("teachers", "training-protocols")
PATH = re.compile(r".*-path-[0-9a-f]{16}$")


@dataclass
class Log:
    """A watcher that counts; `on_begin` is called with it."""

    begun: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    on_begin: Callable[[], None] = lambda: None

    def begin(self, job: Job) -> None:
        self.begun[job.key] += 1
        self.on_begin()

    def epoch(self, job: Job, state: TrainingState) -> None:
        pass

    def fraction(self, job: Job, fraction: float) -> None:
        pass

    def end(self, job: Job) -> None:
        self.ended[job.key] += 1


def folder_in(path: Path) -> ResultsFolder:
    folder = ResultsFolder(path)
    folder.create()
    return folder


def queue_in(path: Path, setting: Setting = SETTING, names: tuple[str, ...] = NAMES) -> Queue:
    return Queue(folder_in(path), [EXPERIMENTS[name] for name in names], setting)


def done_here(queue: Queue) -> Path:
    """What one process makes of it."""
    LocalExecutor(load_dataset, torch.device("cpu")).run(queue, Log())
    return queue.folder.path


def values(path: Path) -> dict[str, Any]:
    return {name: result["values"] for name, result in ResultsFolder(path).results().items()}


def stage_files(path: Path) -> set[str]:
    return {file.name for file in (path / "stages").glob("*.safetensors")}


def assert_same(path: Path, expected: Path) -> None:
    assert values(path)
    assert values(path) == values(expected)
    assert stage_files(path) == stage_files(expected)


def paths_on(*nodes: Any) -> dict[str, psutil.Process]:
    """The workers of nodes that train a PATH stage, by its key."""
    return {name: worker for name, worker in workers_on(*nodes) if PATH.match(name)}


def teachers_in(path: Path) -> dict[str, int]:
    """When each teacher was kept."""
    return {
        file.name: file.stat().st_mtime_ns
        for file in path.glob("stages/[!.]*-teacher-*.safetensors")
    }


class InBackground(threading.Thread):
    """An engine at work while a test kills something."""

    def __init__(self, engine: RayExecutor, queue: Queue) -> None:
        super().__init__(daemon=True)
        self.engine, self.queue, self.log = engine, queue, Log()
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self.engine.run(self.queue, self.log)
        except BaseException as error:
            self.error = error

    def assert_each_once(self) -> None:
        assert self.log.begun == self.log.ended == Counter(dict.fromkeys(self.queue.all, 1))

    def finish(self) -> None:
        self.join(480)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return done_here(queue_in(tmp_path_factory.mktemp("here")))


@pytest.fixture(scope="module")
def expected_of_long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return done_here(queue_in(tmp_path_factory.mktemp("long"), LONG, FEW))


def test_two_nodes_find_what_one_process_finds(
    cluster: Cluster, expected: Path, tmp_path: Path
) -> None:
    loaded: Counter[str] = Counter()

    def load(name: str) -> ImageDataset:
        loaded[name] += 1
        return load_dataset(name)

    queue, log = queue_in(tmp_path), Log()
    RayExecutor(load, cluster.address).run(queue, log)
    assert_same(tmp_path, expected)
    assert log.begun == log.ended == Counter(dict.fromkeys(queue.all, 1))
    assert loaded == {"mnist-small": 1, "fashion-mnist-small": 1}  # once, and only here
    assert not ray.is_initialized()


def test_the_command_works_on_a_cluster_and_on_a_ray_of_its_own(
    cluster: Cluster, tmp_path: Path
) -> None:
    for name, place in (("there", ["--address", cluster.address]), ("here", [])):
        options = ["--size", "tiny", "--engine", "ray", *place, "--out", tmp_path / name]
        done = cli("reproduce", "teachers", *options, "--device", "cpu")
        assert done.returncode == 0, done.stderr
        assert "measure teachers" in done.stderr
    assert values(tmp_path / "there").keys() == values(tmp_path / "here").keys() == {"teachers"}


@pytest.mark.slow  # test_yield_ray.py kills a worker, and the test below a node
def test_a_killed_worker_costs_only_its_stage(
    cluster: Cluster, expected_of_long: Path, tmp_path: Path
) -> None:
    run = InBackground(RayExecutor(load_dataset, cluster.address), queue_in(tmp_path, LONG, FEW))
    nodes = list(cluster.worker_nodes)
    key, worker = next(iter(wait_for(lambda: paths_on(*nodes)).items()))
    before = teachers_in(tmp_path)
    os.kill(worker.pid, signal.SIGKILL)
    again = wait_for(lambda: (w := paths_on(*nodes).get(key)) and w.pid != worker.pid and w)
    assert again.is_running()
    run.finish()
    run.assert_each_once()
    assert before
    assert before.items() <= teachers_in(tmp_path).items()
    assert_same(tmp_path, expected_of_long)


def others(cluster: Cluster) -> list[Any]:
    """The worker nodes but the one that this process is connected to, which Ray does not remove."""
    own = ray._private.worker._global_node
    return [
        node
        for node in cluster.worker_nodes
        if own is None or node.raylet_socket_name != own.raylet_socket_name
    ]


def test_the_work_of_a_killed_node_is_done_by_the_other(
    cluster: Cluster, expected_of_long: Path, tmp_path: Path
) -> None:
    run = InBackground(RayExecutor(load_dataset, cluster.address), queue_in(tmp_path, LONG, FEW))
    node = wait_for(lambda: next((n for n in others(cluster) if paths_on(n)), None))
    (key,), before = paths_on(node), teachers_in(tmp_path)
    cluster.remove_node(node, allow_graceful=False)
    try:
        wait_for(lambda: key in paths_on(*cluster.worker_nodes))
        run.finish()
    finally:
        cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    run.assert_each_once()
    assert before
    assert before.items() <= teachers_in(tmp_path).items()
    assert_same(tmp_path, expected_of_long)


@pytest.mark.slow
def test_a_killed_driver_goes_on_with_what_was_finished(cluster: Cluster, tmp_path: Path) -> None:
    there = tmp_path / "there"
    place = ["--engine", "ray", "--address", cluster.address, "--device", "cpu"]
    command = ["reproduce", *NAMES, "--size", "tiny", *place, "--out", str(there)]
    driver = subprocess.Popen(
        [sys.executable, "-m", "entrain", *command],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        before = wait_for(lambda: teachers_in(there))
        assert driver.poll() is None
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait(60)
    assert "multiseed" not in values(there)
    done = cli(*command)
    assert done.returncode == 0, done.stderr
    assert before.items() <= teachers_in(there).items()
    assert_same(there, done_here(queue_in(tmp_path / "here", TINY)))


def test_a_worker_that_always_dies_ends_the_run(cluster: Cluster, tmp_path: Path) -> None:
    queue = queue_in(tmp_path, replace(LONG, path_epochs=1_000_000))
    run = InBackground(RayExecutor(load_dataset, cluster.address, retries=0), queue)
    key, worker = next(iter(wait_for(lambda: paths_on(*cluster.worker_nodes)).items()))
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(InputError, match=f"^{queue.all[key].title}: the Ray cluster gave up"):
        run.finish()


def test_an_error_of_the_work_arrives_as_it_is_and_lets_the_claims_go(
    cluster: Cluster, tmp_path: Path
) -> None:
    def stages(setting: Setting) -> list[Stage]:
        good = setting.teacher("MNIST")
        return [good, replace(good, rule=replace(good.rule, learning_rate=1e30))]

    experiment = replace(EXPERIMENTS["teachers"], stages=stages)
    endless = replace(SETTING, teacher_epochs=1_000_000)
    queue = Queue(folder_in(tmp_path), [experiment], endless)
    with pytest.raises(InputError, match=r"^teacher: the loss became non-finite") as caught:
        RayExecutor(load_dataset, cluster.address).run(queue, Log())
    assert type(caught.value) is DivergedError
    other = Queue(folder_in(tmp_path), [experiment], endless)
    assert {other.claim(wait=False), other.claim(wait=False)} == set(stages(endless))
    other.close()


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_what_runs_and_lets_the_claims_go(
    cluster: Cluster, tmp_path: Path
) -> None:
    nodes, endless, log = list(cluster.worker_nodes), replace(LONG, path_epochs=1_000_000), Log()
    seen: list[Any] = []

    def interrupt() -> None:  # in any case: what is interrupted never ends by itself
        with contextlib.suppress(AssertionError):
            seen.append(wait_for(lambda: paths_on(*nodes)))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        RayExecutor(load_dataset, cluster.address).run(queue_in(tmp_path, endless), log)
    assert seen, "no worker began a PATH stage"
    wait_for(lambda: not paths_on(*nodes))
    assert not ray.is_initialized()
    other = queue_in(tmp_path, endless)
    claimed = set()
    while (job := other.claim(wait=False)) is not None:
        claimed.add(job.key)
    unfinished = log.begun - log.ended
    assert unfinished
    assert unfinished.keys() <= claimed
    other.close()


def test_a_worker_is_told_where_the_stages_were_trained(
    cluster: Cluster, expected: Path, tmp_path: Path
) -> None:
    shutil.copytree(expected / "stages", tmp_path / "stages")
    moved, stayed = (SETTING.teacher(name) for name in ("MNIST", "Fashion-MNIST"))
    trained_elsewhere(folder_in(tmp_path), moved)
    RayExecutor(load_dataset, cluster.address).run(queue_in(tmp_path, names=("teachers",)), Log())
    assert_trained(folder_in(tmp_path).results()["teachers"], moved, stayed)


@pytest.mark.slow
def test_an_interrupted_stage_goes_on_from_its_last_epochs(
    cluster: Cluster, expected: Path, tmp_path: Path
) -> None:
    class Impatient(Log):
        def epoch(self, job: Job, state: TrainingState) -> None:
            raise KeyboardInterrupt

    queue = queue_in(tmp_path)
    stage = next(iter(queue.all.values()))
    with pytest.raises(KeyboardInterrupt):
        LocalExecutor(load_dataset, torch.device("cpu")).run(queue, Impatient())
    queue.close()
    kept = queue.folder.state(stage)
    assert kept is not None
    assert kept[0].epoch == 1
    ResultsFolder(tmp_path).save_state(stage, kept[0], seconds=1000.0)
    RayExecutor(load_dataset, cluster.address).run(queue_in(tmp_path), Log())
    finished = queue.folder.state(stage)
    assert finished is not None
    assert finished[1]["seconds"] > 1000
    assert_same(tmp_path, expected)


def test_a_ray_of_its_own_listens_to_this_machine_only_and_is_gone_afterwards(
    tmp_path: Path,
) -> None:
    heard: set[str] = set()
    processes: set[psutil.Process] = set()
    others = set(psutil.Process().children(recursive=True))

    def listen() -> None:
        processes.update(set(psutil.Process().children(recursive=True)) - others)
        for process in (psutil.Process(), *processes):
            for each in process.net_connections("inet"):
                if each.status == psutil.CONN_LISTEN:
                    heard.add(each.laddr.ip.removeprefix("::ffff:"))

    queue = queue_in(tmp_path, names=("preprocessing",))
    RayExecutor(load_dataset).run(queue, Log(on_begin=listen))
    assert values(tmp_path)
    assert processes
    assert heard == {"127.0.0.1"}
    assert not psutil.wait_procs(list(processes), timeout=120)[1]


def test_an_address_where_nothing_listens_is_refused_soon(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and never listens
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(InputError, match=f"^{address}: no Ray cluster"):
            RayExecutor(load_dataset, address).run(queue_in(tmp_path), Log())
    assert time.monotonic() - began < 40  # Ray itself would try for many times that


def test_a_name_that_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^nonsense: no Ray cluster"):
        RayExecutor(load_dataset, "nonsense").run(queue_in(tmp_path), Log())


def test_gpus_a_cluster_does_not_have_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no GPUs"):
        RayExecutor(load_dataset, cluster.address, "cuda").run(queue_in(tmp_path), Log())
    with pytest.raises(InputError, match="'cuda:1'"):
        RayExecutor(load_dataset, cluster.address, "cuda:1")


def test_without_ray_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install '\.\[cluster\]' adds it"):
        RayExecutor(load_dataset).run(queue_in(tmp_path), Log())
