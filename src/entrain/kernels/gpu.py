"""The kernels of oscillators.cu: float32 CUDA tensors, any number of runs, up to 256 oscillators.

Same signatures and results as `reference`, up to rounding.
"""

from __future__ import annotations

import functools
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from entrain.kernels.nvrtc import Kernel, compile_kernel
from entrain.kernels.reference import Pullback, rule
from entrain.physics import Dynamics, Noise

MOST_OSCILLATORS = 256
_MOST_HELD = 160  # beyond, the couplings and their gradient do not fit the registers
_WARP = 32


@dataclass(frozen=True)
class Layout:
    """How a block is laid out; see oscillators.cu."""

    oscillators: int
    samples: int

    @property
    def holds(self) -> bool:
        """Whether a block keeps the couplings, and their gradient, in registers."""
        return self.oscillators <= _MOST_HELD

    @property
    def chunks(self) -> int:
        """Threads that share the row of an oscillator: as many as fill some twelve warps."""
        if not self.holds:
            return 4
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
        """One sample per block while that fills the processors, else two."""
        return Layout(oscillators, 1 if samples <= 2 * processors else 2)


def check(device: torch.device) -> None:
    """Compile and launch once; raises `CudaUnavailable` where that cannot be done."""
    zeros = torch.zeros(1, 1, 2, device=device)
    rollout(zeros, torch.zeros(1, 2, 2, device=device), Dynamics(steps=1))


def has_path_loss(oscillators: int) -> bool:
    """Whether `path_loss` takes that many oscillators."""
    return oscillators <= _MOST_HELD


def rollout(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics, *, record: bool = False
) -> Tensor:
    """As `reference.rollout`."""
    return _run(fields, couplings, dynamics, record=record)[0]


def rollout_with_pullback(
    fields: Tensor, couplings: Tensor, dynamics: Dynamics
) -> tuple[Tensor, Pullback]:
    """As `reference.rollout_with_pullback`; the tape is three numbers per oscillator and step."""
    runs, rows, oscillators = fields.shape
    couplings = couplings.contiguous()
    phases, tape = _run(fields, couplings, dynamics, tape=True)
    layout = _layout(fields, runs * rows)
    blocks = -(-rows // layout.samples)

    def pullback(final_gradient: Tensor) -> tuple[Tensor, Tensor]:
        fields_gradient = torch.empty_like(phases)
        shape = (blocks, oscillators, oscillators)
        if not layout.holds:
            shape = (rows * dynamics.steps, 2, oscillators)
        outer = phases.new_empty(runs, *shape)
        _kernel("adjoint", layout, (), fields.device)(
            (blocks, runs),
            layout.threads,
            [
                couplings,
                tape,
                final_gradient.contiguous(),
                fields_gradient,
                outer,
                rows,
                dynamics.steps,
                dynamics.mobility * dynamics.time_step,
            ],
        )
        if layout.holds:
            return fields_gradient, outer.sum(1).transpose(1, 2)
        sin_cos = tape.view(runs, rows * dynamics.steps, 3, oscillators)
        by_sin = outer[:, :, 0].transpose(1, 2) @ sin_cos[:, :, 1]
        return fields_gradient, by_sin - outer[:, :, 1].transpose(1, 2) @ sin_cos[:, :, 0]

    return phases, pullback


def noisy_rollout(
    fields: Tensor,
    couplings: Tensor,
    dynamics: Dynamics,
    noise: Noise,
    *,
    record: bool = False,
) -> Tensor:
    """As `reference.noisy_rollout`: the same increments."""
    phases, _ = _run(fields, couplings, dynamics, record=record, noise=noise)
    shape = (len(fields), len(noise.replicates), *fields.shape[1:])
    return phases.view(*phases.shape[:-3], *shape)


def path_loss(
    fields: Tensor,
    couplings: Tensor,
    coefficients: Tensor,
    dynamics: Dynamics,
    *,
    nodes: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """As `reference.path_loss`."""
    runs, rows, oscillators = fields.shape
    layout = _layout(fields, 4 * runs * rows)
    blocks = -(-rows // layout.samples)
    times, weights = rule(dynamics.steps, nodes, fields.dtype, fields.device)
    processors = _processors(fields.device)
    parts = max(1, min(len(times) // 4, 4 * processors // (blocks * runs)))
    losses = fields.new_empty(parts, runs, rows, oscillators)
    fields_gradient = torch.empty_like(losses)
    outer = fields.new_empty(parts, runs, blocks, oscillators, oscillators)
    scale = dynamics.mobility * dynamics.time_step
    count = rows * dynamics.steps * oscillators
    _kernel("path", layout, (), fields.device)(
        (blocks, runs, parts),
        layout.threads,
        [
            fields.contiguous(),
            couplings.contiguous(),
            coefficients.contiguous(),
            times,
            weights,
            losses,
            fields_gradient,
            outer,
            rows,
            len(times),
            1.0 / dynamics.steps,
            scale,
            2.0 * scale / count,
        ],
    )
    return (
        losses.sum((0, 2, 3)) / count,
        fields_gradient.sum(0),
        outer.sum((0, 2)).transpose(1, 2),
    )


def _run(
    fields: Tensor,
    couplings: Tensor,
    dynamics: Dynamics,
    *,
    record: bool = False,
    tape: bool = False,
    noise: Noise | None = None,
) -> tuple[Tensor, Tensor]:
    runs, batch, oscillators = fields.shape
    steps, step = dynamics.steps, dynamics.time_step
    rows = batch * (1 if noise is None else len(noise.replicates))
    layout = _layout(fields, runs * rows)
    shape = (runs, rows, oscillators)
    phases = fields.new_empty(*((steps + 1, *shape) if record else shape))
    taped = fields.new_empty(*(runs, rows, steps, 3, oscillators) if tape else (1,))
    forcing: list[Tensor | int | float | None] = [0.0, 0, 0, None, None]
    if noise is not None:
        bits = int.from_bytes(struct.pack("<f", noise.temperature), "little")
        strength = math.sqrt(2.0 * dynamics.mobility * noise.temperature * step)
        indices = (noise.replicates.long().contiguous(), noise.samples.long().contiguous())
        forcing = [strength, noise.seed, bits, *indices]
    flags = (("TAPE", tape), ("RECORD", record), ("NOISE", noise is not None))
    _kernel("rollout", layout, flags, fields.device)(
        (-(-rows // layout.samples), runs),
        layout.threads,
        [
            fields.contiguous(),
            couplings.contiguous(),
            phases,
            taped,
            rows,
            batch,
            steps,
            dynamics.mobility * step,
            *forcing,
        ],
    )
    return phases, taped


def _layout(fields: Tensor, samples: int) -> Layout:
    return Layout.of(samples, fields.shape[-1], _processors(fields.device))


@functools.cache
def _processors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


@functools.cache
def _kernel(
    name: str, layout: Layout, flags: tuple[tuple[str, bool], ...], device: torch.device
) -> Kernel:
    source = Path(__file__).with_name("oscillators.cu").read_text()
    definitions = layout.definitions | {"TAPE": 0, "RECORD": 0, "NOISE": 0}
    definitions |= {flag: int(on) for flag, on in flags}
    return compile_kernel(source, name, definitions, device)
