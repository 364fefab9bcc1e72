"""Rollouts and their adjoint for float32 tensors on the CPU, compiled by Numba.

Signatures and definitions are those of `reference`; the arithmetic is in `tiles_forward` and
`tiles_adjoint`. Threads, as many as PyTorch has, take tiles of eight samples. The order of every
sum is independent of the number of threads.
"""

from __future__ import annotations

import functools
import hashlib
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from entrain.kernels import reference
from entrain.kernels.compiled import compiling, on_compilation
from entrain.kernels.reference import Pullback
from entrain.kernels.tiles_adjoint import backward_tile, workspace_size
from entrain.kernels.tiles_forward import forward_tile, noisy_tile
from entrain.kernels.tiles_inputs import (
    LANES,
    Inputs,
    array,
    ceil,
    gradient_arrays,
    inputs_of,
    model_gradient,
    rows_of,
    transposed,
)
from entrain.kernels.tiles_pull import GRADIENT_STEPS
from entrain.kernels.workers import Tape, forked, in_threads, scratch
from entrain.physics import Dynamics, Noise, PhaseModel, Schedule, SparseCouplings, SparseGraph
from entrain.physics.couplings import values_of
from entrain.physics.terms import LOCAL, PAIR

PARALLEL_SAMPLES = 64  # in fewer pieces the threads would wait for one another
_PARTIAL_SUMS = 32  # of the gradient of J, at most, per run
_COMPILING = "compiling the CPU kernels, once (2 to 6 s)"


class Kernel(NamedTuple):
    """A variant of the kernels: terms and schedules of a model, noise, and gradients."""

    terms: tuple[str, ...] = ()
    scheduled: tuple[str, ...] = ()
    driven: bool = False
    sparse: bool = False
    noisy: bool = False
    gradients: bool = False


def supports(model: PhaseModel, noisy: bool = False, gradients: bool = False) -> bool:
    """True if these kernels compute a model: all but custom terms and delays.

    Each kernel is compiled, and compared with the reference, when it is first needed.

    Args:
        model: A phase model.
        noisy: True for rollouts with noise.
        gradients: True for rollouts with a pullback.
    """
    if model.other_terms or model.delay:
        return False
    sparse, schedule = not isinstance(model.couplings, Tensor), model.schedule
    scheduled = () if schedule is None else tuple(schedule.factors)
    driven = schedule is not None and schedule.drive is not None
    return _agrees(Kernel(tuple(model.terms), scheduled, driven, sparse, noisy, gradients))


def announce(notify: Callable[[str], None]) -> None:
    """Call `notify` with one line when kernels are compiled for the first time."""
    on_compilation(functools.cache(lambda: notify(_COMPILING)))


def compile_beside_rollout(name: str, task: Callable[[], object]) -> None:
    """Compile by a task, in another process, beside the rollout of plain models.

    Args:
        name: Name of what the task compiles and stores.
        task: Compiles it; it is not called if that was done before.
    """
    with compiling(name) as is_missing:
        if is_missing:
            with forked(task):
                _agrees(Kernel())


def _compile_adjoint(kernel: Kernel) -> None:
    """Compile the adjoint of a kernel."""
    model, dynamics = _example(kernel), Dynamics(1.0, 0.1, 3)
    runs, batch, n = model.fields.shape
    tape = Tape(ceil(batch, LANES), runs, dynamics.steps, rows_of(n))
    inputs = inputs_of(model, dynamics)
    couplings = transposed(inputs, dynamics)
    _backward(model, model.fields[None], inputs, couplings, dynamics, tape)


def tape_bytes(model: PhaseModel, steps: int) -> int:
    """Bytes of the tape of `rollout_with_pullback` for each sample of each run.

    sin, cos and diagonal of every step, oscillators rounded up to P. (Samples are rounded up to
    eight: the last tile takes as much as eight samples.)
    """
    return 4 * rows_of(model.fields.shape[-1]) * (2 * (steps + 1) + steps)


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> Tensor:
    """As `reference.rollout`."""
    return _forward(model, inputs_of(model, dynamics), dynamics, noise, record, None)


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> tuple[Tensor, Pullback]:
    """As `reference.rollout_with_pullback`."""
    runs, batch, n = model.fields.shape
    replicates = 1 if noise is None else len(noise.replicates)
    tape = Tape(ceil(replicates * batch, LANES), runs, dynamics.steps, rows_of(n))
    inputs = inputs_of(model, dynamics)
    phases = _forward(model, inputs, dynamics, noise, record, tape)
    couplings = transposed(inputs, dynamics)  # now: the model may change before the pullback
    times = dynamics.steps // record + 1 if record else 1

    def pullback(gradient: Tensor) -> PhaseModel:
        outer = gradient.reshape(times, runs, replicates * batch, n)
        by_model = _backward(model, outer, inputs, couplings, dynamics, tape)
        return reference.reduce_to(model, by_model, replicates)

    return phases, pullback


def _forward(
    model: PhaseModel,
    inputs: Inputs,
    dynamics: Dynamics,
    noise: Noise | None,
    record: int,
    tape: Tape | None,
) -> Tensor:
    """The phases at t_f or at several times; writes what the adjoint needs to `tape`."""
    runs, batch, n = model.fields.shape
    replicates = 1 if noise is None else len(noise.replicates)
    pairs = replicates * batch
    out = torch.empty(runs, pairs, n)
    path = torch.empty(dynamics.steps // record + 1 if record else 0, runs, pairs, n)
    if record:
        path[0] = model.starts().detach().repeat(1, replicates, 1)
    tiles, rows = ceil(pairs, LANES), rows_of(n)
    scale = dynamics.mobility * dynamics.time_step
    values = inputs.kernel_arguments
    targets = array(out), array(path)
    own = inputs.local_terms

    def plain_worker() -> Callable[[int], None]:
        workspace = scratch((80 + 8 * own) * rows)
        tape_arrays = scratch(2, 16 * rows), scratch(0, 8 * rows)

        def work(index: int) -> None:
            run, tile = divmod(index, tiles)
            stored = tape_arrays if tape is None else tape.of(tile, run)
            first = tile * LANES
            forward_tile(run, first, scale, dynamics.steps, *values, *targets, *stored, workspace)

        return work

    def noisy_worker() -> Callable[[int], None]:
        assert noise is not None
        constant = math.sqrt(2.0 * noise.temperature * scale)
        deviations = np.array([constant])
        if noise.factors is not None:
            steps = noise.deviations(dynamics.steps, dynamics.mobility, dynamics.time_step)
            deviations = steps.numpy()
        generator = noise.key, noise.first, deviations
        every = noise.replicates.reshape(replicates, -1).expand(-1, batch)
        indices = (noise.samples, every)
        copies = [array(index.to(torch.int64)).view("uint64") for index in indices]
        tape_arrays = scratch(runs, 2, 16 * rows), scratch(runs, 0, 8 * rows)
        counters = np.zeros((3, 8 * rows), dtype=np.uint64)
        workspace = scratch((56 + (24 + 8 * own) * runs) * rows)
        spaces = counters, scratch(5, 8 * rows), workspace

        def work(tile: int) -> None:
            stored = tape_arrays if tape is None else tape.of(tile)
            fixed = tile * LANES, scale, dynamics.steps
            noisy_tile(*fixed, *generator, *values, *copies, *targets, *stored, *spaces)

        return work

    if noise is None:
        in_threads(runs * tiles, plain_worker)
    else:
        in_threads(tiles, noisy_worker)  # each with all runs: they share the random numbers
    phases = path if record else out
    return phases if noise is None else phases.view(*phases.shape[:-2], replicates, batch, n)


def _backward(
    model: PhaseModel,
    outer: Tensor,
    inputs: Inputs,
    couplings: Any,
    dynamics: Dynamics,
    tape: Tape,
) -> PhaseModel:
    """Gradients for all rows (R, M B, N); neighbouring tiles share a partial sum of J's."""
    _, runs, pairs, n = outer.shape
    tiles, rows = ceil(pairs, LANES), rows_of(n)
    scale = dynamics.mobility * dynamics.time_step
    share = max(1, ceil(tiles, _PARTIAL_SUMS))
    parts = max(1, ceil(tiles, share))
    count = inputs.matrices
    sums = scratch(runs, parts, count, *inputs.gradient_shape(rows))
    gradients = gradient_arrays(inputs, outer, dynamics.steps, tiles)
    fixed = scale, array(outer), couplings, inputs.terms, inputs.fields
    slots = 1 if inputs.is_sparse else GRADIENT_STEPS
    size = workspace_size(rows, inputs.local_terms, len(inputs.components.multiples), slots)

    def worker() -> Callable[[int], None]:
        workspace = scratch(size)

        def work(index: int) -> None:
            run, part = divmod(index, parts)
            total = sums[run, part]
            for tile in range(part * share, min(tiles, (part + 1) * share)):
                stored = tape.of(tile, run)
                backward_tile(run, tile * LANES, *fixed, *stored, gradients, total, workspace)

        return work

    in_threads(runs * parts, worker)
    partial = torch.from_numpy(sums)
    total = partial[:, 0].clone()
    for part in range(1, parts):  # in sequence: a parallel sum may take another order
        total += partial[:, part]
    return model_gradient(model, inputs, gradients, total.mul_(-scale), dynamics)


@functools.cache
def _agrees(kernel: Kernel) -> bool:
    """True if a tiny model has the phases, and with gradients the gradients, of `reference`."""
    if kernel.gradients and not _rollout_agrees(kernel):
        return False
    try:
        results = [_result(module, kernel) for module in (sys.modules[__name__], reference)]
    except Exception as error:  # any error of the compiler: the reference takes over
        _warn_once(f"do not compile ({type(error).__name__}: {error})")
        return False
    if not torch.allclose(results[0], results[1], rtol=1e-4, atol=1e-4):
        _warn_once("disagree with the reference")
        return False
    return True


def _rollout_agrees(kernel: Kernel) -> bool:
    """`_agrees` of a kernel without its gradients, which another process compiles meanwhile."""
    rollout = kernel._replace(gradients=False)
    name = hashlib.sha256(repr(kernel).encode()).hexdigest()[:16]
    with compiling(name) as is_missing:
        if not is_missing:
            return _agrees(rollout)
        with forked(functools.partial(_compile_adjoint, kernel)):
            return _agrees(rollout)


@functools.cache
def _warn_once(what: str) -> None:
    warnings.warn(
        f"the CPU kernels {what}; PyTorch operations compute the rollouts, about four times slower",
        RuntimeWarning,
        stacklevel=2,
    )


def _result(module: Any, kernel: Kernel) -> Tensor:
    """Phases, and gradients if the kernel has them, of a tiny model."""
    noise = Noise(1, 0.1, torch.arange(2), torch.arange(3)) if kernel.noisy else None
    model, dynamics = _example(kernel), Dynamics(1.0, 0.1, 3)
    if not kernel.gradients:
        phases = module.rollout(model, dynamics, noise=noise)
        return torch.cat([phases.cos().flatten(), phases.sin().flatten()])
    phases, pullback = module.rollout_with_pullback(model, dynamics, noise=noise)
    weights = torch.linspace(-1.0, 1.0, phases.numel()).view(phases.shape)
    return torch.cat([part.flatten() for part in pullback(weights).tensors().values()])


def _example(kernel: Kernel) -> PhaseModel:
    """A tiny model, of 3 samples, 5 oscillators and 3 steps, that needs a kernel."""
    fields = torch.linspace(-1.0, 1.0, 15).view(1, 3, 5)
    couplings: Any = torch.linspace(-1.0, 1.0, 25).sin().view(1, 5, 5)
    if kernel.sparse:
        ring = torch.arange(5)
        graph = SparseGraph.from_pairs(ring[:4], ring[1:], 5)
        couplings = SparseCouplings(torch.linspace(-1.0, 1.0, graph.edges)[None], graph)
    terms, values = {}, values_of(couplings)
    for name in kernel.terms:
        if name in LOCAL:
            terms[name] = 0.2 * fields[:, :1]
        elif PAIR[name].shape == "couplings":
            terms[name] = 0.4 * values.cos()
        else:
            terms[name] = torch.linspace(0.3, -0.2, math.prod(PAIR[name].size)).view(
                1, *PAIR[name].size
            )
    factors = {name: torch.linspace(0.5, 1.0, 3) for name in kernel.scheduled}
    drive = 0.5 * fields.flip(1)[None] if kernel.driven else None
    schedule = Schedule(factors, drive, 3) if factors or kernel.driven else None
    return PhaseModel(fields, couplings, terms=terms, start=fields + 1.0, schedule=schedule)
