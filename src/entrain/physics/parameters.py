r"""The parameters of a network: one value from file to kernel.

Hidden oscillators come first, outputs last. The input u enters through the hidden fields only,

    b(u) = [ W u + c_hidden ; c_output ],

and the outputs are read as cos(theta). H hidden oscillators, O outputs, N = H + O,
D inputs, B samples; R independent networks side by side where there is a run axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from entrain.physics import terms
from entrain.physics.couplings import SMALLEST, Couplings, SparseCouplings, SparseGraph
from entrain.physics.phase_model import PhaseModel
from entrain.physics.schedule import Schedule
from entrain.utils.errors import InputError, unknown_name
from entrain.utils.sparse import is_scipy_sparse

# Terms of a network, which are trained on request. theta(0) counts as one.
_FIRST = ("frequencies", "start_phases", "injection", "lag", "harmonic")
TERMS = (*_FIRST, *(name for name in terms.TERMS if name not in _FIRST))
PER_OSCILLATOR = tuple(name for name in TERMS if name == "start_phases" or name in terms.LOCAL)


@dataclass(frozen=True, init=False, eq=False)
class Parameters:
    """Everything that determines a network's outputs, apart from its dynamics.

    Shapes are those of one network; every tensor but the graph may have a leading run axis.

    Args:
        input_weights: W (H, D).
        biases: c (N,).
        couplings: J (N, N), zero where the graph has no coupler.
        graph: (N, N) booleans, True where two oscillators are coupled.
        terms: Start phases theta(0) and the terms of `physics.terms`, by name; one that is None is
            absent. They may be keyword arguments too. Those of oscillators are (N,), lag () and
            harmonic (2,), edge_lag (N, N).
        named: Values of terms as keyword arguments.
    """

    input_weights: Tensor
    biases: Tensor
    couplings: Tensor
    graph: Tensor
    terms: Mapping[str, Tensor]

    def __init__(
        self,
        input_weights: Tensor,
        biases: Tensor,
        couplings: Tensor,
        graph: Tensor,
        terms: Mapping[str, Tensor] | None = None,
        **named: Tensor | None,
    ) -> None:
        values = {**(terms or {}), **named}
        if unknown := values.keys() - set(TERMS):
            raise unknown_name("term", sorted(unknown)[0], TERMS)
        for name, value in (
            ("input_weights", input_weights),
            ("biases", biases),
            ("couplings", couplings),
            ("graph", graph),
            ("terms", {name: values[name] for name in TERMS if values.get(name) is not None}),
        ):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Tensor | None:
        if name in TERMS:
            return self.terms.get(name)
        raise AttributeError(f"parameters have no attribute {name!r}")

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that are present, by name, without the graph."""
        names = ("input_weights", "biases", "couplings")
        return {name: getattr(self, name) for name in names} | dict(self.terms)

    def with_tensors(self, tensors: Mapping[str, Tensor]) -> Parameters:
        """These parameters with other tensors, or more terms.

        Args:
            tensors: New values by the names of `tensors()`, or "graph"; the others stay.
        """
        values = self.tensors() | dict(tensors)
        graph = values.pop("graph", self.graph)
        first = [values.pop(name) for name in ("input_weights", "biases", "couplings")]
        return Parameters(first[0], first[1], first[2], graph, values)

    def map(self, change: Callable[[Tensor], Tensor]) -> Parameters:
        """These parameters with every tensor but the graph changed.

        Args:
            change: A function of a tensor.
        """
        return self.with_tensors({name: change(t) for name, t in self.tensors().items()})

    @property
    def hidden(self) -> int:
        """H."""
        return self.input_weights.shape[-2]

    @property
    def outputs(self) -> int:
        """O."""
        return self.biases.shape[-1] - self.hidden

    def refuse_other_terms(self, known: Collection[str], where: str) -> None:
        """Raise for terms that would be lost.

        Args:
            known: Names of the terms that are not.
            where: What loses the others.
        """
        for name in self.terms:
            if name not in known:
                raise InputError(
                    f"the network has {name}, which {where} does not support; it "
                    f"supports {', '.join(known)}"
                )

    def run(self, index: int) -> Parameters:
        """The network of one run.

        Args:
            index: Position on the run axis.
        """
        return self.map(lambda tensor: tensor[index])

    def phase_model(self, inputs: Tensor, steps: int = 1) -> PhaseModel:
        """The terms of the phase model.

        Args:
            inputs: u (R, B, D), or (B, D) shared by all runs; in time (R or 1, B, T, D).
            steps: Steps K of the rollout, in which each of T inputs in time is held for K / T.
        """
        if inputs.dim() < 4:
            return self.under_fields(local_fields(self.input_weights, self.biases, inputs))
        batch, frames = inputs.shape[-3:-1]
        hold = steps // check_frames(frames, steps)
        fields = local_fields(self.input_weights, self.biases, inputs.flatten(-3, -2))
        drive = fields.reshape(len(fields), batch, frames, -1).movedim(-2, 0)
        model = self.under_fields(torch.zeros_like(drive[0]))
        return replace(model, schedule=Schedule(drive=drive, hold=hold))

    def under_fields(self, fields: Tensor) -> PhaseModel:
        """The terms of the phase model under fields instead of inputs.

        Args:
            fields: b (R, B, N).
        """
        values = dict[str, Tensor]()
        for name, value in self.terms.items():
            values[name] = value[..., None, :] if name in PER_OSCILLATOR else value
        start, couplings = values.pop("start_phases", None), self._couplings()
        if isinstance(couplings, SparseCouplings) and "edge_lag" in values:
            graph = couplings.graph
            values["edge_lag"] = values["edge_lag"][..., graph.rows, graph.columns]
        return PhaseModel(fields, couplings, start=start, terms=values)

    def _couplings(self) -> Couplings:
        """J, by edges where they are few."""
        if self.graph.shape[-1] <= SMALLEST:
            return self.couplings
        graph = _sparse_graph(self.graph)
        if graph is None:
            return self.couplings
        return SparseCouplings(self.couplings[..., graph.rows, graph.columns], graph)

    def pullback(self, gradient: PhaseModel, inputs: Tensor) -> dict[str, Tensor]:
        """Gradients with respect to `tensors()`.

        J_ij and J_ji are one parameter, so that its gradient is the sum of both; it is zero where
        there is no coupler.

        Args:
            gradient: The gradient with respect to `phase_model(inputs)`.
            inputs: As for `phase_model`.
        """
        by_couplings, by_fields = gradient.matrix, gradient.fields
        if inputs.dim() == 4:  # one sum over samples and times
            assert gradient.schedule is not None
            assert gradient.schedule.drive is not None
            by_fields = gradient.schedule.drive.movedim(0, -2).flatten(-3, -2)
            inputs = inputs.flatten(-3, -2)
        gradients = {
            "input_weights": by_fields[..., : self.hidden].mT @ inputs,
            "biases": by_fields.sum(-2),
            "couplings": self.graph * (by_couplings + by_couplings.mT),
        }
        tensors = gradient.tensors()
        for name in self.terms:
            tensor = tensors["start" if name == "start_phases" else name]
            gradients[name] = tensor.sum(-2) if name in PER_OSCILLATOR else tensor
        return gradients


def check_frames(frames: int, steps: int) -> int:
    """`frames` T, if it divides the number of steps.

    Args:
        frames: Inputs in time.
        steps: Steps K.
    """
    if steps % frames:
        raise InputError(
            f"{frames} inputs in time must divide the {steps} steps; take "
            f"{max(1, round(steps / frames)) * frames} steps"
        )
    return frames


_sparse_graphs: Any = WeakTensorKeyDictionary()


def _sparse_graph(graph: Tensor) -> SparseGraph | None:
    """The edges of (N, N) booleans, once for each tensor; None if a matrix is faster."""
    if graph not in _sparse_graphs:
        first, second = graph.triu(1).nonzero().T
        edges = SparseGraph.from_pairs(first, second, len(graph))
        _sparse_graphs[graph] = edges if edges.is_sparse else None
    edges_or_none: SparseGraph | None = _sparse_graphs[graph]
    return edges_or_none


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
    if is_scipy_sparse(array):
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
