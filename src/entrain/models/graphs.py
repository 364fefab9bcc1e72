"""Couplings of oscillators from matrices, scipy.sparse, networkx graphs and lists of edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.physics.couplings import SparseGraph
from entrain.utils.errors import InputError, finite_float, positive_int
from entrain.utils.sparse import is_scipy_sparse

_LARGEST = 50_000  # oscillators of which all pairs are coupled: their indices take 20 GB


@dataclass(frozen=True)
class CouplingGraph:
    """Who is coupled with whom, and how strongly.

    Args:
        graph: The directed edges; `pairs` is the index of a strength for each.
        strengths: J of every coupler i < j (..., E); of every directed edge if not symmetric. An
            edge whose reverse alone exists has index E, the strength 0.
        is_symmetric: True if J_ij = J_ji.
        nodes: Names of the oscillators of a networkx graph, else None.
    """

    graph: SparseGraph
    strengths: Tensor
    is_symmetric: bool
    nodes: tuple[Any, ...] | None = None


def coupling_graph(
    couplings: Any,
    *,
    coupling: float | None = None,
    oscillators: int | None = None,
    dtype: torch.dtype | None = None,
) -> CouplingGraph:
    """The graph and strengths of couplings in any form.

    Args:
        couplings: As for `Oscillators`.
        coupling: Factor of all strengths, 1 by default.
        oscillators: N of a list of edges.
        dtype: Type of the strengths; by default that of a tensor, else PyTorch's.
    """
    nodes: tuple[Any, ...] | None = None
    if isinstance(couplings, CouplingGraph):
        return couplings
    is_number = isinstance(couplings, int | np.integer) and not isinstance(couplings, bool)
    is_graph = hasattr(couplings, "adj") and hasattr(couplings, "number_of_nodes")
    if oscillators is not None and (is_number or is_graph or is_scipy_sparse(couplings)):
        raise InputError("oscillators is the number of a list of edges: give it with edges alone")
    if is_number:
        result = all_pairs(positive_int("couplings", int(couplings), most=_LARGEST))
        values = torch.ones(result.edges // 2, dtype=dtype or torch.get_default_dtype())
        return CouplingGraph(result, values * _factor(coupling), True)
    if is_graph:
        nodes = tuple(couplings.nodes)
        couplings = _networkx_matrix(couplings)
    if is_scipy_sparse(couplings):
        import scipy.sparse

        matrix: Any = scipy.sparse.coo_array(couplings)
        n, rows, columns, values = matrix.shape[0], matrix.row, matrix.col, _tensor(matrix.data)
        square = matrix.shape[0] == matrix.shape[1]
    elif oscillators is not None:
        n, square = positive_int("oscillators", oscillators), True
        rows, columns, values = _edge_list(couplings, n)
    else:
        matrix = _tensor(couplings)
        square = matrix.dim() >= 2 and matrix.shape[-1] == matrix.shape[-2] > 0
        if not square:
            raise InputError(
                "couplings must be a square matrix, a graph, a number of oscillators, or edges "
                f"together with oscillators=N; got shape {tuple(matrix.shape)}"
            )
        n = matrix.shape[-1]
        present = (matrix != 0).reshape(-1, n, n).any(0)
        rows, columns = (index.numpy() for index in present.cpu().nonzero().T)
        values = matrix[..., rows, columns]
    if not square:
        raise InputError(f"couplings must be a square matrix, got shape {couplings.shape}")
    values = values.to(dtype or values.dtype) * _factor(coupling)
    return _from_entries(n, rows, columns, values, nodes)


def all_pairs(oscillators: int) -> SparseGraph:
    """The graph that couples every two oscillators."""
    first, second = torch.triu_indices(oscillators, oscillators, offset=1)
    return SparseGraph.from_pairs(first, second, oscillators)


def _factor(coupling: float | None) -> float:
    return 1.0 if coupling is None else finite_float("coupling", coupling)


def _from_entries(
    n: int, rows: Any, columns: Any, values: Tensor, nodes: tuple[Any, ...] | None
) -> CouplingGraph:
    """The graph of entries J[rows, columns] of a matrix (N, N)."""
    rows, columns = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
    if not bool(torch.isfinite(values).all()):
        raise InputError("couplings must be finite, got NaN or infinity")
    if (rows == columns).any():
        i = int(rows[rows == columns][0])
        if bool((values[..., torch.from_numpy(rows == columns)] != 0).any()):
            raise InputError(f"self-coupling is not allowed: J[{i}, {i}] is not 0")
        kept = rows != columns
        rows, columns, values = rows[kept], columns[kept], values[..., torch.from_numpy(kept)]
    keys = rows * n + columns
    order = np.argsort(keys)
    keys, values = keys[order], values[..., torch.from_numpy(order)]
    if len(keys) and (np.diff(keys) == 0).any():
        i, j = divmod(int(keys[:-1][np.diff(keys) == 0][0]), n)
        raise InputError(f"couplings must be given once each, got ({i}, {j}) twice")
    reverse = (keys % n) * n + keys // n
    back = np.argsort(reverse)
    if np.array_equal(reverse[back], keys) and torch.equal(values[..., back], values):
        upper = keys // n < keys % n
        first, second = (torch.from_numpy(part[upper]) for part in (keys // n, keys % n))
        graph = SparseGraph.from_pairs(first, second, n)
        return CouplingGraph(graph, values[..., torch.from_numpy(upper)], True, nodes)
    both = np.union1d(keys, reverse)
    positions = np.full(len(both), len(keys))
    positions[np.searchsorted(both, keys)] = np.arange(len(keys))
    indices = (torch.from_numpy(part) for part in (both // n, both % n, positions))
    return CouplingGraph(SparseGraph(n, *indices), values, False, nodes)


def _networkx_matrix(graph: Any) -> Any:
    import networkx

    if graph.is_multigraph():
        raise InputError("the graph must have one edge between two nodes, got a multigraph")
    if graph.number_of_nodes() == 0:
        raise InputError("the graph must have nodes, got none")
    try:
        return networkx.to_scipy_sparse_array(graph, dtype=np.float64, format="coo")
    except (TypeError, ValueError) as error:
        raise InputError('every "weight" of an edge must be a number') from error


def _edge_list(edges: Any, n: int) -> tuple[Any, Any, Tensor]:
    """Rows, columns and strengths of edges (i, j) or (i, j, J), both ways."""
    try:
        table = edges.detach().cpu().numpy() if isinstance(edges, Tensor) else np.asarray(edges)
    except ValueError as error:  # rows of different lengths
        raise InputError("edges must be rows (i, j) or (i, j, J), all alike") from error
    table = table.reshape(-1, 2) if table.size == 0 else table
    if table.ndim != 2 or table.shape[1] not in (2, 3) or not np.issubdtype(table.dtype, np.number):
        raise InputError(
            f"edges must be rows (i, j) or (i, j, J), got an array of shape {table.shape}"
        )
    ends = table[:, :2]
    if ends.size and ((ends < 0) | (ends >= n) | (ends != np.floor(ends))).any():
        raise InputError(f"edges must join oscillators 0 to {n - 1}")
    ends = ends.astype(np.int64)
    if (ends[:, 0] == ends[:, 1]).any():
        i = int(ends[ends[:, 0] == ends[:, 1]][0, 0])
        raise InputError(f"edges must join two oscillators, got one from {i} to itself")
    ones = table.shape[1] == 2
    strengths = _tensor(
        np.ones(len(table)) if ones else edges[:, 2] if isinstance(edges, Tensor) else table[:, 2]
    )
    values = torch.cat([strengths, strengths])
    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    return rows, columns, values


def _tensor(values: Any) -> Tensor:
    """A floating tensor: a tensor keeps its type, other arrays get PyTorch's default."""
    if isinstance(values, Tensor):
        return values if values.is_floating_point() else values.to(torch.get_default_dtype())
    try:
        return torch.as_tensor(np.asarray(values), dtype=torch.get_default_dtype())
    except (TypeError, ValueError) as error:
        raise InputError(
            "couplings must be a matrix, a scipy.sparse matrix, a networkx graph, edges or a "
            f"number of oscillators, got {type(values).__name__}"
        ) from error
