"""A training step without per-step Python on an accelerator."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from entrain.rules.interface import Tensors


class RepeatedStep:
    """A step that depends on example indices (R, B) alone and changes tensors in place.

    On a CUDA device it is captured as a graph for each shape of indices and replayed; elsewhere
    it is called. `changed` are the tensors it changes: capturing runs the step and restores them.
    """

    def __init__(
        self,
        step: Callable[[Tensor], None],
        changed: Sequence[Tensor],
        pool: Callable[[], Any] | None = None,
    ) -> None:
        """`pool` returns the memory pool that captured graphs share, as they never run at once."""
        self._step, self._changed, self._pool = step, changed, pool
        self._graphs: dict[torch.Size, tuple[Tensor, torch.cuda.CUDAGraph]] = {}

    def __call__(self, rows: Tensor) -> None:
        """Take the step on the examples `rows`."""
        if not rows.is_cuda:
            self._step(rows)
            return
        if rows.shape not in self._graphs:
            self._graphs[rows.shape] = self._capture(rows)
        indices, graph = self._graphs[rows.shape]
        with torch.cuda.device(rows.device):
            indices.copy_(rows)
            graph.replay()

    def _capture(self, rows: Tensor) -> tuple[Tensor, torch.cuda.CUDAGraph]:
        before = [tensor.clone() for tensor in self._changed]
        indices = rows.clone()
        with torch.cuda.device(rows.device):  # streams and captures belong to one device
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):  # compiles and allocates, which a capture must not
                for _ in range(2):
                    self._step(indices)
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            pool = None if self._pool is None else self._pool()
            with _no_collection(), torch.cuda.graph(graph, pool=pool):
                self._step(indices)
        for tensor, old in zip(self._changed, before, strict=True):
            tensor.copy_(old)
        return indices, graph


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Without garbage collection: freeing an earlier training's graphs breaks a capture."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class RepeatedSteps:
    """The repeated steps of one training by key, made again when its tensors are replaced."""

    def __init__(self) -> None:
        self._tensors: Tensors | None = None
        self._steps: dict[object, RepeatedStep] = {}
        self._pool = functools.cache(torch.cuda.graph_pool_handle)

    def get(
        self,
        tensors: Tensors,
        step: Callable[[Tensors, Tensor], None],
        *more: Tensor,
        key: object = None,
    ) -> RepeatedStep:
        """`step(tensors, rows)`, which changes `tensors` and `more`, as a repeated step."""
        if self._tensors is not tensors:
            self._tensors, self._steps = tensors, {}
        if key not in self._steps:
            changed = [*tensors.values(), *more]
            repeated = functools.partial(step, tensors)
            self._steps[key] = RepeatedStep(repeated, changed, self._pool)
        return self._steps[key]
