"""Graphs with exact weights: the edges of a problem, from matrices, networkx or lists."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from entrain.utils.errors import InputError, positive_int

MOST_NODES = 2**31 - 1
_MOST = 2**60  # the sum of |weights|: sums of them stay below 2^63
_EXACT = 2**53  # integers up to here are exact in float64
_CELLS = 2**24  # of edges times states, compared at a time


@dataclass(frozen=True, eq=False)
class WeightedGraph:
    """An undirected graph without self-loops, of N nodes and E edges.

    Args:
        nodes: N.
        first: i of every edge (E,), below j.
        second: j of every edge (E,). Edges are sorted by i and then j.
        weights: w_ij (E,), int64 if all are whole, else float64.
        names: Names of the nodes; None for 0 to N - 1.

    Examples:
        >>> graph = entrain.ising.WeightedGraph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
        >>> graph.nodes, len(graph.weights)
        (3, 2)
    """

    nodes: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weights: NDArray[Any]
    names: tuple[Hashable, ...] | None = None

    @classmethod
    def from_entries(
        cls,
        nodes: int,
        rows: Any,
        columns: Any,
        weights: Any,
        names: Sequence[Hashable] | None = None,
    ) -> WeightedGraph:
        """The graph of edges in any order; self-loops and repetitions are refused.

        Args:
            nodes: N.
            rows: One end of every edge (E,).
            columns: The other end (E,).
            weights: Weight of every edge (E,).
            names: Names of the nodes.
        """
        positive_int("the number of nodes", nodes, most=MOST_NODES)
        rows, columns = (np.asarray(ends, dtype=np.int64) for ends in (rows, columns))
        first, second = np.minimum(rows, columns), np.maximum(rows, columns)
        if len(first) and (first.min() < 0 or second.max() >= nodes):
            raise InputError(
                f"edges must join nodes 0 to {nodes - 1}, got {min(first.min(), 0)} to "
                f"{second.max()}"
            )
        if (loops := np.flatnonzero(first == second)).size:
            raise InputError(
                f"an edge must join two nodes, got one from {first[loops[0]]} to itself"
            )
        keys = first * nodes + second
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        if (repeated := np.flatnonzero(keys[1:] == keys[:-1])).size:
            i, j = divmod(int(keys[repeated[0]]), nodes)
            raise InputError(f"an edge must be given once, got ({i}, {j}) twice")
        values = exact_numbers("weights", weights)[order]
        return cls(
            nodes, first[order], second[order], values, None if names is None else tuple(names)
        )

    @property
    def edges(self) -> int:
        """E."""
        return len(self.first)

    @property
    def is_integer(self) -> bool:
        """True if all weights are whole numbers."""
        return bool(np.issubdtype(self.weights.dtype, np.integer))

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """The weights as a symmetric sparse matrix (N, N)."""
        rows, columns = (
            np.concatenate(ends) for ends in ((self.first, self.second), (self.second, self.first))
        )
        values = np.concatenate([self.weights, self.weights])
        return scipy.sparse.coo_array((values, (rows, columns)), (self.nodes, self.nodes)).tocsr()

    def total(self) -> int | float:
        """Sum of all weights."""
        return self.weights.sum().item() if self.edges else 0

    def cuts(self, states: NDArray[Any]) -> NDArray[Any]:
        """Sums of the weights of edges whose ends differ (M,), exact for whole weights.

        Args:
            states: States of the nodes (M, N), of any discrete values.
        """
        columns = np.ascontiguousarray(states.T)  # (N, M): rows of nodes are gathered
        count = columns.shape[1]
        exact = self.is_integer and int(np.abs(self.weights).sum()) >= _EXACT
        weights = self.weights if exact else self.weights.astype(np.float64)
        sums = np.zeros(count, dtype=weights.dtype)
        size = max(1, _CELLS // max(count, 1))
        for begin in range(0, self.edges, size):
            part = slice(begin, begin + size)
            differ = columns[self.first[part]] != columns[self.second[part]]
            sums += weights[part] @ differ.astype(weights.dtype)
        return np.rint(sums).astype(np.int64) if self.is_integer and not exact else sums


def exact_numbers(name: str, values: Any) -> NDArray[Any]:
    """Finite numbers as int64 if all are whole, else as float64.

    Args:
        name: Their name, for errors.
        values: Numbers.
    """
    array = np.asarray(values)
    if array.dtype == object:  # integers of Python beyond 64 bits, or no numbers
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{name} must be numbers of at most {_MOST:,} in all") from error
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool) or np.iscomplexobj(array):
        raise InputError(f"{name} must be real numbers, got {array.dtype}")
    if np.issubdtype(array.dtype, np.floating):
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            raise InputError(f"{name} must be finite, got NaN or infinity")
        with np.errstate(over="ignore"):
            size = float(np.abs(array).sum())
        if not np.isfinite(size) or size > 1e300:
            raise InputError(f"{name} must add up to less than 1e300 in size: divide them")
        if size >= _EXACT or (array != np.rint(array)).any():
            return array
    elif array.size and float(np.abs(array.astype(np.float64)).sum()) >= _MOST:
        raise InputError(f"{name} must add up to less than {_MOST:,} in size: divide them")
    return array.astype(np.int64)


def graph_of(source: Any, nodes: int | None = None) -> WeightedGraph:
    """The graph of a symmetric matrix, a networkx graph, or edges.

    Args:
        source: A matrix (N, N), dense or scipy.sparse; a networkx graph, of weights "weight" or 1;
            edges (i, j) or (i, j, w) together with `nodes`; or a `WeightedGraph`.
        nodes: N of a list of edges.

    Examples:
        >>> from entrain.ising.graph import graph_of
        >>> graph = graph_of([(0, 1), (1, 2)], nodes=3)
        >>> graph.nodes, graph.edges
        (3, 2)
    """
    if isinstance(source, WeightedGraph):
        return source
    if hasattr(source, "adj") and hasattr(source, "number_of_nodes"):
        return _of_networkx(source)
    if nodes is not None:
        return _of_edges(source, nodes)
    if scipy.sparse.issparse(source):
        matrix: Any = scipy.sparse.coo_array(source)  # type: ignore[call-overload]
    else:
        dense = np.asarray(source)
        if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
            raise InputError(
                "the graph must be a square matrix, a networkx graph, or edges together with "
                f"nodes=N; got shape {dense.shape}"
            )
        matrix = scipy.sparse.coo_array(np.where(dense == 0, 0, exact_numbers("weights", dense)))
    return _of_matrix(matrix)


def _of_matrix(matrix: Any) -> WeightedGraph:
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix must be square, got shape {matrix.shape}")
    matrix.sum_duplicates()
    rows, columns, values = matrix.row, matrix.col, exact_numbers("weights", matrix.data)
    present = values != 0
    rows, columns, values = rows[present], columns[present], values[present]
    if (rows == columns).any():
        i = int(rows[rows == columns][0])
        raise InputError(f"the diagonal must be 0: a node has no edge to itself, got one at {i}")
    upper, lower = rows < columns, rows > columns
    ordered = [
        np.lexsort((ends[1][side], ends[0][side]))
        for side, ends in ((upper, (rows, columns)), (lower, (columns, rows)))
    ]
    halves = [
        np.stack([a[side], b[side], values[side]])[:, order]
        for side, (a, b), order in (
            (upper, (rows, columns), ordered[0]),
            (lower, (columns, rows), ordered[1]),
        )
    ]
    if halves[0].shape != halves[1].shape or (halves[0] != halves[1]).any():
        raise InputError("the matrix must be symmetric: w_ij = w_ji")
    return WeightedGraph.from_entries(matrix.shape[0], rows[upper], columns[upper], values[upper])


def _of_networkx(graph: Any) -> WeightedGraph:
    if graph.is_multigraph() or graph.is_directed():
        raise InputError("the graph must be undirected, with one edge between two nodes")
    names = tuple(graph.nodes)
    index = {name: i for i, name in enumerate(names)}
    edges = list(graph.edges(data="weight", default=1))
    rows, columns = ([index[edge[end]] for edge in edges] for end in (0, 1))
    return WeightedGraph.from_entries(
        len(names),
        rows,
        columns,
        [edge[2] for edge in edges],
        None if names == tuple(range(len(names))) else names,
    )


def _of_edges(edges: Any, nodes: int) -> WeightedGraph:
    try:
        table = np.asarray(edges)
    except ValueError as error:  # rows of different lengths
        raise InputError("edges must be rows (i, j) or (i, j, w), all alike") from error
    table = table.reshape(-1, 2) if table.size == 0 else table
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        raise InputError(f"edges must be rows (i, j) or (i, j, w), got shape {table.shape}")
    ends = exact_numbers("ends of edges", table[:, :2])
    if not np.issubdtype(ends.dtype, np.integer):
        raise InputError("ends of edges must be whole numbers")
    weights = np.ones(len(table), dtype=np.int64) if table.shape[1] == 2 else table[:, 2]
    return WeightedGraph.from_entries(nodes, ends[:, 0], ends[:, 1], weights)
