"""Checks of the arrays that define a network or enter it."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from entrain.physics import graph_of, layered_graph
from entrain.utils.errors import InputError


def checked_graph(graph: ArrayLike | Tensor | None, hidden: int, outputs: int) -> Tensor:
    """The graph of couplers (N, N), boolean; the layered graph by default."""
    if graph is None:
        return layered_graph(hidden, outputs)
    matrix, n = graph_of(graph), hidden + outputs
    if matrix.shape != (n, n):
        raise wrong_shape("graph", f"{n} x {n}, as there are {n} oscillators", matrix)
    return matrix


def checked_term(
    name: str, value: ArrayLike | Tensor, shape: tuple[int, ...], dtype: torch.dtype
) -> Tensor:
    """A term as a tensor of `shape`; a term without an axis of runs serves every run."""
    tensor = finite_array(name, value)
    if tensor.shape not in (shape, shape[1:] if len(shape) > 1 or name == "lag" else shape):
        expected = f"{' x '.join(map(str, shape))} numbers" if shape else "one number"
        raise wrong_shape(name, expected, tensor)
    return tensor.to(dtype).expand(shape).clone()


def finite_array(name: str, array: ArrayLike | Tensor) -> Tensor:
    """A float32 or float64 tensor on the CPU, neither empty nor with NaN or infinity."""
    try:
        tensor = array if isinstance(array, Tensor) else torch.tensor(np.array(array))
        if not isinstance(array, Tensor) and tensor.is_floating_point():
            tensor = tensor.to(torch.get_default_dtype())  # NumPy's float64 is rarely meant
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, got {type(array).__name__} ({error})") from error
    tensor = tensor.detach().cpu()
    if tensor.is_complex():
        raise InputError(f"{name} must be real numbers, got {tensor.dtype}")
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.to(torch.float32)
    if 0 in tensor.shape:
        raise wrong_shape(name, "a non-empty array", tensor)
    if not tensor.isfinite().all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    return tensor


def wrong_shape(name: str, expected: str, array: Tensor) -> InputError:
    """The error for an array of the wrong shape."""
    return InputError(f"{name} must be {expected}; got shape {tuple(array.shape)}")


def check_couplings(matrix: Tensor, graph: Tensor, hidden: int) -> None:
    """Refuse a matrix (N, N) that is asymmetric or not zero where there is no coupler."""
    if not torch.equal(matrix, matrix.T):
        i, j = (int(k) for k in (matrix != matrix.T).nonzero()[0])
        raise InputError(
            f"couplings must be symmetric: J[{i}, {j}] = {float(matrix[i, j])!r} "
            f"but J[{j}, {i}] = {float(matrix[j, i])!r}"
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


def checked_arrays(
    input_weights: ArrayLike | Tensor, biases: ArrayLike | Tensor, couplings: ArrayLike | Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """W (H, D), c (N,) and J (N, N) as tensors of consistent shapes, or with an axis of runs."""
    weights = finite_array("input weights", input_weights)
    axes = tuple(weights.shape[:-2])
    if weights.dim() not in (2, 3):
        raise wrong_shape("input weights", "H x D, or runs x H x D", weights)
    bias, matrix = finite_array("biases", biases), finite_array("couplings", couplings)
    hidden = weights.shape[-2]
    if bias.dim() != weights.dim() - 1 or bias.shape[:-1] != axes:
        expected = " x ".join([*map(str, axes), "N"])
        raise wrong_shape("biases", f"{expected} numbers, one for each oscillator", bias)
    n = bias.shape[-1]
    if n <= hidden:
        raise InputError(
            f"biases must have one entry for each of the {hidden} hidden oscillators (rows of "
            f"the input weights) and for each output, so at least {hidden + 1}; got {n}"
        )
    if matrix.shape != (*axes, n, n):
        raise InputError(
            f"couplings must be {' x '.join(map(str, (*axes, n, n)))}, as there are {n} "
            f"biases; got {' x '.join(map(str, matrix.shape))}"
        )
    return weights, bias, matrix
