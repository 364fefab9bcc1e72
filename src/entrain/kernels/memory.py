"""Rollouts with a pullback whose tape does not fit in memory, cut by samples or by time.

Nothing is approximated: a piece of the batch is rolled out again in the pullback, and so is a
segment of the steps, from the phases at its beginning.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from types import ModuleType

import torch
from torch import Tensor

from entrain.kernels.reference import Pullback
from entrain.physics import Dynamics, Noise, PhaseModel
from entrain.physics.phase_model import is_per_sample

# Memory of a rollout's tape. None is 1 GiB on a CPU and a quarter of a GPU's memory: small pieces
# would leave most of it idle.
TAPE_BYTES: int | None = None

_TILE = 8  # samples that the CPU kernels take at a time


def rollout_with_pullback(
    module: ModuleType,
    model: PhaseModel,
    dynamics: Dynamics,
    noise: Noise | None,
    record: int,
) -> tuple[Tensor, Pullback]:
    """`module.rollout_with_pullback` within the memory of a tape."""
    batch = model.fields.shape[1]
    sample = len(model.fields) * (1 if noise is None else len(noise.replicates))
    sample *= int(module.tape_bytes(model, dynamics.steps))
    available = _available(model.fields.device) if TAPE_BYTES is None else TAPE_BYTES
    rows = min(batch, available // max(sample, 1))
    if rows >= batch:
        result: tuple[Tensor, Pullback] = module.rollout_with_pullback(
            model, dynamics, noise=noise, record=record
        )
        return result
    if rows >= min(batch, module.PARALLEL_SAMPLES):
        rows -= rows % _TILE if rows > _TILE else 0
        return _in_pieces(module, model, dynamics, noise, record, rows)
    length = max(1, dynamics.steps * available // (sample * batch))
    if record:
        length = max(record, length - length % record)
    return _in_segments(module, model, dynamics, noise, record, length)


@functools.cache
def _available(device: torch.device) -> int:
    if device.type != "cuda":
        return 2**30
    return int(torch.cuda.get_device_properties(device).total_memory) // 4


def _in_pieces(
    module: ModuleType,
    model: PhaseModel,
    dynamics: Dynamics,
    noise: Noise | None,
    record: int,
    rows: int,
) -> tuple[Tensor, Pullback]:
    """`rows` samples at a time."""
    pieces = [
        (samples, model.rows(samples), None if noise is None else noise.rows(samples))
        for samples in (slice(i, i + rows) for i in range(0, model.fields.shape[1], rows))
    ]

    def pullback(gradient: Tensor) -> PhaseModel:
        total = dict[str, Tensor]()
        for samples, piece, forcing in pieces:
            _, back = module.rollout_with_pullback(piece, dynamics, noise=forcing, record=record)
            for name, values in back(gradient[..., samples, :]).tensors().items():
                per_sample = is_per_sample(name) and model.tensors()[name].shape[-2] != 1
                if name not in total:
                    total[name] = values
                elif per_sample:
                    total[name] = torch.cat([total[name], values], dim=-2)
                else:
                    total[name] = total[name] + values
        return replace(model, other_terms=(), delay=0.0).with_tensors(total)

    phases = [
        module.rollout(piece, dynamics, noise=forcing, record=record)
        for _, piece, forcing in pieces
    ]
    return torch.cat(phases, dim=-2), pullback


def _in_segments(
    module: ModuleType,
    model: PhaseModel,
    dynamics: Dynamics,
    noise: Noise | None,
    record: int,
    length: int,
) -> tuple[Tensor, Pullback]:
    """`length` steps at a time, with noise one replicate after another."""
    forcings: list[Noise | None] = [None]
    if noise is not None:
        forcings = [replace(noise, replicates=index[None]) for index in noise.replicates]
    segments = [_Segments(module, model, dynamics, forcing, length) for forcing in forcings]
    phases = [segment.rollout(record) for segment in segments]

    def pullback(gradient: Tensor) -> PhaseModel:
        gradients = [gradient] if noise is None else gradient.unbind(-3)
        total = dict[str, Tensor]()
        for segment, outer in zip(segments, gradients, strict=True):
            for name, values in segment.pullback(outer, record).items():
                total[name] = total[name] + values if name in total else values
        return model.with_tensors(total)

    return phases[0] if noise is None else torch.stack(phases, dim=-3), pullback


class _Segments:
    """One rollout in segments, of which the phases at the beginning are stored."""

    def __init__(
        self,
        module: ModuleType,
        model: PhaseModel,
        dynamics: Dynamics,
        noise: Noise | None,
        length: int,
    ) -> None:
        self._module, self._model, self._dynamics, self._noise = module, model, dynamics, noise
        self._firsts = range(0, dynamics.steps, length)
        self._length, self._starts = length, [model.starts()]

    def _part(self, index: int) -> tuple[PhaseModel, Dynamics, Noise | None]:
        first = self._firsts[index]
        count = min(self._length, self._dynamics.steps - first)
        time = self._dynamics.time_step * count
        dynamics = replace(self._dynamics, steps=count, observation_time=time)
        noise = None if self._noise is None else self._noise.steps(first, count)
        model = replace(self._model.steps(first, count), start=self._starts[index])
        return model, dynamics, noise

    def rollout(self, record: int) -> Tensor:
        """The phases at t_f, or the recorded ones."""
        recorded = list[Tensor]()
        for index in range(len(self._firsts)):
            model, dynamics, noise = self._part(index)
            phases = self._module.rollout(model, dynamics, noise=noise, record=record)
            phases = phases if noise is None else phases.squeeze(-3)
            if record:
                recorded.append(phases if index == 0 else phases[1:])
            self._starts.append(phases[-1] if record else phases)
        final = self._starts.pop()
        return torch.cat(recorded) if record else final

    def pullback(self, gradient: Tensor, record: int) -> dict[str, Tensor]:
        """The gradients of a loss with this gradient by the phases, by the names of tensors."""
        adjoint, total = gradient[-1] if record else gradient, dict[str, Tensor]()
        for index in range(len(self._firsts) - 1, -1, -1):
            model, dynamics, noise = self._part(index)
            _, back = self._module.rollout_with_pullback(
                model, dynamics, noise=noise, record=record
            )
            outer = adjoint
            if record:
                first = self._firsts[index] // record
                outer = gradient[first : first + dynamics.steps // record + 1].clone()
                outer[-1] = adjoint
            tensors = back(outer if noise is None else outer.unsqueeze(-3)).tensors()
            adjoint = tensors.pop("start")
            self._add(total, tensors, self._firsts[index])
        if (start := self._model.start) is not None:
            shared = start.shape[1] == 1 < adjoint.shape[1]
            total["start"] = adjoint.sum(1, keepdim=True) if shared else adjoint
        return total

    def _add(self, total: dict[str, Tensor], tensors: dict[str, Tensor], first: int) -> None:
        """Add the gradients of the segment that begins at step `first`."""
        schedule = self._model.schedule
        for name, values in tensors.items():
            if schedule is not None and (name == "drive" or name.startswith("factor of")):
                whole = total.setdefault(name, torch.zeros_like(self._model.tensors()[name]))
                begin = schedule.segment(first) if name == "drive" else first
                whole[begin : begin + len(values)] += values
            else:
                total[name] = total[name] + values if name in total else values
