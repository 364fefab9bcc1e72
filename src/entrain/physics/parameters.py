r"""The parameters of a network: one value from file to kernel.

Hidden oscillators come first, outputs last. The input u enters through the hidden fields only,

    b(u) = [ W u + c_hidden ; c_output ],

and the outputs are read as cos(theta). H hidden oscillators, O outputs, N = H + O,
D inputs, B samples; R independent networks side by side where there is a run axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from entrain.physics.phase_model import PhaseModel, TensorFields
from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Parameters(TensorFields):
    """Everything that determines a network's outputs, apart from its dynamics.

    Shapes are those of one network; every tensor but the graph may have a leading run axis. A term
    that is None is absent.

    Args:
        input_weights: W (H, D).
        biases: c (N,).
        couplings: J (N, N), zero where the graph has no coupler.
        graph: (N, N) booleans, True where two oscillators are coupled.
        frequencies: Natural frequencies w (N,).
        start_phases: theta(0) (N,); None is pi/2.
        injection: s (N,).
        lag: a ().
        harmonic: c and d (2,) of the phase model.
    """

    input_weights: Tensor
    biases: Tensor
    couplings: Tensor
    graph: Tensor
    frequencies: Tensor | None = None
    start_phases: Tensor | None = None
    injection: Tensor | None = None
    lag: Tensor | None = None
    harmonic: Tensor | None = None

    @property
    def hidden(self) -> int:
        """H."""
        return self.input_weights.shape[-2]

    @property
    def outputs(self) -> int:
        """O."""
        return self.biases.shape[-1] - self.hidden

    def run(self, index: int) -> Parameters:
        """The network of one run.

        Args:
            index: Position on the run axis.
        """
        return self.map(lambda tensor: tensor[index])

    def phase_model(self, inputs: Tensor) -> PhaseModel:
        """The terms of the phase model.

        Args:
            inputs: u (R, B, D), or (B, D) shared by all runs.
        """

        def per_sample(values: Tensor | None) -> Tensor | None:
            return None if values is None else values[..., None, :]

        return PhaseModel(
            fields=local_fields(self.input_weights, self.biases, inputs),
            couplings=self.couplings,
            frequencies=per_sample(self.frequencies),
            injection=per_sample(self.injection),
            lag=self.lag,
            start=per_sample(self.start_phases),
            harmonic=self.harmonic,
        )

    def pullback(self, gradient: PhaseModel, inputs: Tensor) -> dict[str, Tensor]:
        """Gradients with respect to `tensors()`.

        J_ij and J_ji are one parameter, so that its gradient is the sum of both; it is zero where
        there is no coupler.

        Args:
            gradient: The gradient with respect to `phase_model(inputs)`.
            inputs: u (R, B, D), or (B, D) shared by all runs.
        """
        by_couplings = gradient.matrix
        gradients = {
            "input_weights": gradient.fields[..., : self.hidden].mT @ inputs,
            "biases": gradient.fields.sum(-2),
            "couplings": self.graph * (by_couplings + by_couplings.mT),
        }
        for name in ("frequencies", "start", "injection"):
            if (tensor := getattr(gradient, name)) is not None:
                gradients["start_phases" if name == "start" else name] = tensor.sum(-2)
        shared = {"lag": gradient.lag, "harmonic": gradient.harmonic}
        return gradients | {name: t for name, t in shared.items() if t is not None}


def layered_graph(hidden: int, outputs: int, device: torch.device | None = None) -> Tensor:
    """(N, N) booleans: couplers between any two oscillators that are not both outputs."""
    n = hidden + outputs
    graph = ~torch.eye(n, dtype=torch.bool, device=device)
    graph[hidden:, hidden:] = False
    return graph


def small_random(
    inputs: int,
    hidden: int,
    graph: Tensor,
    *,
    seed: int,
    run: int = 0,
    weights: float = 0.3,
    couplings: float = 0.3,
) -> dict[str, Tensor]:
    """Small normal input weights (H, D) and couplings (N, N) on `graph`, and biases of zero.

    Their standard deviations are `weights` / sqrt(D) and `couplings`. Exact zero is a saddle:
    without couplings no gradient reaches the input weights. Sampled on the CPU in float32, so that
    training starts alike on every device.
    """
    generator = torch.Generator().manual_seed(seed * 1_000_003 + run)
    n = len(graph)
    upper = torch.randn(n, n, generator=generator).triu(1) * couplings
    return {
        "input_weights": torch.randn(hidden, inputs, generator=generator)
        * (weights / math.sqrt(inputs)),
        "biases": torch.zeros(n),
        "couplings": (upper + upper.T) * graph.cpu(),
    }


def graph_of(array: Any, name: str = "graph") -> Tensor:
    """A symmetric (N, N) boolean array as a tensor; an `InputError` names any other array."""
    if scipy.sparse.issparse(array):
        array = array.toarray() != 0
    elif hasattr(array, "adj"):  # a networkx graph
        import networkx

        array = networkx.to_numpy_array(array) != 0
    graph = array.detach().cpu() if isinstance(array, Tensor) else torch.tensor(np.array(array))
    if graph.dim() != 2 or graph.shape[0] != graph.shape[1]:
        raise InputError(f"{name} must be a square array, got shape {tuple(graph.shape)}")
    if graph.dtype != torch.bool and not bool(((graph == 0) | (graph == 1)).all()):
        raise InputError(f"{name} must hold booleans, true where two oscillators are coupled")
    graph = graph.bool()
    if not torch.equal(graph, graph.T):
        i, j = (int(k) for k in (graph != graph.T).nonzero()[0])
        raise InputError(f"{name} must be symmetric: it differs at ({i}, {j}) and ({j}, {i})")
    if bool(graph.diagonal().any()):
        i = int(graph.diagonal().nonzero()[0])
        raise InputError(f"{name} must have no self-coupling, got one at ({i}, {i})")
    return graph.clone()


def coupler_pairs(graph: Tensor) -> tuple[tuple[int, int], ...]:
    """The couplers (i, j), i < j, of (N, N) booleans, sorted."""
    return tuple((int(i), int(j)) for i, j in graph.triu(1).nonzero().tolist())


def local_fields(input_weights: Tensor, biases: Tensor, inputs: Tensor) -> Tensor:
    """b(u): weights (..., H, D), biases (..., N), inputs (..., B, D) -> (..., B, N)."""
    hidden = input_weights.shape[-2]
    driven = inputs @ input_weights.transpose(-1, -2) + biases[..., None, :hidden]
    constant = biases[..., None, hidden:].expand(*driven.shape[:-1], -1)
    return torch.cat([driven, constant], dim=-1)
