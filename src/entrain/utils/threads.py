"""Threads that leave a busy machine to others: how many there are, and how they wait.

PyTorch computes with a team of OpenMP threads. Between two operations they wait for the next one
in a busy loop, which on an idle machine saves microseconds, and on a busy one takes the cores from
whoever has work: the same training then burns ten times the CPU time. `settle` makes them sleep,
and limits their number to what the container lets the process use. What a user has set stays.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from pathlib import Path

_CHOICES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")  # how to wait, as users say it
_COUNTS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_PARALLEL = 2**18  # numbers that PyTorch does not leave to one thread


def configure_threads() -> None:
    """Say how threads wait and how many there are, before PyTorch's first parallel operation."""
    loaded = "torch" in sys.modules
    if not any(name in os.environ for name in _CHOICES):
        os.environ["OMP_WAIT_POLICY"] = "passive"  # read when PyTorch is loaded
        if loaded:
            _disable_spinning()
    share = cpu_share()
    if share < _allowed() and not any(name in os.environ for name in _COUNTS):
        os.environ["OMP_NUM_THREADS"] = str(share)
        if loaded:
            _at_most(share)


def cpu_share(root: Path = Path("/sys/fs/cgroup"), group: Path = Path("/proc/self/cgroup")) -> int:
    """CPUs this process may use: its affinity, less where its control groups have a quota.

    A quota of 150 ms in 100 ms counts as two CPUs.
    """
    quotas = [_allowed(), *_quotas(root, group)]
    return max(1, math.ceil(min(quotas)))


def _allowed() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas(root: Path, group: Path) -> list[float]:
    """The quotas, in CPUs, of the process's group and of those around it (versions 2 and 1)."""
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
    """The quota of one control group, infinite where there is none."""
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


def _disable_spinning() -> None:
    """Make the threads of a PyTorch that was loaded before us sleep while they wait.

    GNU's OpenMP has read its settings by then, but it stops spinning where it has more threads
    than there are cores. So a thread of ours starts a second team, and both sleep for good.
    """
    import torch

    if not sys.platform.startswith("linux") or torch.get_num_threads() < 2:
        return
    started = threading.Event()

    def keep_a_team() -> None:
        try:
            torch.zeros(_PARALLEL, device="cpu").exp_()
        finally:
            started.set()
        threading.Event().wait()

    threading.Thread(target=keep_a_team, name="entrain-quiet", daemon=True).start()
    started.wait()


def _at_most(share: int) -> None:
    """No more PyTorch threads than `share`, where their number is the one that it chose itself."""
    import torch

    if torch.get_num_threads() == _allowed():
        torch.set_num_threads(share)
