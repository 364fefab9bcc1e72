"""A network before it is trained: its size, graph, fixed terms and dynamics, as one value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from entrain.physics.parameters import TERMS, Parameters, coupler_pairs, graph_of, layered_graph
from entrain.physics.phase_model import Dynamics
from entrain.utils.errors import (
    InputError,
    as_tuple,
    finite_numbers,
    positive_int,
    store_plain_numbers,
    unknown_name,
)

TRAINED = ("input_weights", "biases", "couplings")  # trained by every rule
SPEC_TERMS = ("frequencies", "start_phases", "injection", "lag", "harmonic")
_PER_OSCILLATOR = ("frequencies", "start_phases", "injection")


@dataclass(frozen=True)
class NetworkSpec:
    """Size, graph, terms and dynamics of a network; hashable, and stored as JSON.

    Terms have N values, hidden oscillators first. A term that is None, or a lag or a harmonic of 0,
    is absent. Terms that are trained start from the values here.

    Args:
        hidden: H hidden oscillators.
        dynamics: Mobility, observation time and steps.
        graph: The couplers (i, j), i < j; None couples any two oscillators that are not both
            outputs.
        frequencies: Natural frequencies w (N,).
        start_phases: theta(0) (N,); None is pi/2.
        injection: Second-harmonic injection s (N,).
        lag: Phase lag a of the coupling function.
        trainable: Names of the terms that are trained.
        harmonic: c and d, the factors of sin and cos of 2 phi in the coupling function.

    Examples:
        >>> spec = entrain.NetworkSpec(hidden=16, lag=0.1, trainable=("lag",))
        >>> spec.hidden, spec.dynamics.steps
        (16, 200)
    """

    hidden: int = 64
    dynamics: Dynamics = field(default_factory=Dynamics)
    graph: tuple[tuple[int, int], ...] | None = None
    frequencies: tuple[float, ...] | None = None
    start_phases: tuple[float, ...] | None = None
    injection: tuple[float, ...] | None = None
    lag: float = 0.0
    trainable: tuple[str, ...] = ()
    harmonic: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        positive_int("hidden", self.hidden)
        if not isinstance(self.dynamics, Dynamics):
            raise InputError(f"dynamics must be a Dynamics, got {self.dynamics!r}")
        for name in _PER_OSCILLATOR:
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, finite_numbers(name, values))
        object.__setattr__(self, "lag", finite_numbers("lag", (self.lag,))[0])
        object.__setattr__(self, "harmonic", finite_numbers("harmonic", self.harmonic))
        if len(self.harmonic) != 2:
            raise InputError(
                "harmonic must be two numbers, the factors of sin and cos of 2 phi; "
                f"got {len(self.harmonic)}"
            )
        object.__setattr__(self, "trainable", trainable_terms(self.trainable, SPEC_TERMS))
        for name in self.trainable:
            if getattr(self, name) is None:
                raise InputError(f"{name} are trainable but not given; expected N numbers to start")
        if self.graph is not None:
            object.__setattr__(self, "graph", _pairs(self.graph))

    @classmethod
    def from_graph(cls, graph: Any, **settings: Any) -> NetworkSpec:
        """The specification of a network with the couplers of `graph`.

        Args:
            graph: A symmetric (N, N) boolean array.
            settings: The other fields.
        """
        return cls(graph=coupler_pairs(graph_of(graph)), **settings)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> NetworkSpec:
        """The specification that `to_json` stored.

        Args:
            values: The fields as JSON values.
        """
        settings = {name: as_tuple(value) for name, value in values.items()}
        return cls(**settings | {"dynamics": Dynamics(**values["dynamics"])})

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return asdict(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors that are trained."""
        return (*TRAINED, *self.trainable)

    @property
    def is_plain(self) -> bool:
        """True if only fields and couplings act, from pi/2."""
        return not self._terms

    @property
    def _terms(self) -> list[str]:
        """The terms that are present."""
        given = [name for name in _PER_OSCILLATOR if getattr(self, name) is not None]
        lag = self.lag != 0.0 or "lag" in self.trainable
        harmonic = any(self.harmonic) or "harmonic" in self.trainable
        return given + ["lag"] * lag + ["harmonic"] * harmonic

    def graph_of(self, outputs: int, device: torch.device | None = None) -> Tensor:
        """(N, N) booleans, True where two oscillators are coupled.

        Args:
            outputs: O output oscillators.
            device: Where the tensor lies; None is the CPU.
        """
        n = self.hidden + outputs
        if self.graph is None:
            return layered_graph(self.hidden, outputs, device)
        graph = torch.zeros(n, n, dtype=torch.bool)
        for i, j in self.graph:
            if j >= n:
                raise InputError(f"graph has the coupler ({i}, {j}), the network {n} oscillators")
            graph[i, j] = graph[j, i] = True
        return graph.to(device)

    def on(self, like: Tensor, runs: int, outputs: int) -> NetworkOnDevice:
        """The graph and the terms as tensors.

        Args:
            like: A tensor of the dtype and device.
            runs: Networks side by side.
            outputs: O output oscillators.
        """
        terms = {}
        for name in self._terms:
            values = getattr(self, name)
            if name in _PER_OSCILLATOR and len(values) != self.hidden + outputs:
                raise InputError(
                    f"{name} must be {self.hidden + outputs} numbers, one for each of "
                    f"{self.hidden} hidden and {outputs} output oscillators; got {len(values)}"
                )
            row = torch.tensor(values, dtype=like.dtype)
            terms[name] = row.repeat(runs, *[1] * row.dim()).to(like.device)
        return NetworkOnDevice(self, self.graph_of(outputs, like.device), terms)


@dataclass(frozen=True)
class NetworkOnDevice:
    """A specification on a device: its graph (N, N), and its terms (R, N), (R,), (R, 2)."""

    spec: NetworkSpec
    graph: Tensor
    terms: dict[str, Tensor]

    def initial_tensors(
        self, tensors: dict[str, Tensor], start: dict[str, Tensor] | None
    ) -> dict[str, Tensor]:
        """The trained tensors before the first step: `tensors` and the terms that are trained, or
        those of the networks in `start`, with couplings on this graph only."""
        initial = tensors | {name: self.terms[name].clone() for name in self.spec.trainable}
        if start is None:
            return initial
        initial = {name: start.get(name, tensor).clone() for name, tensor in initial.items()}
        initial["couplings"] *= self.graph
        return initial

    def parameters(self, trained: dict[str, Tensor]) -> Parameters:
        """The networks of trained tensors (R, ...), with the terms that are fixed."""
        names = (*TRAINED, *SPEC_TERMS)
        tensors = self.terms | {name: trained[name] for name in names if name in trained}
        first = [tensors.pop(name) for name in TRAINED]
        return Parameters(first[0], first[1], first[2], self.graph, tensors)


def trainable_terms(names: Collection[str], known: Sequence[str] = TERMS) -> tuple[str, ...]:
    """`names` without repetition, in the order of `known`; an unknown name is an `InputError`."""
    if isinstance(names, str):
        raise InputError(f"trainable must be a list of terms such as [{names!r}], got {names!r}")
    for name in names:
        if name not in known:
            raise unknown_name("trainable term", str(name), known)
    return tuple(term for term in known if term in names)


def _pairs(graph: Iterable[Iterable[int]]) -> tuple[tuple[int, int], ...]:
    pairs = set()
    for pair in graph:
        ends = tuple(pair)
        if len(ends) != 2 or not all(isinstance(end, Integral) for end in ends):
            raise InputError(
                f"graph must list couplers (i, j), got {pair!r}; from_graph takes an array"
            )
        i, j = map(int, ends)
        if not 0 <= i < j:
            raise InputError(f"graph must list couplers (i, j) with 0 <= i < j, got ({i}, {j})")
        if (i, j) in pairs:
            raise InputError(f"graph lists the coupler ({i}, {j}) twice")
        pairs.add((i, j))
    return tuple(sorted(pairs))
