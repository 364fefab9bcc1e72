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
from torch import Tensor

_SPARE_NUMBERS = 2**26

# Called by a thread with its own scratch memory: the function that does one piece of the work.
Worker = Callable[[], Callable[[int], None]]


def in_threads(count: int, worker: Worker) -> None:
    """Do the pieces 0 .. count - 1 of some work, each by whichever thread is free."""
    indices = itertools.count()

    def run() -> None:
        work = worker()
        while (index := next(indices)) < count:
            work(index)

    others = [_pool().submit(run) for _ in range(min(torch.get_num_threads(), count) - 1)]
    run()
    for other in others:
        other.result()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="entrain")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def scratch(*shape: int) -> Any:
    """Zeros by NumPy. PyTorch would fill them with a team of OpenMP threads, which goes on spinning
    for a while: in a worker it would slow down all of PyTorch, before the work the workers."""
    return np.zeros(shape, dtype=np.float32)


class Tape:
    """What a rollout writes down for its adjoint: the state and the diagonal of every step.

    In NumPy arrays: states (tiles, R, K + 1, 16 P) and diagonals (tiles, R, K, 8 P).
    """

    def __init__(self, tiles: int, runs: int, steps: int, rows: int) -> None:
        states = tiles * runs * (steps + 1) * 16 * rows
        diagonals = tiles * runs * steps * 8 * rows
        buffer = _spare.take(states + diagonals)
        numbers = buffer.numpy()
        self.states = numbers[:states].reshape(tiles, runs, steps + 1, 16 * rows)
        self.diagonals = numbers[states:][:diagonals].reshape(tiles, runs, steps, 8 * rows)
        # The buffer goes back when nobody can read the tape any more.
        weakref.finalize(self, _spare.give, buffer).atexit = False


class _Spare:
    """One buffer kept for the next tape: fresh pages cost a good part of a training step.

    A PyTorch tensor, because its memory begins at a cache line.
    """

    def __init__(self) -> None:
        self._kept = torch.empty(0)
        self._lock = threading.Lock()

    def take(self, numbers: int) -> Tensor:
        with self._lock:
            kept, self._kept = self._kept, torch.empty(0)
        return kept if len(kept) >= numbers else torch.empty(numbers)

    def give(self, buffer: Tensor) -> None:
        with self._lock:
            if len(self._kept) < len(buffer) <= _SPARE_NUMBERS:
                self._kept = buffer


_spare = _Spare()
