"""Threads sleep while they wait, and their number is limited to the CPUs of the process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from command_line import threads
from entrain.kernels import workers
from entrain.utils.threads import cpu_share

# 400 parallel operations with a pause after each; CPU seconds of all threads of the process.
_PAUSES = """
import time, torch
numbers = torch.zeros(2**17)
numbers.exp()
began = time.process_time()
for _ in range(400):
    numbers.exp()
    time.sleep(0.002)
print(time.process_time() - began)
"""
_CHOICES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OMP_NUM_THREADS")


def python(code: str, **environment: str) -> str:
    """The output of `code` in a new process whose environment does not configure threads."""
    inherited = {name: value for name, value in os.environ.items() if name not in _CHOICES}
    done = subprocess.run(
        [sys.executable, "-c", code], env=inherited | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


several_cores = pytest.mark.skipif(
    sys.platform != "linux" or cpu_share() < 2, reason="needs Linux and two cores"
)


# The first rollout configures the threads of a PyTorch that was loaded before.
_ROLLOUT = """
from entrain.kernels import rollout
from entrain.physics import Dynamics, PhaseModel
rollout(PhaseModel(torch.zeros(1, 1, 3), torch.zeros(1, 3, 3)), Dynamics(steps=1))
"""


@several_cores
def test_waiting_threads_sleep_whichever_is_imported_first() -> None:
    waiting = {"import entrain", f"import torch, entrain\n{_ROLLOUT}"}
    spinning: list[float] = []
    for _ in range(4):  # on a busy machine spinning threads may not get the time to spin
        spinning.append(float(python(_PAUSES, OMP_WAIT_POLICY="active")))
        quiet = {imports: float(python(f"{imports}\n{_PAUSES}")) for imports in waiting}
        waiting = {imports for imports, took in quiet.items() if took >= max(spinning) / 2}
        if not waiting:
            return
    raise AssertionError(f"{quiet} against {spinning}")


def test_import_after_pytorch_changes_no_environment_and_starts_no_thread() -> None:
    code = (
        "import os, threading, torch; environment = dict(os.environ); import entrain;"
        "print(dict(os.environ) == environment, threading.enumerate() == [threading.main_thread()])"
    )
    assert python(code) == "True True"


@several_cores
@pytest.mark.parametrize("kernels", ["auto", "reference"])
def test_first_rollout_starts_a_daemon_thread_if_pytorch_was_imported_first(kernels: str) -> None:
    names = "import threading; print([t.name for t in threading.enumerate()])"
    code = f"{_ROLLOUT}\n{_ROLLOUT}\n{names}"
    output = python(f"import torch, entrain\n{code}", ENTRAIN_KERNELS=kernels)
    assert output.count("entrain-quiet") == 1
    assert "entrain-quiet" not in python(f"import entrain, torch\n{code}", ENTRAIN_KERNELS=kernels)


@several_cores
@pytest.mark.parametrize("imports", ["torch, entrain", "entrain, torch"])
def test_first_rollout_limits_the_threads_of_pytorch(imports: str) -> None:
    code = (
        f"import {imports}; from entrain.utils import threads;"
        f"threads.cpu_share = lambda: 1\n{_ROLLOUT}\nprint(torch.get_num_threads())"
    )
    assert python(code) == "1"


def test_import_takes_less_than_a_tenth_of_a_second() -> None:
    code = (
        "import time; start = time.process_time(); import entrain;"
        "print(time.process_time() - start)"
    )
    assert min(float(python(code)) for _ in range(3)) < 0.1


@pytest.mark.parametrize("name", ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"])
def test_settings_of_the_user_take_precedence(name: str) -> None:
    code = f"import entrain, os; print(os.environ.get({name!r}), os.environ['OMP_WAIT_POLICY'])"
    chosen = {"OMP_WAIT_POLICY": "active"} | {name: "active" if "POLICY" in name else "7"}
    assert python(code, **chosen) == f"{chosen[name]} active"


@several_cores
def test_affinity_limits_the_threads() -> None:
    code = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); import entrain, torch;"
        "from entrain.utils.threads import cpu_share; print(cpu_share(), torch.get_num_threads())"
    )
    assert python(code) == "1 1"


def groups(folder: Path, line: str, **files: str) -> tuple[Path, Path]:
    """A synthetic tree of control groups, and the file that names the group of the process."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "self").write_text(line)
    return folder, folder / "self"


@pytest.mark.skipif(cpu_share() < 2, reason="needs two cores")
def test_quotas_of_control_groups_limit_the_threads(tmp_path: Path) -> None:
    def share(name: str, line: str, **files: str) -> int:
        return cpu_share(*groups(tmp_path / name, line, **files))

    unlimited = cpu_share(tmp_path, tmp_path / "none")
    assert unlimited == len(os.sched_getaffinity(0))
    assert share("one", "0::/\n", cpu_DOT_max="100000 100000\n") == 1
    assert share("half", "0::/\n", cpu_DOT_max="50000 100000\n") == 1
    assert share("more", "0::/\n", cpu_DOT_max="150000 100000\n") == 2
    assert share("none", "0::/\n", cpu_DOT_max="max 100000\n") == unlimited
    assert share("odd", "0::/\n", cpu_DOT_max="lots\n") == unlimited
    assert share("parent", "0::/a/b\n", a__cpu_DOT_max="100000 100000\n") == 1
    assert share("sibling", "0::/a/b\n", c__cpu_DOT_max="100000 100000\n") == unlimited
    version1 = {"cpu__cpu_DOT_cfs_quota_us": "100000\n", "cpu__cpu_DOT_cfs_period_us": "100000\n"}
    assert share("first", "4:memory:/\n1:cpu:/\n", **version1) == 1
    off = version1 | {"cpu__cpu_DOT_cfs_quota_us": "-1\n"}
    assert share("off", "1:cpu:/\n", **off) == unlimited


def test_callers_in_several_threads_share_the_cores() -> None:
    lock, running, most = threading.Lock(), 0, 0

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    with threads(4):
        workers.in_threads(8, lambda: work)
        assert most == 4  # a single caller has them all
        callers = [
            threading.Thread(target=workers.in_threads, args=(8, lambda: work)) for _ in range(4)
        ]
        most = 0
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert most <= 4


def test_a_caller_inside_another_has_its_thread() -> None:
    def outer(_: int) -> None:
        workers.in_threads(2, lambda: lambda _: time.sleep(0.001))  # it must not wait for itself

    with threads(2):
        workers.in_threads(4, lambda: outer)


def test_processes_side_by_side_inherit_no_number_of_threads() -> None:
    code = (
        "import os, entrain; from entrain.utils import threads; threads.cpu_share = lambda: 1;"
        "threads.configure_environment(); print(os.environ.get('OMP_NUM_THREADS'))"
    )
    assert python(code) == "None"


# Processes of cross_validate, times the threads that PyTorch and the kernels use in each.
_JOBS = """
import os, joblib, torch
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_validate
from entrain.sklearn import KuramotoClassifier
scoring = {"process": lambda *_: os.getpid(), "threads": lambda *_: torch.get_num_threads()}
for n_jobs in (2, -1):
    scores = cross_validate(
        KuramotoClassifier(hidden=4, epochs=1), *load_iris(return_X_y=True), cv=4, n_jobs=n_jobs,
        scoring=scoring, error_score="raise",
    )
    assert os.getpid() not in scores["test_process"]
    print(joblib.effective_n_jobs(n_jobs) * int(max(scores["test_threads"])))
"""


@several_cores
def test_processes_times_threads_of_n_jobs_are_at_most_the_cores() -> None:
    products = python(_JOBS).split()
    assert len(products) == 2
    assert all(int(product) <= cpu_share() for product in products)
