"""The CUDA kernels of a whole rollout: any number of runs, matrices of up to 1024 oscillators.

Same signatures and results as `reference`, up to rounding. A kernel is compiled at first use for
its number of oscillators and the terms of the model: absent terms cost nothing.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

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
from entrain.kernels.nvrtc import Argument, Kernel, compile_kernel
from entrain.kernels.reference import Pullback, time_rule_on
from entrain.physics import Dynamics, Noise, PhaseModel, Schedule

PARALLEL_SAMPLES = 1  # a piece of any size is large enough, for the memory of a GPU
MOST_OSCILLATORS = 1024  # a block has at most 1024 threads, and at least one per oscillator
_MOST_HELD = 160  # beyond, the couplings and their gradient do not fit the registers
_MOST_SPARSE = 512  # of degree 8; beyond, edges are faster: results/oscillator-scale-gpu.json
_MOST_WORK = 8e8  # samples times squared oscillators beyond which a launch per step is faster
_FEW = 256  # beyond, reading the couplings dominates: samples share it
_TWO_BLOCKS = 40  # registers with which two blocks of up to 800 threads share a processor
_WARP = 32


@dataclass(frozen=True)
class Layout:
    """Layout of a block; see block.cuh."""

    oscillators: int
    samples: int
    matrices: int = 1

    @property
    def holds(self) -> bool:
        """True if a block keeps the couplings, and their gradient, in registers."""
        return self.oscillators * self.matrices <= _MOST_HELD

    @property
    def chunks(self) -> int:
        """Threads that share the row of an oscillator: enough to fill some twelve warps."""
        if not self.holds:
            return max(1, min(4, MOST_OSCILLATORS // self.oscillators))
        return max(3, min(6, 384 // self.oscillators))

    @property
    def threads(self) -> int:
        return -(-self.oscillators * self.chunks // _WARP) * _WARP

    @property
    def definitions(self) -> dict[str, int]:
        columns = -(-self.oscillators // self.chunks)
        return {
            "N": self.oscillators,
            "CHUNKS": self.chunks,
            "COLUMNS": columns,
            "SLOTS": self.chunks * columns,
            "S": self.samples,
            "THREADS": self.threads,
            "HOLD": int(self.holds),
        }

    @staticmethod
    def of(samples: int, oscillators: int, processors: int, matrices: int = 1) -> Layout:
        """One sample per block while that fills the processors, else two.

        Every block reads the couplings of a large network from memory at every step: up to four
        samples share that if there are more samples than processors.
        """
        if oscillators <= _FEW:
            return Layout(oscillators, 1 if samples <= 2 * processors else 2, matrices)
        shared = next((n for n in (1, 2) if samples <= n * processors), 4)
        return Layout(oscillators, shared, matrices)


def check(device: torch.device) -> None:
    """Compile and launch once; raises `CudaUnavailable` where that cannot be done."""
    zeros = torch.zeros(1, 1, 2, device=device)
    rollout(PhaseModel(zeros, torch.zeros(1, 2, 2, device=device)), Dynamics(steps=1))


def has_path_loss(model: PhaseModel) -> bool:
    """True if `path_loss` takes this model: fields and couplings of up to 160 oscillators."""
    few = model.fields.shape[-1] <= _MOST_HELD
    return few and isinstance(model.couplings, Tensor) and not (model.terms or model.schedule)


def supports(model: PhaseModel, noisy: bool = False, gradients: bool = False) -> bool:
    """True if these kernels compute a model: on a sparse graph one of few oscillators."""
    oscillators = model.fields.shape[-1]
    return oscillators <= (_MOST_SPARSE if is_sparse(model) else MOST_OSCILLATORS)


def is_fastest(model: PhaseModel) -> bool:
    """True if these kernels compute a model, and faster than one launch per step.

    A launch per step takes some 0.3 ms of the CPU; beyond, its matrix products are faster.

    Args:
        model: A phase model.
    """
    runs, batch, oscillators = model.fields.shape
    work = runs * batch * oscillators**2
    return supports(model) and (oscillators <= _FEW or work <= _MOST_WORK)


def tape_bytes(model: PhaseModel, steps: int) -> int:
    """Bytes that `rollout_with_pullback` and its pullback need for a sample of a run, at most.

    Three values per oscillator and step, and one for each factor in time; for the gradient of the
    couplings N x N sums or two more values per oscillator, step and component, and one more for
    twice the angles; the drive's gradient.
    """
    oscillators, components = model.fields.shape[-1], Components(model)
    if Layout(oscillators, 1, len(components.matrices)).holds:
        outer = len(components.matrices) * oscillators**2
    else:
        values = 2 * len(components.multiples) + int(2 in components.multiples)
        outer = values * oscillators * steps
    schedule = model.schedule or Schedule()
    segments = 0 if schedule.drive is None else len(schedule.drive)
    taped = (3 + len(schedule.factors)) * oscillators * steps
    return 4 * (taped + outer + segments * oscillators)


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> Tensor:
    """As `reference.rollout`: the same increments."""
    return _Rollout(model, dynamics, noise, record).forward(tape=False)


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> tuple[Tensor, Pullback]:
    """As `reference.rollout_with_pullback`; the tape has three values per oscillator and step."""
    rollout = _Rollout(model, dynamics, noise, record)
    return rollout.forward(tape=True), rollout.backward


class _Rollout:
    """A rollout, its program and the arguments of its kernels."""

    def __init__(
        self, model: PhaseModel, dynamics: Dynamics, noise: Noise | None, record: int
    ) -> None:
        self._model, self._dynamics, self._noise, self._record = model, dynamics, noise, record
        runs, batch, oscillators = model.fields.shape
        rows = batch * replicates_of(noise)
        self._components = Components(model)
        self._program = Program.of(model, self._components)
        self._terms = TermArguments(model, self._program)
        self._layout = _layout(model, self._components, runs * rows)
        self._blocks = -(-rows // self._layout.samples)
        self._shape = (runs, rows, oscillators)
        lengths = (dynamics.mobility * dynamics.time_step, dynamics.time_step)
        self._sizes = (rows, batch, dynamics.steps, record, *lengths)
        self._tape = model.fields.new_empty(0)

    def forward(self, tape: bool) -> Tensor:
        """The phases at t_f or the recorded ones; `backward` needs the tape."""
        model, noise, record = self._model, self._noise, self._record
        runs, rows, oscillators = self._shape
        steps, terms, components = self._dynamics.steps, self._terms, self._components
        times = (steps // record + 1,) if record else ()
        phases = model.fields.new_empty(*times, *self._shape)
        if tape:
            self._tape = model.fields.new_empty(runs, rows, steps, 3, oscillators)
        matrices = components.matrices
        if not self._layout.holds:  # read at every step: transposed, contiguously
            matrices = [m.transpose(1, 2).contiguous() for m in matrices]
        arrays = (terms.fields, tuple(matrices), components.factors, phases, self._tape)
        varies = noise is not None and noise.factors is not None
        options = {"TAPE": tape, "RECORD": record, "NOISE": noise is not None}
        forcing = noise_arguments(noise, self._dynamics, phases.device)
        arguments = (*arrays, *self._sizes, *terms.forward, *forcing)
        self._launch("rollout", arguments, **options, NOISE_VARIES=varies)
        return split_replicates(phases, model, noise)

    def backward(self, gradient: Tensor) -> PhaseModel:
        """The gradient by the model, from that by the phases."""
        terms, components, layout = self._terms, self._components, self._layout
        runs, rows, oscillators = self._shape
        steps, count = self._dynamics.steps, len(components.multiples)
        new = self._model.fields.new_empty
        by_fields = new(self._shape)
        by_locals = tuple(new(self._shape) for _ in terms.local)
        by_start = None if self._model.start is None else new(self._shape)
        by_factors = None if components.factors is None else new(runs, rows, count, 2, oscillators)
        if layout.holds:
            outer = new(runs, self._blocks, len(components.matrices), oscillators, oscillators)
        else:
            outer = new(runs, rows * steps, count, 2, oscillators)
        by_time = by_schedules, by_drive = terms.new_gradients(steps, rows)
        gradient = gradient.contiguous()
        last = gradient[-1] if self._record else gradient
        arrays = (tuple(components.matrices), self._tape, components.factors, last)
        sums = (by_locals, by_start, by_factors, terms.fields, terms.locals, terms.schedules)
        arguments = (*arrays, by_fields, outer, *self._sizes, *sums, *by_time, *terms.drive_steps)
        self._launch("adjoint", arguments, PATH_GRADIENT=self._record)
        if layout.holds:
            by_matrices = list(outer.sum(1).transpose(2, 3).unbind(1))
        else:
            taped = self._tape.view(runs, rows * steps, 3, oscillators)
            by_matrices = _by_matrices(components, outer, taped[:, :, 0], taped[:, :, 1])
        return terms.gradient(
            components.gradients(
                by_matrices, None if by_factors is None else by_factors.sum((1, 4))
            ),
            dict(zip(("fields", *terms.local), (by_fields, *by_locals), strict=True)),
            by_start,
            None if by_schedules is None else by_schedules.sum((1, 2, 4)),
            by_drive,
            replicates_of(self._noise),
        )

    def _launch(self, name: str, arguments: tuple[Argument, ...], **options: int) -> None:
        """A block for each part of the samples of a run."""
        macros = tuple((option, 1) for option, on in options.items() if on)
        kernel = _kernel(name, self._layout, self._program, macros, self._tape.device)
        kernel((self._blocks, self._shape[0]), self._layout.threads, arguments)


def _by_matrices(components: Components, outer: Tensor, sin: Tensor, cos: Tensor) -> list[Tensor]:
    """Gradients by the matrices (R, N, N), from the factors of adjoint.cu (R, rows K, Q, 2, N)."""
    totals: list[Tensor | None] = [None] * len(components.matrices)
    for q, (m, multiple) in enumerate(zip(components.matrix_of, components.multiples, strict=True)):
        left_sin, left_cos = outer[:, :, q, 0].transpose(1, 2), outer[:, :, q, 1].transpose(1, 2)
        total = totals[m]
        if multiple == 1:
            product = left_sin @ cos
            total = product if total is None else total.add_(product)
            totals[m] = total - left_cos @ sin
        else:
            twice = (sin * sin).mul_(-2.0).add_(1.0)  # one array at a time: they are large
            product = left_sin @ twice
            total = product if total is None else total.add_(product)
            torch.mul(sin, cos, out=twice).mul_(2.0)
            totals[m] = total - left_cos @ twice
    return [total for total in totals if total is not None]


def path_loss(
    model: PhaseModel, coefficients: Tensor, dynamics: Dynamics, *, nodes: int | None = None
) -> tuple[Tensor, PhaseModel]:
    """As `reference.path_loss`, for models that `has_path_loss` accepts."""
    fields = model.fields
    runs, rows, oscillators = fields.shape
    components = Components(model)
    layout = _layout(model, components, 4 * runs * rows)
    blocks = -(-rows // layout.samples)
    times, weights = time_rule_on(dynamics.steps, nodes, fields.dtype, fields.device)
    processors = _processors(fields.device)
    parts = max(1, min(len(times) // 4, 4 * processors // (blocks * runs)))
    losses = fields.new_empty(parts, runs, rows, oscillators)
    fields_gradient = torch.empty_like(losses)
    outer = fields.new_empty(parts, runs, blocks, oscillators, oscillators)
    scale = dynamics.mobility * dynamics.time_step
    count = rows * dynamics.steps * oscillators
    tensors = (fields, model.matrix, coefficients, times, weights)
    inputs = [tensor.contiguous() for tensor in tensors]
    factors = (1.0 / dynamics.steps, scale, 2.0 * scale / count)
    _kernel("path", layout, Program.of(model, components), (), fields.device)(
        (blocks, runs, parts),
        layout.threads,
        (*inputs, losses, fields_gradient, outer, rows, len(times), *factors),
    )
    gradient = PhaseModel(
        fields_gradient.sum(0),
        outer.sum((0, 2)).transpose(1, 2),
        start=None if model.start is None else torch.zeros_like(model.start),
    )
    return losses.sum((0, 2, 3)) / count, gradient


def _layout(model: PhaseModel, components: Components, samples: int) -> Layout:
    oscillators, processors = model.fields.shape[-1], _processors(model.fields.device)
    return Layout.of(samples, oscillators, processors, len(components.matrices))


# Both caches are keyed by the device of a tensor, which has an index ("cuda:0", never "cuda").


@functools.cache
def _processors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


@functools.cache
def _kernel(
    name: str, layout: Layout, program: Program, options: Macros, device: torch.device
) -> Kernel:
    definitions = layout.definitions | dict(program.macros) | dict(options)
    is_plain = name == "adjoint" and program.is_plain and not options
    if is_plain and not layout.holds and layout.oscillators <= _FEW:
        definitions["REGISTERS"] = _TWO_BLOCKS  # with one more it takes twice as long
    source = program.source("common.cuh", "block.cuh", f"{name}.cu")
    return compile_kernel(source, name, definitions, device)
