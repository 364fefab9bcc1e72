r"""What a network is: one value from file to kernel.

Hidden oscillators come first, outputs last. The input u enters through the hidden fields only,

    b(u) = [ W u + c_hidden ; c_output ],

and the class is read off the outputs as cos(theta). H hidden oscillators, O outputs, N = H + O,
D inputs, B samples; R independent networks side by side where there is a run axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.physics.phase_model import PhaseModel
from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Parameters:
    """Everything that decides how a network answers, apart from its dynamics.

    Shapes are those of one network; every tensor but the graph may have a leading run axis.
    J is zero where the graph has no coupler. What is None is absent: no natural frequencies, no
    injection, no lag, no second harmonic of the coupling function, and a start at pi/2.
    """

    input_weights: Tensor  # W (H, D)
    biases: Tensor  # c (N,)
    couplings: Tensor  # J (N, N)
    graph: Tensor  # (N, N) booleans: which couplers exist
    frequencies: Tensor | None = None  # w (N,)
    start_phases: Tensor | None = None  # theta(0) (N,)
    injection: Tensor | None = None  # s (N,)
    lag: Tensor | None = None  # a ()
    harmonic: Tensor | None = None  # c2 and d2 (2,), c and d of the phase model

    @property
    def hidden(self) -> int:
        """H."""
        return self.input_weights.shape[-2]

    @property
    def outputs(self) -> int:
        """O."""
        return self.biases.shape[-1] - self.hidden

    def tensors(self) -> dict[str, Tensor]:
        """The numbers by name: every tensor that is there, but the graph."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {n: t for n, t in found.items() if isinstance(t, Tensor) and n != "graph"}

    def map(self, change: Callable[[Tensor], Tensor]) -> Parameters:
        """These parameters with every number changed; the graph stays."""
        changed: dict[str, Any] = {name: change(t) for name, t in self.tensors().items()}
        return replace(self, **changed)

    def run(self, lane: int) -> Parameters:
        """The network at one place of the run axis."""
        return self.map(lambda tensor: tensor[lane])

    def phase_model(self, inputs: Tensor) -> PhaseModel:
        """What acts on the phases under `inputs` (R, B, D), or (B, D) alike for every run."""

        def each_sample(values: Tensor | None) -> Tensor | None:
            return None if values is None else values[..., None, :]

        return PhaseModel(
            fields=local_fields(self.input_weights, self.biases, inputs),
            couplings=self.couplings,
            frequencies=each_sample(self.frequencies),
            injection=each_sample(self.injection),
            lag=self.lag,
            start=each_sample(self.start_phases),
            harmonic=self.harmonic,
        )

    def pullback(self, gradient: PhaseModel, inputs: Tensor) -> dict[str, Tensor]:
        """Gradients with respect to `tensors` from that of `phase_model(inputs)`.

        J_ij and J_ji are one number, so that the gradient of either adds both; it is zero where
        there is no coupler.
        """
        by_couplings = gradient.couplings
        found: dict[str, Tensor | None] = {
            "input_weights": gradient.fields[..., : self.hidden].mT @ inputs,
            "biases": gradient.fields.sum(-2),
            "couplings": self.graph * (by_couplings + by_couplings.mT),
            "frequencies": gradient.frequencies,
            "start_phases": gradient.start,
            "injection": gradient.injection,
        }
        summed = {
            name: tensor.sum(-2) if name in ("frequencies", "start_phases", "injection") else tensor
            for name, tensor in found.items()
            if tensor is not None
        }
        of_all = {"lag": gradient.lag, "harmonic": gradient.harmonic}
        return summed | {name: tensor for name, tensor in of_all.items() if tensor is not None}


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
    without couplings no gradient reaches the input weights. Drawn on the CPU in float32, so that
    every device starts from the same numbers.
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


def graph_of(array: Any) -> Tensor:
    """A symmetric (N, N) boolean array as a tensor; anything else is refused."""
    found = array.detach().cpu() if isinstance(array, Tensor) else torch.tensor(np.array(array))
    if found.dim() != 2 or found.shape[0] != found.shape[1]:
        raise InputError(f"graph must be a square array, got shape {tuple(found.shape)}")
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


def local_fields(input_weights: Tensor, biases: Tensor, inputs: Tensor) -> Tensor:
    """b(u): weights (..., H, D), biases (..., N), inputs (..., B, D) -> (..., B, N)."""
    hidden = input_weights.shape[-2]
    driven = inputs @ input_weights.transpose(-1, -2) + biases[..., None, :hidden]
    constant = biases[..., None, hidden:].expand(*driven.shape[:-1], -1)
    return torch.cat([driven, constant], dim=-1)
