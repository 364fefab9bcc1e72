"""Threads for the CPU kernels, and the memory they work in."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np
import torch

from entrain.utils.threads import cpu_share

_LARGEST_SPARE = 2**28  # float32 values: 1 GiB, as much as a tape takes
_CACHE_LINE = 64
_LONGEST_TASK = 60.0  # seconds of a process beside this one, after its result is waited for

# Called once in each thread: allocates scratch memory, returns the function of one task.
Worker = Callable[[], Callable[[int], None]]


class _Threads:
    """Threads that compute at the same time, those of concurrent callers together.

    Callers in several threads, as of a search with n_jobs, share PyTorch's number of threads. Each
    waits until one is free.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = self._callers = 0
        self._local = threading.local()

    @contextlib.contextmanager
    def reserve(self, wanted: int) -> Iterator[int]:
        """A context for one caller; the number of its threads, at most `wanted`.

        A caller inside another's context has the thread that it runs in.
        """
        if self.is_inside():
            yield 1
            return
        limit, count = torch.get_num_threads(), 0
        try:
            with self._changed:
                self._callers += 1
                self._changed.wait_for(lambda: self._busy < limit)
                count = max(1, min(wanted, limit - self._busy, limit // self._callers))
                self._busy += count
            with self.inside():
                yield count
        finally:
            with self._changed:
                self._busy -= count
                self._callers -= 1
                self._changed.notify_all()

    def is_inside(self) -> bool:
        """True in a thread that computes for a caller."""
        return getattr(self._local, "inside", False)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """A context in which this thread computes for a caller."""
        self._local.inside = True
        try:
            yield
        finally:
            self._local.inside = False


_threads = _Threads()


def in_threads(count: int, worker: Worker) -> None:
    """Run the tasks 0 .. count - 1 in at most PyTorch's number of threads."""
    indices = itertools.count()

    def run() -> None:
        work = worker()
        while (index := next(indices)) < count:
            work(index)

    def run_inside() -> None:
        with _threads.inside():
            run()

    with _threads.reserve(count) as threads:
        futures = [_pool().submit(run_inside) for _ in range(threads - 1)]
        run()
        for future in futures:
            future.result()


def together(work: Callable[[int], None], wanted: int) -> None:
    """Call work(0) in this thread and work(1), .. in others, at most `wanted` in all.

    The threads are new ones: those of a pool may be busy, and these may wait for one another.
    """
    errors: list[BaseException] = []

    def run(index: int) -> None:
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    with _threads.reserve(wanted) as count:
        threads = [threading.Thread(target=run, args=(index,)) for index in range(1, count)]
        for thread in threads:
            with contextlib.suppress(RuntimeError):  # no more threads: the others do the work
                thread.start()
        run(0)
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    for error in errors:
        raise error


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="entrain")


def _forget_threads() -> None:
    """A forked process has none of the threads, but may have a lock that one of them held."""
    global _threads
    _threads = _Threads()
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


@contextlib.contextmanager
def forked(task: Callable[[], object]) -> Iterator[None]:
    """A context during which another process, a copy of this one, runs a task: its files remain.

    Nothing is run where that is not safe or gains nothing: a thread beside the main one may have
    company, whose locks the copy would wait for. A task that takes too long is ended.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not sys.platform.startswith("linux") or cpu_share() < 2 or not is_main:
        yield
        return
    with warnings.catch_warnings():  # of other threads: the copy takes no lock that they hold
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _run_and_exit(task)
    try:
        yield
    finally:
        deadline = time.monotonic() + _LONGEST_TASK
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.01)


def _run_and_exit(task: Callable[[], object]) -> NoReturn:
    """Run a task in silence, then end this process without any of its parent's clean-up.

    Open files are closed: locks of a parent that is killed must not wait for its copy.
    """
    try:
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        for _ in range(3):
            os.open(os.devnull, os.O_RDWR)
        task()
    finally:
        os._exit(0)


def scratch(*shape: int) -> Any:
    """Zeros by NumPy: PyTorch's team of OpenMP threads would keep spinning for a while, and slow
    down the workers and PyTorch itself."""
    return np.zeros(shape, dtype=np.float32)


class Tape:
    """State and diagonal of every step of a rollout, for its adjoint.

    NumPy arrays: states (tiles, R, K + 1, 16 P) and diagonals (tiles, R, K, 8 P).
    """

    def __init__(self, tiles: int, runs: int, steps: int, rows: int) -> None:
        states = tiles * runs * (steps + 1) * 16 * rows
        diagonals = tiles * runs * steps * 8 * rows
        buffer = _spare.take(states + diagonals)
        values = buffer[-buffer.ctypes.data % _CACHE_LINE // 4 :]
        self.states = values[:states].reshape(tiles, runs, steps + 1, 16 * rows)
        self.diagonals = values[states:][:diagonals].reshape(tiles, runs, steps, 8 * rows)
        # The buffer can be used again once the tape is garbage.
        weakref.finalize(self, _spare.give, buffer).atexit = False

    def of(self, *index: int) -> tuple[Any, Any]:
        """States and diagonals of a tile (R, ...), or of a tile and a run."""
        return self.states[index], self.diagonals[index]


class _Spare:
    """One buffer for the next tape: fresh pages take a good part of a training step.

    A NumPy array, because NumPy asks for huge pages: small ones take five times the rollout.
    """

    def __init__(self) -> None:
        self._buffer = scratch(0)
        self._lock = threading.Lock()

    def take(self, size: int) -> Any:
        size += _CACHE_LINE // 4
        with self._lock:
            buffer, self._buffer = self._buffer, scratch(0)
        return buffer if len(buffer) >= size else np.empty(size, dtype=np.float32)

    def give(self, buffer: Any) -> None:
        with self._lock:
            if len(self._buffer) < len(buffer) <= _LARGEST_SPARE:
                self._buffer = buffer


_spare = _Spare()
