"""Threads that share a busy machine: their number, and how they wait.

PyTorch computes with a team of OpenMP threads. Between two operations they wait in a busy loop,
which saves microseconds on an idle machine, and takes the cores from other processes on a busy one:
the same training then takes ten times the CPU time. Here they sleep instead, and their number is at
most the CPUs of the container. Settings of the user take precedence.
"""

from __future__ import annotations

import functools
import math
import os
import sys
import threading
from pathlib import Path

_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
_COUNTS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_PARALLEL = 2**18  # elements of a tensor that PyTorch shares out to threads

_torch_was_loaded = False


def configure_environment() -> None:
    """Set OMP_WAIT_POLICY, which PyTorch reads when it is loaded; nothing if it is loaded already.

    The number of threads is left to `configure_threads`: processes that are started side by side,
    as with n_jobs, would inherit OMP_NUM_THREADS, and each take all threads.
    """
    global _torch_was_loaded
    _torch_was_loaded = "torch" in sys.modules
    if _torch_was_loaded:
        return
    if not _is_set(_WAITING):
        os.environ["OMP_WAIT_POLICY"] = "passive"


def configure_threads() -> None:
    """Limit PyTorch's threads at first use, and let those sleep that were loaded before Entrain."""
    _configure(threading.get_ident())


@functools.cache
def _configure(_thread: int) -> None:
    """`configure_threads` once in each thread, as PyTorch has a number of threads for each."""
    import torch

    if _torch_was_loaded and not _is_set(_WAITING):
        _disable_spinning()
    share = cpu_share()
    if share < _allowed() == torch.get_num_threads() and not _is_set(_COUNTS):
        torch.set_num_threads(share)


def _use_one_thread() -> None:
    """Keep PyTorch to one thread in a forked process, where it would wait for ever for the others,
    which do not exist."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_use_one_thread)


def _is_set(names: tuple[str, ...]) -> bool:
    return any(name in os.environ for name in names)


def cpu_share(root: Path = Path("/sys/fs/cgroup"), group: Path = Path("/proc/self/cgroup")) -> int:
    """CPUs of this process: its affinity, or the quota of its control groups if that is less.

    A quota of 150 ms in 100 ms counts as two CPUs.
    """
    quotas = [_allowed(), *_quotas(root, group)]
    return max(1, math.ceil(min(quotas)))


def _allowed() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas(root: Path, group: Path) -> list[float]:
    """The quotas, in CPUs, of the process's group and its parents (versions 2 and 1)."""
    try:
        lines = [line.split(":", 2) for line in group.read_text().splitlines()]
    except OSError:
        return []
    quotas = []
    for _, controllers, path in (line for line in lines if len(line) == 3):
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = root / controllers if controllers else root
        inside = top / path.strip("/")
        for folder in (inside, *inside.parents):
            if folder == top or top in folder.parents:
                quotas.append(_quota(folder))
    return quotas


def _quota(folder: Path) -> float:
    """The quota of a control group, in CPUs; infinite without one."""
    try:
        if (folder / "cpu.max").exists():
            used, period = (folder / "cpu.max").read_text().split()
        else:
            used = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        quota = int(used) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max"
        return math.inf
    return quota if quota > 0 else math.inf


@functools.cache
def _disable_spinning() -> None:
    """Make the threads of a loaded PyTorch sleep while they wait.

    GNU's OpenMP has read its settings by then, but it does not spin if it has more threads than
    there are cores. A daemon thread starts a second team, and both sleep until the process ends.
    """
    import torch

    if not sys.platform.startswith("linux") or torch.get_num_threads() < 2:
        return
    started = threading.Event()

    def hold_team() -> None:
        try:
            torch.zeros(_PARALLEL, device="cpu").exp_()
        finally:
            started.set()
        threading.Event().wait()

    threading.Thread(target=hold_team, name="entrain-quiet", daemon=True).start()
    started.wait()
