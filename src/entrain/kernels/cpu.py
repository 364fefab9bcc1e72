"""Rollouts and their adjoint for float32 tensors on the CPU, compiled by Numba.

Signatures and definitions are those of `reference`; the arithmetic is in `tiles_forward` and
`tiles_adjoint`. Threads, as many as PyTorch has, take tiles of eight samples. The order of every
sum is independent of the number of threads.
"""

from __future__ import annotations

import functools
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.kernels import reference
from entrain.kernels.reference import Pullback
from entrain.kernels.tiles import Terms
from entrain.kernels.tiles_adjoint import GRADIENT_STEPS, Gradients, backward_tile
from entrain.kernels.tiles_forward import forward_tile, noisy_tile
from entrain.kernels.workers import Tape, in_threads, scratch
from entrain.physics import Dynamics, Noise, PhaseModel

PARALLEL_SAMPLES = 64  # in fewer pieces the threads would wait for one another
_LANES = 8
_PARTIAL_SUMS = 32  # of the gradient of J, at most, per run
_COMPILING = "compiling the CPU kernels, once (about 10 s)"


@functools.cache
def available() -> bool:
    """True if the kernels compile and agree with the reference on tiny examples."""
    try:
        return _agrees()
    except Exception as error:  # any error of the compiler: the reference takes over
        warnings.warn(f"the CPU kernels do not compile: {error}", RuntimeWarning, stacklevel=2)
        return False


def prepare(notify: Callable[[str], None]) -> None:
    """Compile the kernels, unless they are cached; `notify` is called when that begins.

    Otherwise they are compiled at first use.
    """
    from numba.core import event

    class Notice(event.Listener):
        notified = False

        def on_start(self, _: Any) -> None:
            if not self.notified:
                self.notified = True
                notify(_COMPILING)

        def on_end(self, _: Any) -> None:
            pass

    with event.install_listener("numba:compile", Notice()):
        available()


def supports(model: PhaseModel) -> bool:
    """True if these kernels compute a model."""
    known = {"frequencies", "injection", "lag", "harmonic"}
    return (
        model.schedule is None
        and model.terms.keys() <= known
        and isinstance(model.couplings, Tensor)
    )


def tape_bytes(model: PhaseModel, steps: int) -> int:
    """Bytes of the tape of `rollout_with_pullback` for each sample of each run.

    sin, cos and diagonal of every step, oscillators rounded up to P; a second harmonic needs no
    more. (Samples are rounded up to eight: the last tile takes as much as eight samples.)
    """
    return 4 * _rows(model.fields.shape[-1]) * (2 * (steps + 1) + steps)


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> Tensor:
    """As `reference.rollout`."""
    return _forward(model, _arrays(model, dynamics), dynamics, noise, record, None)


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> tuple[Tensor, Pullback]:
    """As `reference.rollout_with_pullback`."""
    runs, batch, n = model.fields.shape
    replicates = 1 if noise is None else len(noise.replicates)
    tape = Tape(_ceil(replicates * batch, _LANES), runs, dynamics.steps, _rows(n))
    arrays = _arrays(model, dynamics)
    phases = _forward(model, arrays, dynamics, noise, record, tape)
    _, panels, terms = arrays
    assert isinstance(model.couplings, Tensor)
    couplings = _array(model.couplings)
    if not np.array_equal(couplings, couplings.swapaxes(1, 2)):  # the adjoint multiplies by J^T
        panels = _panels(couplings, dynamics)
    times = dynamics.steps + 1 if record else 1

    def pullback(gradient: Tensor) -> PhaseModel:
        outer = gradient.reshape(times, runs, replicates * batch, n)
        by_model = _backward(outer, panels, terms, dynamics, tape)
        return reference.reduce_to(model, by_model, replicates)

    return phases, pullback


def _forward(
    model: PhaseModel,
    arrays: tuple[Any, ...],
    dynamics: Dynamics,
    noise: Noise | None,
    record: int,
    tape: Tape | None,
) -> Tensor:
    """The phases at t_f or at all times; writes what the adjoint needs to `tape`."""
    runs, batch, n = model.fields.shape
    replicates = 1 if noise is None else len(noise.replicates)
    pairs = replicates * batch
    out = torch.empty(runs, pairs, n)
    path = torch.empty(dynamics.steps + 1 if record else 0, runs, pairs, n)
    if record:
        path[0] = model.starts().detach().repeat(1, replicates, 1)
    tiles, rows = _ceil(pairs, _LANES), _rows(n)
    scale = dynamics.mobility * dynamics.time_step
    fixed = scale, dynamics.time_step, dynamics.steps
    targets = _array(out), _array(path)

    def plain_worker() -> Callable[[int], None]:
        workspace = scratch(80 * rows)
        tape_arrays = scratch(2, 16 * rows), scratch(0, 8 * rows)

        def work(index: int) -> None:
            run, tile = divmod(index, tiles)
            stored = tape_arrays if tape is None else tape.of(tile, run)
            forward_tile(run, tile * _LANES, *fixed, *arrays, *targets, *stored, workspace)

        return work

    def noisy_worker() -> Callable[[int], None]:
        assert noise is not None
        generator = noise.key, math.sqrt(2.0 * noise.temperature * scale)
        indices = (noise.samples, noise.replicates)
        copies = [_array(values.to(torch.int64)).view("uint64") for values in indices]
        tape_arrays = scratch(runs, 2, 16 * rows), scratch(runs, 0, 8 * rows)
        counters = np.zeros((3, 8 * rows), dtype=np.uint64)
        spaces = counters, scratch(4, 8 * rows), scratch((56 + 24 * runs) * rows)

        def work(tile: int) -> None:
            stored = tape_arrays if tape is None else tape.of(tile)
            first = tile * _LANES
            noisy_tile(first, *fixed, *generator, *arrays, *copies, *targets, *stored, *spaces)

        return work

    if noise is None:
        in_threads(runs * tiles, plain_worker)
    else:
        in_threads(tiles, noisy_worker)  # each with all runs: they share the random numbers
    phases = path if record else out
    return phases if noise is None else phases.view(*phases.shape[:-2], replicates, batch, n)


def _backward(outer: Tensor, panels: Any, terms: Any, dynamics: Dynamics, tape: Tape) -> PhaseModel:
    """Gradients for all rows (R, M B, N); neighbouring tiles share a partial sum of J's."""
    _, runs, pairs, n = outer.shape
    tiles, rows = _ceil(pairs, _LANES), _rows(n)
    columns = _ceil(rows, 16)
    scale = dynamics.mobility * dynamics.time_step
    share = max(1, _ceil(tiles, _PARTIAL_SUMS))
    parts = max(1, _ceil(tiles, share))
    sums = scratch(runs, parts, columns, rows, 16)

    def space_for(term: Any) -> Any:
        return np.empty(outer.shape[1:], dtype=np.float32) if len(term) else term

    gradients = Gradients(
        fields=np.empty(outer.shape[1:], dtype=np.float32),
        frequencies=space_for(terms.frequencies),
        injection=space_for(terms.injection),
        lag=np.zeros((len(terms.rotations), tiles)),
        start=space_for(terms.start),
        harmonic=np.zeros((len(terms.harmonic), tiles, 2)),
    )
    fixed = scale, dynamics.time_step, _array(outer), panels, terms

    def worker() -> Callable[[int], None]:
        steps = GRADIENT_STEPS
        second = (48 + 16 * steps) * rows + 256 * steps * columns if len(terms.harmonic) else 0
        workspace = scratch((72 + 16 * steps) * rows + 256 * steps * columns + second)

        def work(index: int) -> None:
            run, part = divmod(index, parts)
            total = sums[run, part]
            for tile in range(part * share, min(tiles, (part + 1) * share)):
                stored = tape.of(tile, run)
                backward_tile(run, tile * _LANES, *fixed, *stored, gradients, total, workspace)

        return work

    in_threads(runs * parts, worker)
    partial = torch.from_numpy(sums)
    total = partial[:, 0].clone()
    for part in range(1, parts):  # in sequence: a parallel sum may take another order
        total += partial[:, part]
    by_couplings = total.mul_(-scale).transpose(1, 2).reshape(runs, rows, 16 * columns)
    return PhaseModel(
        torch.from_numpy(gradients.fields),
        by_couplings[:, :n, :n].contiguous(),
        frequencies=_tensor(gradients.frequencies),
        injection=_tensor(gradients.injection),
        lag=_tensor(gradients.lag.sum(1).astype(np.float32)),
        start=_tensor(gradients.start),
        harmonic=_tensor(gradients.harmonic.sum(1).astype(np.float32)),
    )


def _arrays(model: PhaseModel, dynamics: Dynamics) -> tuple[Any, Any, Terms]:
    """Fields, couplings in `_panels`, and other terms of a model, which the kernels read."""
    absent = scratch(0, 0, 0)

    def array(values: Tensor | None) -> Any:
        return absent if values is None else _array(values.float())

    rotations = scratch(0, 0)
    if model.lag is not None:
        lag = model.lag.detach().double()
        rotations = _array(torch.stack([lag.cos(), lag.sin()], dim=1).float())
    harmonic = scratch(0, 0) if model.harmonic is None else _array(model.harmonic.float())
    terms = Terms(
        array(model.frequencies), array(model.injection), rotations, array(model.start), harmonic
    )
    assert isinstance(model.couplings, Tensor)
    panels = _panels(_array(model.couplings).swapaxes(1, 2), dynamics)
    return _array(model.fields), panels, terms


def _panels(matrices: Any, dynamics: Dynamics) -> Any:
    """h C in the blocks of six and four columns in which `tiles` multiplies by C^T: (R, N P)."""
    runs, n, _ = matrices.shape
    rows = _rows(n)
    split = rows - 4 * {0: 0, 4: 1, 2: 2}[rows % 6]
    scaled = scratch(runs, n, rows)
    scaled[:, :, :n] = matrices * np.float32(dynamics.mobility * dynamics.time_step)
    wide = scaled[:, :, :split].reshape(runs, n, split // 6, 6)
    narrow = scaled[:, :, split:].reshape(runs, n, (rows - split) // 4, 4)
    blocks = [part.swapaxes(1, 2).reshape(runs, -1) for part in (wide, narrow)]
    return np.concatenate(blocks, axis=1)


def _array(values: Tensor) -> Any:
    return values.detach().contiguous().numpy()


def _tensor(values: Any) -> Tensor | None:
    """An array (R, ...) as a tensor; None for the empty array of an absent term."""
    return torch.from_numpy(values) if len(values) else None


def _ceil(count: int, size: int) -> int:
    return -(-count // size)


def _rows(n: int) -> int:
    """P, the number of rows of a tile."""
    return max(4, n + n % 2)


def _agrees() -> bool:
    """True if tiny models have the phases and gradients of `reference`."""
    dynamics = Dynamics(1.0, 0.5, 3)
    fields = torch.linspace(-1.0, 1.0, 15).view(1, 3, 5)
    couplings = torch.linspace(-1.0, 1.0, 25).sin().view(1, 5, 5)
    plain = PhaseModel(fields, couplings)
    full = PhaseModel(
        fields,
        couplings,
        frequencies=fields.flip(1),
        injection=0.5 * fields[:, :1],
        lag=torch.tensor([0.4]),
        start=fields + 1.0,
        harmonic=torch.tensor([[0.3, -0.2]]),
    )
    noise = Noise(1, 0.1, torch.arange(2), torch.arange(3))
    for model, forcing, record in ((plain, None, False), (full, None, True), (full, noise, False)):
        results = []
        for kernel in (sys.modules[__name__], reference):
            phases, pullback = kernel.rollout_with_pullback(
                model, dynamics, noise=forcing, record=record
            )
            weights = torch.linspace(-1.0, 1.0, phases.numel()).view(phases.shape)
            parts = [phases.cos(), phases.sin(), *pullback(weights).tensors().values()]
            results.append(torch.cat([part.flatten() for part in parts]))
        if not torch.allclose(results[0], results[1], rtol=1e-4, atol=1e-4):
            return False
    return True
