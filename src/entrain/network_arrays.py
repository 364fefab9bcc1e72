"""Arrays that describe a network, checked where they come in."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from entrain.errors import InputError
from entrain.physics import layered_graph


def checked_graph(graph: ArrayLike | Tensor | None, hidden: int, outputs: int) -> Tensor:
    """Which couplers exist, (N, N): a symmetric boolean array, or the layered graph."""
    if graph is None:
        return layered_graph(hidden, outputs)
    found = graph.detach().cpu() if isinstance(graph, Tensor) else torch.tensor(np.asarray(graph))
    n = hidden + outputs
    if found.shape != (n, n):
        raise wrong_shape("graph", f"{n} x {n}, as there are {n} oscillators", found)
    if found.dtype != torch.bool and not bool(((found == 0) | (found == 1)).all()):
        raise InputError("graph must hold booleans, true where two oscillators are coupled")
    found = found.bool()
    if not torch.equal(found, found.T):
        i, j = (int(k) for k in (found != found.T).nonzero()[0])
        raise InputError(f"graph must be symmetric: it differs at ({i}, {j}) and ({j}, {i})")
    if bool(found.diagonal().any()):
        i = int(found.diagonal().nonzero()[0])
        raise InputError(f"graph must have no self-coupling, got one at ({i}, {i})")
    return found.clone()


def checked_term(
    name: str, value: ArrayLike | Tensor, shape: tuple[int, ...], dtype: torch.dtype
) -> Tensor:
    """A term as a tensor of `shape`; the numbers of one network serve every run."""
    tensor = finite_array(name, value)
    if tensor.shape not in (shape, shape[1:] if len(shape) > 1 or name == "lag" else shape):
        raise wrong_shape(name, " x ".join(map(str, shape)) or "one number", tensor)
    return tensor.to(dtype).expand(shape).clone()


def finite_array(name: str, array: ArrayLike | Tensor) -> Tensor:
    """A float32 or float64 tensor on the CPU, not empty and finite."""
    tensor = array.detach().cpu() if isinstance(array, Tensor) else torch.tensor(np.asarray(array))
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.to(torch.float32)
    if 0 in tensor.shape:
        raise wrong_shape(name, "a non-empty array", tensor)
    if not tensor.isfinite().all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    return tensor


def wrong_shape(name: str, expected: str, found: Tensor) -> InputError:
    """The error for an array of another shape than expected."""
    return InputError(f"{name} must be {expected}; got shape {tuple(found.shape)}")


def check_couplings(matrix: Tensor, graph: Tensor, hidden: int) -> None:
    """Refuse a matrix (N, N) that is asymmetric or not zero where there is no coupler."""
    if not torch.equal(matrix, matrix.T):
        i, j = (int(k) for k in (matrix != matrix.T).nonzero()[0])
        raise InputError(
            f"couplings must be symmetric: J[{i}, {j}] = {matrix[i, j]:g} "
            f"but J[{j}, {i}] = {matrix[j, i]:g}"
        )
    if matrix.diagonal().any():
        i = int(matrix.diagonal().nonzero()[0])
        raise InputError(f"self-coupling is not allowed: J[{i}, {i}] = {matrix[i, i]:g}, not 0")
    forbidden = matrix.where(~graph, 0.0)
    if forbidden.any():
        i, j = (int(k) for k in forbidden.nonzero()[0])
        why = "the graph has no coupler there"
        if i >= hidden and j >= hidden:
            why = f"both are outputs (from {hidden} on), which the graph does not couple"
        raise InputError(
            f"oscillators {i} and {j} must not be coupled: {why}, but J[{i}, {j}] = "
            f"{matrix[i, j]:g}, not 0"
        )
