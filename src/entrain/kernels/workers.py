"""Threads for the CPU kernels, and the memory they work in."""

from __future__ import annotations

import functools
import itertools
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

_LARGEST_SPARE = 2**28  # float32 values: 1 GiB, as much as a tape takes
_CACHE_LINE = 64

# Called once in each thread: allocates scratch memory, returns the function of one task.
Worker = Callable[[], Callable[[int], None]]


def in_threads(count: int, worker: Worker) -> None:
    """Run the tasks 0 .. count - 1 in PyTorch's number of threads."""
    indices = itertools.count()

    def run() -> None:
        work = worker()
        while (index := next(indices)) < count:
            work(index)

    futures = [_pool().submit(run) for _ in range(min(torch.get_num_threads(), count) - 1)]
    run()
    for future in futures:
        future.result()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="entrain")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


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
