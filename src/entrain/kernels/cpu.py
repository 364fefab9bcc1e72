"""Rollouts and their adjoint for float32 tensors on the CPU, compiled by Numba.

Signatures and definitions are those of `reference`; the arithmetic is in `tiles`. PyTorch's number
of threads take tiles of eight samples one by one, and every sum is taken in an order that the
number of threads does not change.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import struct
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.kernels import reference
from entrain.kernels.reference import Pullback
from entrain.physics import INITIAL_PHASE, Dynamics, Noise

_LANES = 8
_PARTIAL_SUMS = 32  # of the gradient of J, at most so many per run
_SPARE_NUMBERS = 2**26
_COMPILING = "compiling the CPU kernels, once (about 10 s)"
_PATIENCE = 2.0  # seconds: kernels found compiled are there by then

# Called by a thread with its own scratch memory: the function that does one piece of the work.
_Worker = Callable[[], Callable[[int], None]]
# The states and diagonals of a run's tile, as NumPy arrays.
_Tape = Callable[[int, int], tuple[Any, Any]]


@functools.cache
def available() -> bool:
    """Whether the kernels are there, compile, and agree with the reference on a tiny example."""
    try:
        _tiles()
    except ImportError:
        return False
    try:
        return _agrees()
    except Exception as error:  # whatever the compiler objects to, there is the reference
        warnings.warn(f"the CPU kernels do not compile: {error}", RuntimeWarning, stacklevel=2)
        return False


def warm(say: Callable[[str], None] | None = None) -> bool:
    """`available`, and a word through `say` where that means to compile."""
    if say is None:
        return available()
    notice = threading.Timer(_PATIENCE, say, [_COMPILING])
    notice.daemon = True
    notice.start()
    try:
        return available()
    finally:
        notice.cancel()


def rollout(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics, *, record: bool = False
) -> Tensor:
    """Explicit Euler from pi/2 in unwrapped phases: (R, B, N) at t_f, or (K + 1, R, B, N)."""
    if not record:
        return _forward(fields, _panels(couplings, dynamics), dynamics)
    path = fields.new_empty(dynamics.steps + 1, *fields.shape)
    path[0] = INITIAL_PHASE
    _forward(fields, _panels(couplings, dynamics), dynamics, path=path)
    return path


def rollout_with_pullback(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics
) -> tuple[Tensor, Pullback]:
    """The phases (R, B, N) at t_f, and the exact discrete adjoint of the rollout.

    The tape holds sin, cos and the diagonal term of every step: 12 K B N bytes for a run.
    """
    runs, batch, n = fields.shape
    steps, tiles, rows = dynamics.steps, _ceil(batch, _LANES), _rows(n)
    panels = _panels(couplings, dynamics)
    half, whole = 16 * rows * (steps + 1), 16 * rows * (steps + 1) + 8 * rows * steps
    buffer = _spare.take(runs * tiles * whole)
    tapes = buffer[: runs * tiles * whole].view(runs, tiles, whole).numpy()

    def tape(run: int, tile: int) -> tuple[Any, Any]:
        numbers = tapes[run, tile]
        return numbers[:half].reshape(-1, 16 * rows), numbers[half:].reshape(-1, 8 * rows)

    def pullback(final_gradient: Tensor) -> tuple[Tensor, Tensor]:
        return _backward(final_gradient, panels, dynamics, tape)

    # The buffer goes back when nobody can pull back any more.
    weakref.finalize(pullback, _spare.give, buffer).atexit = False
    return _forward(fields, panels, dynamics, tape=tape), pullback


def noisy_rollout(
    fields: Tensor,
    couplings: Tensor,
    dynamics: Dynamics,
    noise: Noise,
    *,
    record: bool = False,
) -> Tensor:
    """Euler-Maruyama from pi/2, wrapped: (R, M, B, N) at t_f, or (K + 1, R, M, B, N)."""
    runs, batch, n = fields.shape
    steps, rows, replicates = dynamics.steps, _rows(n), len(noise.replicates)
    pairs = replicates * batch
    out = fields.new_empty(runs, pairs, n)
    path = fields.new_empty(steps + 1 if record else 0, runs, pairs, n)
    path[:1] = INITIAL_PHASE
    temperature_bits = int.from_bytes(struct.pack("<f", noise.temperature), "little")
    scale = dynamics.mobility * dynamics.time_step
    fixed = (
        scale,
        steps,
        (noise.seed, temperature_bits),
        math.sqrt(2.0 * noise.temperature * scale),
        _array(fields),
        _array(_panels(couplings, dynamics)),
        _array(noise.samples.to(torch.int64)).view("uint64"),
        _array(noise.replicates.to(torch.int64)).view("uint64"),
        _array(out),
        _array(path),
    )

    def worker() -> Callable[[int], None]:
        kernel = _tiles().noisy_tile
        scratch = (
            _scratch(2, runs, 16 * rows),
            np.zeros((3, 8 * rows), dtype=np.uint64),
            _scratch(4, 8 * rows),
            _scratch((24 + 8 * runs) * rows),
        )
        return lambda tile: kernel(tile * _LANES, *fixed, *scratch)

    _in_threads(_ceil(pairs, _LANES), worker)
    found = path if record else out
    return found.view(*found.shape[:-2], replicates, batch, n)


def _forward(
    fields: Tensor,
    panels: Tensor,
    dynamics: Dynamics,
    *,
    path: Tensor | None = None,
    tape: _Tape | None = None,
) -> Tensor:
    """The phases at t_f, all others into a path and what the adjoint needs onto a tape."""
    runs, batch, n = fields.shape
    tiles, rows = _ceil(batch, _LANES), _rows(n)
    scale = dynamics.mobility * dynamics.time_step
    out = torch.empty(runs, batch, n)
    path = torch.empty(0, runs, batch, n) if path is None else path
    arrays = _array(fields), _array(panels), _array(out), _array(path)

    def worker() -> Callable[[int], None]:
        kernel = _tiles().forward_tile
        workspace = _scratch(32 * rows)
        own = _scratch(2, 16 * rows), _scratch(0, 8 * rows)

        def work(index: int) -> None:
            run, tile = divmod(index, tiles)
            states = own if tape is None else tape(run, tile)
            kernel(run, tile * _LANES, scale, dynamics.steps, *arrays, *states, workspace)

        return work

    _in_threads(runs * tiles, worker)
    return out


def _backward(
    final_gradient: Tensor, panels: Tensor, dynamics: Dynamics, tape: _Tape
) -> tuple[Tensor, Tensor]:
    """The gradients of fields and couplings; neighbouring tiles share a partial sum of J's."""
    runs, batch, n = final_gradient.shape
    tiles, rows = _ceil(batch, _LANES), _rows(n)
    columns = _ceil(rows, 16)
    scale = dynamics.mobility * dynamics.time_step
    share = max(1, _ceil(tiles, _PARTIAL_SUMS))
    parts = max(1, _ceil(tiles, share))
    sums = torch.from_numpy(_scratch(runs, parts, columns, rows, 16))
    fields_gradient = torch.empty(runs, batch, n)
    arrays = _array(final_gradient), _array(panels), _array(fields_gradient)

    def worker() -> Callable[[int], None]:
        kernel, held = _tiles().backward_tile, _tiles().GRADIENT_STEPS
        workspace = _scratch((32 + 16 * held) * rows + 256 * held * columns)

        def work(index: int) -> None:
            run, part = divmod(index, parts)
            total = _array(sums[run, part])
            for tile in range(part * share, min(tiles, (part + 1) * share)):
                kernel(run, tile * _LANES, scale, *arrays, *tape(run, tile), total, workspace)

        return work

    _in_threads(runs * parts, worker)
    total = sums[:, 0].clone()
    for part in range(1, parts):  # one after the other: a parallel sum may take another order
        total += sums[:, part]
    gradient = total.mul_(-scale).transpose(1, 2).reshape(runs, rows, 16 * columns)
    return fields_gradient, gradient[:, :n, :n].contiguous()


def _scratch(*shape: int) -> Any:
    """Zeros by NumPy. PyTorch would fill them with a team of OpenMP threads, which goes on spinning
    for a while: in a worker it would slow down all of PyTorch, before the work the workers."""
    return np.zeros(shape, dtype=np.float32)


def _array(values: Tensor) -> Any:
    return values.detach().contiguous().numpy()


def _ceil(count: int, size: int) -> int:
    return -(-count // size)


def _rows(n: int) -> int:
    """P, the number of rows that `tiles` works on."""
    return max(4, n + n % 2)


def _panels(couplings: Tensor, dynamics: Dynamics) -> Tensor:
    """h J in the blocks of six and four rows that `tiles` takes: (R, N P)."""
    runs, n, _ = couplings.shape
    rows = _rows(n)
    split = rows - 4 * {0: 0, 4: 1, 2: 2}[rows % 6]
    scaled = torch.zeros(runs, n, rows)
    scaled[:, :, :n] = couplings.detach() * (dynamics.mobility * dynamics.time_step)
    wide = scaled[:, :, :split].reshape(runs, n, split // 6, 6)
    narrow = scaled[:, :, split:].reshape(runs, n, (rows - split) // 4, 4)
    blocks = [part.transpose(1, 2).reshape(runs, -1) for part in (wide, narrow)]
    return torch.cat(blocks, dim=1)


class _Spare:
    """One buffer kept for the next tape: fresh pages cost a good part of a training step."""

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


@functools.cache
def _tiles() -> Any:
    # Imported late: Numba takes a while to import and may be missing.
    from entrain.kernels import tiles

    return tiles


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="entrain")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _in_threads(count: int, worker: _Worker) -> None:
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


def _agrees() -> bool:
    dynamics = Dynamics(1.0, 0.5, 3)
    fields = torch.linspace(-1.0, 1.0, 15).view(1, 3, 5)
    couplings = torch.linspace(-1.0, 1.0, 25).view(1, 5, 5)
    couplings = couplings + couplings.transpose(1, 2)
    couplings[:, range(5), range(5)] = 0.0
    noise = Noise(1, 0.1, torch.arange(2), torch.arange(3))
    results = []
    for kernel in (sys.modules[__name__], reference):
        phases, pullback = kernel.rollout_with_pullback(fields, couplings, dynamics)
        by_fields, by_couplings = pullback(fields)
        tied = by_couplings + by_couplings.transpose(1, 2)
        noisy = kernel.noisy_rollout(fields, couplings, dynamics, noise).cos()
        results.append(torch.cat([x.flatten() for x in (phases, by_fields, tied, noisy)]))
    return torch.allclose(results[0], results[1], rtol=0.0, atol=1e-4)
