"""The CUDA kernels: float32 CUDA tensors, any number of runs, up to 1024 oscillators.

Same signatures and results as `reference`, up to rounding. A kernel is compiled at first use for
its number of oscillators and the terms of the model: absent terms cost nothing.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from entrain.kernels.nvrtc import Kernel, compile_kernel
from entrain.kernels.reference import Pullback, reduce_to, time_rule_on
from entrain.physics import Dynamics, Noise, PhaseModel

PARALLEL_SAMPLES = 1  # a piece of any size is large enough, for the memory of a GPU
MOST_OSCILLATORS = 1024  # a block has at most 1024 threads, and at least one per oscillator
_MOST_HELD = 160  # beyond, the couplings and their gradient do not fit the registers
_FEW = 256  # beyond, reading the couplings dominates: samples share it
_TWO_BLOCKS = 40  # registers with which two blocks of up to 800 threads share a processor
_WARP = 32


@dataclass(frozen=True)
class Layout:
    """Layout of a block; see block.cuh."""

    oscillators: int
    samples: int

    @property
    def holds(self) -> bool:
        """True if a block keeps the couplings, and their gradient, in registers."""
        return self.oscillators <= _MOST_HELD

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
    def of(samples: int, oscillators: int, processors: int) -> Layout:
        """One sample per block while that fills the processors, else two.

        Every block reads the couplings of a large network from memory at every step: up to four
        samples share that if there are more samples than processors.
        """
        if oscillators <= _FEW:
            return Layout(oscillators, 1 if samples <= 2 * processors else 2)
        return Layout(oscillators, next((n for n in (1, 2) if samples <= n * processors), 4))


def check(device: torch.device) -> None:
    """Compile and launch once; raises `CudaUnavailable` where that cannot be done."""
    zeros = torch.zeros(1, 1, 2, device=device)
    rollout(PhaseModel(zeros, torch.zeros(1, 2, 2, device=device)), Dynamics(steps=1))


def has_path_loss(model: PhaseModel) -> bool:
    """True if `path_loss` takes this model: fields and couplings of up to 160 oscillators."""
    return model.fields.shape[-1] <= _MOST_HELD and not model.terms


def supports(model: PhaseModel, noisy: bool = False) -> bool:
    """True if these kernels compute a model."""
    known = {"frequencies", "injection", "lag", "harmonic"}
    return (
        model.schedule is None
        and model.terms.keys() <= known
        and isinstance(model.couplings, Tensor)
    )


def tape_bytes(model: PhaseModel, steps: int) -> int:
    """Bytes that `rollout_with_pullback` and its pullback need for a sample of a run, at most.

    Three values per oscillator and step; for the gradient of the couplings an N x N sum or two more
    values per oscillator and step, with a second harmonic five more.
    """
    oscillators = model.fields.shape[-1]
    tape = 3 * oscillators * steps
    outer = (2 if model.harmonic is None else 5) * oscillators * steps
    return 4 * (tape + (oscillators**2 if oscillators <= _MOST_HELD else outer))


def rollout(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> Tensor:
    """As `reference.rollout`: the same increments."""
    return _split_replicates(_run(model, dynamics, noise, record=record)[0], model, noise)


def rollout_with_pullback(
    model: PhaseModel, dynamics: Dynamics, *, noise: Noise | None = None, record: int = 0
) -> tuple[Tensor, Pullback]:
    """As `reference.rollout_with_pullback`; the tape has three values per oscillator and step."""
    runs, batch, oscillators = model.fields.shape
    replicates = 1 if noise is None else len(noise.replicates)
    rows = batch * replicates
    phases, tape = _run(model, dynamics, noise, record=record, tape=True)
    layout = _layout(model, runs * rows)
    blocks = -(-rows // layout.samples)

    def pullback(gradient: Tensor) -> PhaseModel:
        def buffer_for(term: Tensor | None) -> Tensor | None:
            return None if term is None else model.fields.new_empty(runs, rows, oscillators)

        by_fields = model.fields.new_empty(runs, rows, oscillators)
        by_frequencies, by_start = buffer_for(model.frequencies), buffer_for(model.start)
        by_injection, by_lag = buffer_for(model.injection), buffer_for(model.lag)
        harmonic = model.harmonic
        by_harmonic = None if harmonic is None else phases.new_empty(runs, rows, 2, oscillators)
        shape = (blocks, oscillators, oscillators)
        if not layout.holds:
            shape = (rows * dynamics.steps, 2 if harmonic is None else 4, oscillators)
        outer = phases.new_empty(runs, *shape)
        # With a lag and no harmonic the tape lacks the summands of fields and injection.
        with_lag = model.lag is not None and harmonic is None
        fields, injection = model.fields.contiguous(), _expand(model.injection, model)
        arrays = (model.matrix.contiguous(), tape, gradient.contiguous(), by_fields, outer)
        scale = dynamics.mobility * dynamics.time_step
        sizes = (rows, dynamics.steps, scale, batch, dynamics.time_step)
        terms = (*((fields, injection) if with_lag else (None, None)), _contiguous(model.lag))
        gradients = (by_frequencies, by_injection, by_lag, by_start)
        harmonics = (_contiguous(model.harmonic), by_harmonic)
        kernel = _kernel(
            "adjoint", layout, _macros(model, PATH_GRADIENT=bool(record)), fields.device
        )
        kernel((blocks, runs), layout.threads, (*arrays, *sizes, *terms, *gradients, *harmonics))
        if layout.holds:
            by_couplings = outer.sum(1).transpose(1, 2)
        else:
            taped = tape.view(runs, rows * dynamics.steps, 3, oscillators)
            by_couplings = _by_couplings(outer, taped[:, :, 0], taped[:, :, 1])
        by_model = PhaseModel(
            by_fields,
            by_couplings,
            frequencies=by_frequencies,
            injection=by_injection,
            lag=None if by_lag is None else by_lag.sum((1, 2)),
            start=by_start,
            harmonic=None if by_harmonic is None else by_harmonic.sum((1, 3)),
        )
        return reduce_to(model, by_model, replicates)

    return _split_replicates(phases, model, noise), pullback


def _by_couplings(outer: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """d loss / d J (R, N, N) from the factors that adjoint.cu writes (R, rows K, 2 or 4, N)."""
    total = outer[:, :, 0].transpose(1, 2) @ cos
    total = total - outer[:, :, 1].transpose(1, 2) @ sin
    if outer.shape[2] == 4:
        twice = (sin * sin).mul_(-2.0).add_(1.0)  # one array at a time: they are large
        total += outer[:, :, 2].transpose(1, 2) @ twice
        torch.mul(sin, cos, out=twice).mul_(2.0)
        total -= outer[:, :, 3].transpose(1, 2) @ twice
    return total


def path_loss(
    model: PhaseModel, coefficients: Tensor, dynamics: Dynamics, *, nodes: int | None = None
) -> tuple[Tensor, PhaseModel]:
    """As `reference.path_loss`, for models that `has_path_loss` accepts."""
    fields = model.fields
    runs, rows, oscillators = fields.shape
    layout = _layout(model, 4 * runs * rows)
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
    _kernel("path", layout, (), fields.device)(
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


def _run(
    model: PhaseModel,
    dynamics: Dynamics,
    noise: Noise | None,
    *,
    record: int = 0,
    tape: bool = False,
) -> tuple[Tensor, Tensor]:
    """Phases (R, M B, N), with K + 1 times in front if recorded, and the tape of rollout.cu."""
    fields = model.fields
    runs, batch, oscillators = fields.shape
    steps, step = dynamics.steps, dynamics.time_step
    rows = batch * (1 if noise is None else len(noise.replicates))
    layout = _layout(model, runs * rows)
    shape = (runs, rows, oscillators)
    phases = fields.new_empty(*((steps + 1, *shape) if record else shape))
    taped = fields.new_empty(*(runs, rows, steps, 3, oscillators) if tape else (1,))
    forcing: list[Tensor | int | float | None] = [0.0, 0, 0, None, None]
    if noise is not None:
        strength = math.sqrt(2.0 * dynamics.mobility * noise.temperature * step)
        indices = (noise.replicates.long().contiguous(), noise.samples.long().contiguous())
        forcing = [strength, *noise.key, *indices]
    # A block that does not hold its couplings reads them at every step: transposed, contiguously.
    couplings = model.matrix if layout.holds else model.matrix.transpose(1, 2)
    arrays = (fields.contiguous(), couplings.contiguous(), phases, taped)
    sizes = (rows, batch, steps, dynamics.mobility * step)
    terms = (_expand(model.frequencies, model), _expand(model.injection, model))
    others = (_contiguous(model.lag), _expand(model.start, model), step)
    flags = _macros(model, TAPE=tape, RECORD=bool(record), NOISE=noise is not None)
    _kernel("rollout", layout, flags, fields.device)(
        (-(-rows // layout.samples), runs),
        layout.threads,
        (*arrays, *sizes, *forcing, *terms, *others, _contiguous(model.harmonic)),
    )
    return phases, taped


def _split_replicates(phases: Tensor, model: PhaseModel, noise: Noise | None) -> Tensor:
    """Phases (..., M B, N) as (..., M, B, N) where there is noise."""
    if noise is None:
        return phases
    return phases.view(*phases.shape[:-2], len(noise.replicates), *model.fields.shape[1:])


def _expand(values: Tensor | None, model: PhaseModel) -> Tensor | None:
    """A term (R, B, N), also where all samples share it."""
    return None if values is None else values.expand_as(model.fields).contiguous()


def _contiguous(values: Tensor | None) -> Tensor | None:
    return None if values is None else values.contiguous()


def _macros(model: PhaseModel, **options: bool) -> tuple[str, ...]:
    """The macros of the model's terms and of the options that are on."""
    terms = {
        "FREQUENCY": model.frequencies,
        "INJECTION": model.injection,
        "LAG": model.lag,
        "START": model.start,
        "HARMONIC": model.harmonic,
    }
    present = [name for name, term in terms.items() if term is not None]
    return (*present, *(name for name, on in options.items() if on))


def _layout(model: PhaseModel, samples: int) -> Layout:
    return Layout.of(samples, model.fields.shape[-1], _processors(model.fields.device))


# Both caches are keyed by the device of a tensor, which has an index ("cuda:0", never "cuda").


@functools.cache
def _processors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


@functools.cache
def _kernel(name: str, layout: Layout, flags: tuple[str, ...], device: torch.device) -> Kernel:
    here = Path(__file__).parent
    source = (here / "block.cuh").read_text() + (here / f"{name}.cu").read_text()
    definitions = layout.definitions | dict.fromkeys(flags, 1)
    if name == "adjoint" and not flags and not layout.holds and layout.oscillators <= _FEW:
        definitions["REGISTERS"] = _TWO_BLOCKS  # with one more it takes twice as long
    return compile_kernel(source, name, definitions, device)
