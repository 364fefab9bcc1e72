"""A Kuramoto network: its parameters, the constraints they obey, and what it computes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any, Literal, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from entrain.models.graphs import CouplingGraph
from entrain.models.network_arrays import check_couplings, checked_arrays, checked_graph
from entrain.models.oscillators import Oscillators
from entrain.physics import (
    TERMS,
    Dynamics,
    Parameters,
    SparseGraph,
    small_random,
    trainable_terms,
)
from entrain.physics.phase_model import Term
from entrain.utils.errors import InputError, one_of, positive_int, seed_number

Init = Literal["random", "zero"]


class KuramotoNetwork(Oscillators):
    r"""`Oscillators` that classify in finite time, read as cos(theta) of the outputs.

    H hidden and O output oscillators, N = H + O, hidden first, under the input u:

        d theta_i / dt = w_i - mu [ b_i(u) sin(theta_i) + sum_j J_ij g(theta_i - theta_j)
                                    + 2 s_i sin(2 theta_i) ],
        g(phi) = sin(phi + a) + c2 sin(2 phi) + d2 cos(2 phi),
        b(u) = [ W u + c_hidden ; c_output ].

    Without a and d2 this is the gradient flow -mu grad E of `energy`. The parameters are
    `input_weights` W (H, D), `biases` c (N,) and `coupler_strengths` (E,), the J_ij of the E
    couplers i < j of the graph, row by row; J is symmetric. With `runs` = R independent networks,
    every tensor and every result has a leading axis of runs.

    Args:
        inputs: Inputs D.
        hidden: Hidden oscillators H.
        outputs: Output oscillators O, one for each class.
        graph: Couplers, a symmetric (N, N) boolean array; by default all pairs of oscillators but
            those of two outputs.
        start_phases: theta(0) (N,); pi/2 by default.
        delay: tau of the couplings, as for `Oscillators`; neither saved nor trained.
        other_terms: Custom torques, as for `Oscillators`; neither saved nor trained.
        trainable: Names of those of the start phases and terms that are parameters too.
        init: "random" (small, different for each run) or "zero", which is a saddle: without
            couplings no gradient reaches W.
        seed: Seed of the random initial parameters.
        runs: Independent networks, side by side.
        mobility: mu, which sets the time scale.
        observation_time: t_f.
        steps: Explicit Euler steps until t_f.
        dtype: Type of the parameters.
        **terms: Terms by name, as for `Oscillators`: frequencies w, lag a, injection s, harmonic
            (c2, d2) and others.

    Examples:
        >>> network = entrain.KuramotoNetwork(inputs=8, hidden=16, outputs=3)
        >>> network(torch.zeros(5, 8)).shape
        torch.Size([5, 3])
    """

    coupler_mask: Tensor

    def __init__(
        self,
        inputs: int,
        hidden: int,
        outputs: int,
        *,
        graph: ArrayLike | Tensor | None = None,
        start_phases: ArrayLike | Tensor | None = None,
        delay: float = 0.0,
        other_terms: Sequence[Term] = (),
        trainable: Collection[str] = (),
        init: Init = "random",
        seed: int = 0,
        runs: int | None = None,
        mobility: float = 1.0,
        observation_time: float = 0.2,
        steps: int = 200,
        dtype: torch.dtype | None = None,
        **terms: Any,
    ) -> None:
        hidden, outputs = positive_int("hidden", hidden), positive_int("outputs", outputs)
        n = hidden + outputs
        pairs = checked_graph(graph, hidden, outputs)
        first, second = pairs.triu(1).nonzero().T
        axes = () if runs is None else (positive_int("runs", runs),)
        strengths = torch.zeros(*axes, len(first), dtype=dtype)
        super().__init__(
            CouplingGraph(SparseGraph.from_pairs(first, second, n), strengths, True),
            start_phases=start_phases,
            inputs=positive_int("inputs", inputs),
            input_nodes=range(hidden),
            input_weights=torch.zeros(hidden, inputs, dtype=dtype),
            read=range(hidden, n),
            trainable=("couplings", "fields", "input_weights", *trainable_terms(trainable)),
            runs=runs,
            mobility=mobility,
            observation_time=observation_time,
            steps=steps,
            delay=delay,
            other_terms=other_terms,
            **terms,
        )
        self.hidden, self.outputs = hidden, outputs
        self.register_buffer("coupler_mask", pairs)
        self._initialise(init, seed_number("seed", seed), first, second)

    @torch.no_grad()
    def _initialise(self, init: Init, seed: int, first: Tensor, second: Tensor) -> None:
        """Set W and J to small random numbers, run by run, or leave them at zero."""
        one_of("init", init, Init)
        if init == "zero":
            return
        initial = [
            small_random(self.inputs, self.hidden, self.graph, seed=seed, run=run)
            for run in range(self.runs or 1)
        ]
        strengths = [run["couplings"][first, second] for run in initial]
        weights = torch.stack([run["input_weights"] for run in initial])
        self.input_weights.copy_(weights.reshape(self.input_weights.shape))
        self.coupler_strengths.copy_(torch.stack(strengths).reshape(self.coupler_strengths.shape))

    @classmethod
    def from_arrays(
        cls,
        input_weights: ArrayLike | Tensor,
        biases: ArrayLike | Tensor,
        couplings: ArrayLike | Tensor,
        **options: Any,
    ) -> Self:
        """A network of these arrays, or several with a leading axis of runs on all three.

        Refuses arrays that are wrongly shaped, non-finite, asymmetric, self-coupled or coupled
        where the graph has no coupler.

        Args:
            input_weights: W (H, D).
            biases: c (N,).
            couplings: J (N, N).
            **options: Arguments of the constructor from `graph` to `trainable`, and `mobility`,
                `observation_time` and `steps`.
        """
        weights, bias, matrix = checked_arrays(input_weights, biases, couplings)
        axes, (hidden, inputs), n = weights.shape[:-2], weights.shape[-2:], bias.shape[-1]
        network = cls(
            inputs,
            hidden,
            n - hidden,
            init="zero",
            runs=axes[0] if axes else None,
            dtype=weights.dtype,
            **options,
        )
        for run in matrix.reshape(-1, n, n):
            check_couplings(run, network.graph, hidden)
        with torch.no_grad():
            network.input_weights.copy_(weights)
            network.biases.copy_(bias)
            first, second = network.graph.triu(1).nonzero().T
            network.coupler_strengths.copy_(matrix[..., first, second])
        return network

    @classmethod
    def from_parameters(
        cls, parameters: Parameters, dynamics: Dynamics, trainable: Collection[str] = ()
    ) -> Self:
        """A network with a copy of these parameters.

        Args:
            parameters: The parameters, with or without an axis of runs.
            dynamics: Mobility, observation time and steps.
            trainable: As for the constructor.
        """
        return cls.from_arrays(
            parameters.input_weights,
            parameters.biases,
            parameters.couplings,
            graph=parameters.graph.cpu(),
            trainable=trainable,
            **dict(parameters.terms),
            **asdict(dynamics),
        )

    @property
    def graph(self) -> Tensor:
        """Couplers, a symmetric (N, N) boolean tensor. (A buffer `graph` breaks `torch.export`.)"""
        return self.coupler_mask

    @property
    def parameter_count(self) -> int:
        """Number of parameters of one network: H D + N + E, and those of trainable terms."""
        return sum(parameter.numel() for parameter in self.parameters()) // (self.runs or 1)

    def as_parameters(self) -> Parameters:
        """The parameters and terms as one value, differentiable."""
        if self.delay or self.other_terms:
            name = "a delay" if self.delay else "custom terms"
            raise InputError(f"a network with {name} can be simulated, not saved or put on a chip")
        terms = {name: getattr(self, name) for name in TERMS}
        if terms["edge_lag"] is not None:
            terms["edge_lag"] = self._matrix(terms["edge_lag"])
        return Parameters(self.input_weights, self.biases, self.couplings, self.graph, **terms)

    def extra_repr(self) -> str:
        d = self.dynamics
        terms = [name for name in TERMS if getattr(self, name) is not None]
        return (
            f"{self.inputs} inputs, {self.hidden} hidden, {self.outputs} outputs, "
            f"{self.couplers} couplers, "
            + "".join(f"{name}, " for name in terms)
            + ("" if self.runs is None else f"{self.runs} runs, ")
            + f"mobility={d.mobility:g}, observation_time={d.observation_time:g}, steps={d.steps}"
        )

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *args: Any) -> None:
        """Load the state of a network with the same graph; another graph is refused."""
        if f"{prefix}graph" in state:  # its name in earlier versions
            state[f"{prefix}coupler_mask"] = state.pop(f"{prefix}graph")
        graph = state.get(f"{prefix}coupler_mask")
        if graph is not None and not torch.equal(graph.cpu().bool(), self.graph.cpu()):
            raise InputError("the state belongs to a network with another graph")
        super()._load_from_state_dict(state, prefix, *args)
