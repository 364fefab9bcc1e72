"""Training steps without per-step Python on an accelerator."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from entrain.rules.interface import Tensors

Step = Callable[[Tensor], None]


class RepeatedSteps:
    """The steps of one training, which depend on example indices (R, B) alone and change tensors
    in place.

    On a CUDA device a step is captured as a graph for each shape of indices and replayed;
    elsewhere it is called. Graphs are captured again when the training's tensors are replaced.
    """

    def __init__(self) -> None:
        self._tensors: Tensors | None = None
        self._graphs: dict[tuple[object, torch.Size], tuple[Tensor, torch.cuda.CUDAGraph]] = {}
        # Graphs share a memory pool, as they never run at once.
        self._pool = functools.cache(torch.cuda.graph_pool_handle)

    def get(
        self,
        tensors: Tensors,
        step: Callable[[Tensors, Tensor], None],
        *more: Tensor,
        key: object = None,
    ) -> Step:
        """`step(tensors, rows)`, which changes `tensors` and `more`, as a function of `rows`."""
        if self._tensors is not tensors:
            self._tensors, self._graphs = tensors, {}
        plain, graphs = functools.partial(step, tensors), self._graphs

        def repeated(rows: Tensor) -> None:
            if not rows.is_cuda:
                plain(rows)
                return
            if (key, rows.shape) not in graphs:
                changed = [*tensors.values(), *more]
                graphs[key, rows.shape] = self._capture(plain, changed, rows)
            indices, graph = graphs[key, rows.shape]
            with torch.cuda.device(rows.device):
                indices.copy_(rows)
                graph.replay()

        return repeated

    def _capture(
        self, step: Step, changed: Sequence[Tensor], rows: Tensor
    ) -> tuple[Tensor, torch.cuda.CUDAGraph]:
        """A graph of `step` and its indices; capturing runs the step and restores `changed`."""
        before = [tensor.clone() for tensor in changed]
        indices = rows.clone()
        with torch.cuda.device(rows.device):  # streams and captures belong to one device
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):  # compiles and allocates, which a capture must not
                for _ in range(2):
                    step(indices)
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            with _no_collection(), torch.cuda.graph(graph, pool=self._pool()):
                step(indices)
        for tensor, old in zip(changed, before, strict=True):
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
