r"""Couplings J as a matrix, or by the edges of a sparse graph, behind the same four products.

A dense J is a tensor (R, N, N). `SparseCouplings` has a value for each directed edge (i, j), so
that J_ij and J_ji may differ, and costs its edges: O(R B M) for M directed edges, not O(R B N^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from entrain.utils.errors import InputError

SMALLEST = 160  # oscillators up to which a matrix is faster than edges, whatever the graph
_DENSEST = 0.1  # share of all pairs from which it is


@dataclass(frozen=True, eq=False)
class SparseGraph:
    """The directed edges (i, j) of an undirected graph, sorted by i and then j.

    Args:
        oscillators: N.
        rows: i of every directed edge (M,).
        columns: j of every directed edge (M,).
        pairs: Index of its coupler, the undirected edge (M,), from 0 to E - 1.
    """

    oscillators: int
    rows: Tensor
    columns: Tensor
    pairs: Tensor

    @classmethod
    def from_pairs(cls, first: Tensor, second: Tensor, oscillators: int) -> SparseGraph:
        """The graph of couplers i < j.

        Args:
            first: i of every coupler (E,).
            second: j of every coupler (E,).
            oscillators: N.
        """
        first, second = first.long(), second.long()
        numbers = torch.arange(len(first), device=first.device).repeat(2)
        rows, columns = torch.cat([first, second]), torch.cat([second, first])
        order = (rows * oscillators + columns).argsort()
        return cls(oscillators, rows[order], columns[order], numbers[order])

    @property
    def edges(self) -> int:
        """M, twice the number of couplers."""
        return len(self.rows)

    @property
    def is_sparse(self) -> bool:
        """True if edges are faster than a matrix."""
        n = self.oscillators
        return n > SMALLEST and self.edges < _DENSEST * n * n

    @cached_property
    def starts(self) -> Tensor:
        """Position of the first edge of every row, and M (N + 1,)."""
        counts = torch.bincount(self.rows, minlength=self.oscillators)
        return torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    @cached_property
    def reverse(self) -> Tensor:
        """Position of the edge (j, i) of every edge (i, j) (M,)."""
        return (self.columns * self.oscillators + self.rows).argsort()

    @cached_property
    def moved(self) -> dict[torch.device, SparseGraph]:
        """Copies on other devices."""
        return {}

    def to(self, device: torch.device) -> SparseGraph:
        """The graph on a device.

        Args:
            device: Where its tensors lie.
        """
        if device == self.rows.device:
            return self
        if device not in self.moved:
            tensors = (t.to(device) for t in (self.rows, self.columns, self.pairs))
            self.moved[device] = SparseGraph(self.oscillators, *tensors)
        return self.moved[device]


@dataclass(frozen=True, eq=False)
class SparseCouplings:
    """Couplings on a sparse graph.

    Args:
        values: J_ij of every directed edge (R, M), or with more axes in front.
        graph: The edges.
    """

    values: Tensor
    graph: SparseGraph

    @property
    def shape(self) -> torch.Size:
        """(R, N, N), the shape of the matrix."""
        n = self.graph.oscillators
        return torch.Size([*self.values.shape[:-1], n, n])

    def dense(self) -> Tensor:
        """The matrix (R, N, N), differentiable."""
        n, graph = self.graph.oscillators, self.graph
        flat = self.values.new_zeros(*self.values.shape[:-1], n * n)
        return flat.index_copy(-1, graph.rows * n + graph.columns, self.values).reshape(self.shape)


Couplings = Tensor | SparseCouplings


def values_of(couplings: Couplings) -> Tensor:
    """The tensor of values: (R, N, N), or (R, M) of a sparse graph."""
    return couplings.values if isinstance(couplings, SparseCouplings) else couplings


def with_values(couplings: Couplings, values: Tensor) -> Couplings:
    """Couplings on the same graph with other values."""
    if isinstance(couplings, SparseCouplings):
        graph = couplings.graph.to(values.device)
        return replace(couplings, values=values, graph=graph)
    return values


def scaled(couplings: Couplings, factor: Tensor) -> Couplings:
    """J_ij times a factor of its own, or one that all share."""
    return with_values(couplings, values_of(couplings) * factor)


def scale_rows(couplings: Couplings, factors: Tensor) -> Couplings:
    """J_ij times a factor (N,) of row i."""
    if isinstance(couplings, SparseCouplings):
        return with_values(couplings, couplings.values * factors[couplings.graph.rows])
    return couplings * factors[:, None]


def multiply(couplings: Couplings, vectors: Tensor) -> Tensor:
    """sum_j J_ij x_j of vectors x (..., B, N): (..., B, N)."""
    if isinstance(couplings, SparseCouplings):
        graph = couplings.graph
        return _gathered(couplings.values, vectors, graph.columns, graph.rows)
    # Contiguous, so that a symmetric matrix gives the same bits either way round.
    return vectors @ couplings.mT.contiguous()


def multiply_transposed(couplings: Couplings, vectors: Tensor) -> Tensor:
    """sum_i J_ij x_i of vectors x (..., B, N): (..., B, N)."""
    if isinstance(couplings, SparseCouplings):
        graph = couplings.graph
        return _gathered(couplings.values, vectors, graph.rows, graph.columns)
    return vectors @ couplings


def outer(couplings: Couplings, left: Tensor, right: Tensor) -> Tensor:
    """sum_b x_bi y_bj of vectors (..., B, N), where J has values; of the shape of `values_of`."""
    if isinstance(couplings, SparseCouplings):
        graph = couplings.graph
        return (left[..., graph.rows] * right[..., graph.columns]).sum(-2)
    return left.mT @ right


def add_outer(total: Tensor, couplings: Couplings, left: Tensor, right: Tensor, sign: int) -> None:
    """Add sign * sum_b x_bi y_bj of vectors (R, B, N) where J has values, in place.

    Args:
        total: A tensor of the shape of `values_of(couplings)`.
        couplings: J, for its graph.
        left: x.
        right: y.
        sign: 1 or -1.
    """
    if isinstance(couplings, SparseCouplings):
        total.add_(outer(couplings, left, right), alpha=sign)
    else:
        total.baddbmm_(left.mT, right, alpha=sign)


def _gathered(values: Tensor, vectors: Tensor, source: Tensor, target: Tensor) -> Tensor:
    products = values[..., None, :] * vectors[..., source]
    sums = products.new_zeros(*products.shape[:-1], vectors.shape[-1])
    return sums.index_add(-1, target, products)


def check_pairs(pairs: Sequence[Sequence[int]] | Tensor, oscillators: int) -> tuple[Tensor, Tensor]:
    """Couplers (E, 2) as sorted i < j; refuses self-couplings, repetitions and other indices."""
    edges = torch.as_tensor(pairs)
    if edges.numel() == 0:
        edges = edges.new_zeros(0, 2)
    if edges.dim() != 2 or edges.shape[1] != 2 or edges.is_floating_point():
        raise InputError(f"edges must be pairs of indices (E, 2), got shape {tuple(edges.shape)}")
    low, high = edges.long().min(1).values, edges.long().max(1).values
    if len(low) and (int(low.min()) < 0 or int(high.max()) >= oscillators):
        raise InputError(f"edges must join oscillators 0 to {oscillators - 1}")
    if bool((low == high).any()):
        i = int(low[low == high][0])
        raise InputError(f"edges must join two oscillators, got one from {i} to itself")
    keys = low * oscillators + high
    repeated = int((keys.sort().values.diff() == 0).sum())
    if repeated:
        raise InputError(f"edges must be different: {repeated} are repeated")
    return low, high
