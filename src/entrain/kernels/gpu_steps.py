"""CUDA kernels for sparse and for large networks: one launch per step, any number of oscillators.

Same signatures and results as `reference`, up to rounding. On a sparse graph a step and its adjoint
sum over the edges, in O(R B M); with a matrix PyTorch computes the products of sine and cosine, in
one product for all samples, and its gradient for many steps at once.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from entrain.kernels.components import Components, is_sparse
from entrain.kernels.cuda_arguments import (
    TermArguments,
    noise_arguments,
    replicates_of,
    split_replicates,
)
from entrain.kernels.cuda_program import Macros, Program
from entrain.kernels.dense_products import DenseProducts
from entrain.kernels.nvrtc import Argument, Kernel, compile_kernel
from entrain.kernels.reference import Pullback
from entrain.physics import Dynamics, Noise, PhaseModel
from entrain.physics.couplings import SparseCouplings

_LANES = 32
PARALLEL_SAMPLES = _LANES  # fewer leave lanes of a warp idle
_WARPS = 4


def supports(model: PhaseModel, noisy: bool = False, gradients: bool = False) -> bool:
    """True if these kernels compute a model."""
    return not (model.other_terms or model.delay)


def tape_bytes(model: PhaseModel, steps: int) -> int:
    """Bytes that `rollout_with_pullback` and its pullback need for a sample of a run, at most.

    Sine, cosine and a diagonal per oscillator and step; states, adjoints, products and sums.
    """
    oscillators = model.fields.shape[-1]
    components = Components(model, sparse=is_sparse(model))
    drive = None if model.schedule is None else model.schedule.drive
    others = 12 + 2 * len(model.terms) + (0 if drive is None else 2 * len(drive))
    values = oscillators * (3 * (steps + 1) + others + 2 * len(components.multiples))
    if isinstance(model.couplings, SparseCouplings) and components.is_sparse:
        values += len(components.matrices) * model.couplings.graph.edges // _LANES
    return 4 * values


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> Tensor:
    """As `reference.rollout`: the same increments."""
    return _Steps(model, dynamics, noise, record).forward(tape=False)


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> tuple[Tensor, Pullback]:
    """As `reference.rollout_with_pullback`; the tape has three values per oscillator and step."""
    steps = _Steps(model, dynamics, noise, record)
    return steps.forward(tape=True), steps.backward


class _Steps:
    """A rollout. Arrays are (R, N, C): the C = M B samples of an oscillator lie side by side."""

    def __init__(
        self, model: PhaseModel, dynamics: Dynamics, noise: Noise | None, record: int
    ) -> None:
        self._model, self._dynamics, self._noise, self._record = model, dynamics, noise, record
        self._components = Components(model, sparse=is_sparse(model))
        self._program = Program.of(model, self._components)
        self._terms = TermArguments(model, self._program, across=True)
        runs, batch, oscillators = model.fields.shape
        columns = batch * replicates_of(noise)
        self._shape = (runs, oscillators, columns)
        self._grid = (-(-oscillators // _WARPS), -(-columns // _LANES), runs)
        self._sizes = (oscillators, columns, batch)
        self._lengths = (dynamics.mobility * dynamics.time_step, dynamics.time_step)
        self._graph: tuple[Tensor | None, ...] = (None, None, None)
        self._edges = 0
        if isinstance(model.couplings, SparseCouplings) and self._components.is_sparse:
            graph = model.couplings.graph.to(model.fields.device)
            self._edges = graph.edges
            self._graph = (graph.starts.int(), graph.columns.int(), graph.reverse.int())
        self._states = self._diagonals = model.fields.new_empty(0)

    def forward(self, tape: bool) -> Tensor:
        """The phases at t_f or the recorded ones; `backward` needs the tape."""
        model, steps, record = self._model, self._dynamics.steps, self._record
        new = model.fields.new_empty
        starts = model.starts()[:, None].expand(-1, replicates_of(self._noise), -1, -1)
        theta = starts.flatten(1, 2).mT.clone(memory_format=torch.contiguous_format)
        slots = steps + 1 if tape else 2
        states = new(slots, *_pairs(self._shape))
        states[0] = torch.stack([theta.sin(), theta.cos()], -2)
        products = DenseProducts.of(self._components, self._shape, model)
        twice = None if products is None else products.doubled(states[0])
        diagonals = new(steps, *self._shape) if tape else None
        recorded = new(steps // record + 1, *self._shape) if record else None
        if recorded is not None:
            recorded[0] = theta
        varies = self._noise is not None and self._noise.factors is not None
        kernel = self._kernel(
            "step_forward", TAPE=tape, NOISE=self._noise is not None, NOISE_VARIES=varies
        )
        noise = noise_arguments(self._noise, self._dynamics, theta.device)
        edges = (*self._graph[:2], self._edges, self._components.factors)
        for k in range(steps):
            now, following = states[k % slots], states[(k + 1) % slots]
            product = None if products is None else products.forward(now, twice)
            diagonal = None if diagonals is None else diagonals[k]
            out = None
            if recorded is not None and (k + 1) % record == 0:
                out = recorded[(k + 1) // record]
            arrays = (theta, now, following, twice, diagonal, out, product, self._matrices, *edges)
            values = (*self._terms.values, self._terms.drive_at(k))
            sizes = (*self._sizes, k, *self._lengths)
            kernel(self._grid, _LANES * _WARPS, (*arrays, *values, *sizes, *noise))
        if diagonals is not None:
            self._states, self._diagonals = states, diagonals
        phases = (theta if recorded is None else recorded).mT.contiguous()
        return split_replicates(phases, model, self._noise)

    def backward(self, gradient: Tensor) -> PhaseModel:
        """The gradient by the model, from that by the phases."""
        steps, record = self._dynamics.steps, self._record
        runs, oscillators, columns = self._shape
        outer = gradient.reshape(-1, runs, columns, oscillators).mT.contiguous()
        adjoint, spare = outer[-1], outer.new_empty(2, *self._shape)
        products = DenseProducts.of(self._components, self._shape, self._model)
        if products is not None:
            products.start(steps, -self._lengths[0] * adjoint, self._states)
        sums = _Sums(self._model, self._terms, self._components, self._grid, self._shape, steps)
        kernel = self._kernel("step_back")
        edges = (*self._graph, self._edges, self._components.factors)
        for k in range(steps - 1, -1, -1):
            product: Tensor | None = None
            pulls: tuple[Tensor | None, Tensor | None] = (None, None)
            if products is not None:
                product, pulls = products.backward(k), products.pulls(k - 1)
            before = self._states[k - 1] if k > 0 else None
            added = outer[k // record] if record and k % record == 0 else None
            arrays = (adjoint, spare[k % 2], self._states[k], before, *pulls, self._diagonals[k])
            tape = (added, product, self._matrices, *edges, *self._terms.values)
            sizes = (*self._sizes, k, *self._lengths)
            arguments = (*arrays, *tape, *sums.arguments(k), *sizes)
            kernel(self._grid, _LANES * _WARPS, arguments)
            sums.end_step(k)
            adjoint = spare[k % 2]
        by_matrices = sums.by_matrices if products is None else products.by_matrices
        return sums.gradient(by_matrices, adjoint, replicates_of(self._noise))

    @property
    def _matrices(self) -> tuple[Tensor, ...]:
        return tuple(self._components.matrices)

    def _kernel(self, name: str, **options: bool) -> Kernel:
        flags = (
            ("SPARSE", int(self._components.is_sparse)),
            *((n, 1) for n, on in options.items() if on),
        )
        return _kernel(name, self._program, flags, self._model.fields.device)


class _Sums:
    """Gradients that `step_back` adds up."""

    def __init__(
        self,
        model: PhaseModel,
        terms: TermArguments,
        components: Components,
        grid: tuple[int, int, int],
        shape: tuple[int, int, int],
        steps: int,
    ) -> None:
        self._model, self._terms, self._components = model, terms, components
        runs, oscillators, _ = shape
        new, chunks = model.fields.new_zeros, grid[1]
        self._by_fields = new(shape)
        self._by_locals = tuple(new(shape) for _ in terms.local)
        self._by_factors: Tensor | None = None
        if components.factors is not None:
            self._by_factors = new(chunks, runs, oscillators, len(components.multiples), 2)
        self._by_edges: tuple[Tensor | None, ...] = (None,) * len(components.matrices)
        if components.is_sparse:
            self._by_edges = tuple(new(chunks, *m.shape) for m in components.matrices)
        self._summands = self._by_schedules = None
        if count := len(terms.scheduled):
            self._summands = new(count, chunks * runs * oscillators)
            self._by_schedules = new(steps, count)
        self._by_drive = None if terms.drive is None else new(len(terms.drive), *shape)

    def arguments(self, step: int) -> tuple[Argument, ...]:
        """The arrays of `step_back` in a step."""
        drive = None
        if self._by_drive is not None:
            drive = self._by_drive[self._terms.segment(step)]
        sums = (self._by_fields, self._by_locals, self._by_factors, self._by_edges)
        return *sums, self._summands, drive

    def end_step(self, step: int) -> None:
        """Add the summands of schedules."""
        if self._summands is not None and self._by_schedules is not None:
            torch.sum(self._summands, 1, out=self._by_schedules[step])

    @property
    def by_matrices(self) -> list[Tensor]:
        """Gradients by the values of edges (R, M)."""
        return [sums.sum(0) for sums in self._by_edges if sums is not None]

    def gradient(self, by_matrices: list[Tensor], start: Tensor, replicates: int) -> PhaseModel:
        """The gradient by the model, with the adjoint of the start."""
        by_factors = None if self._by_factors is None else self._by_factors.sum((0, 2))
        local = dict(zip(self._terms.local, (t.mT for t in self._by_locals), strict=True))
        return self._terms.gradient(
            self._components.gradients(by_matrices, by_factors),
            {"fields": self._by_fields.mT, **local},
            None if self._model.start is None else start.mT,
            None if self._by_schedules is None else self._by_schedules.mT,
            None if self._by_drive is None else self._by_drive.mT,
            replicates,
        )


@functools.cache
def _kernel(name: str, program: Program, options: Macros, device: torch.device) -> Kernel:
    definitions = dict(program.macros) | dict(options) | {"WARPS": _WARPS}
    return compile_kernel(program.source("common.cuh", "steps.cu"), name, definitions, device)


def _pairs(shape: tuple[int, int, int]) -> tuple[int, int, int, int]:
    """(R, N, 2, C) of (R, N, C)."""
    return *shape[:2], 2, shape[2]
