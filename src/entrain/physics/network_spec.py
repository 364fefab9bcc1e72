"""A network before it is trained: its size, graph, fixed terms and dynamics, as one value."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from entrain.physics.parameters import Parameters, graph_of, layered_graph
from entrain.physics.phase_model import Dynamics
from entrain.utils.errors import (
    InputError,
    finite_numbers,
    positive_int,
    store_plain_numbers,
    unknown_name,
)

TRAINED = ("input_weights", "biases", "couplings")  # by every rule
TERMS = ("frequencies", "start_phases", "injection", "lag", "harmonic")  # trained on request


@dataclass(frozen=True)
class NetworkSpec:
    """H hidden oscillators, and what acts on them and the outputs; hashable, and JSON.

    `graph` lists the couplers (i, j), i < j; None couples any two oscillators that are not both
    outputs. `frequencies`, `start_phases` and `injection` are N numbers, hidden oscillators first,
    `lag` is one number and `harmonic` two, those of sin and cos of 2 phi; None is absent, and so
    are a lag and a harmonic of 0. `trainable` names those of them that are trained: their numbers
    are the start.
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
        for name in ("frequencies", "start_phases", "injection"):
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, finite_numbers(name, values))
        object.__setattr__(self, "lag", finite_numbers("lag", (self.lag,))[0])
        object.__setattr__(self, "harmonic", finite_numbers("harmonic", self.harmonic))
        if len(self.harmonic) != 2:
            raise InputError(
                "harmonic must be two numbers, those of sin and cos of 2 phi; "
                f"got {len(self.harmonic)}"
            )
        object.__setattr__(self, "trainable", trainable_terms(self.trainable))
        for name in self.trainable:
            if getattr(self, name) is None:
                raise InputError(f"{name} are trainable but not given; expected N numbers to start")
        if self.graph is not None:
            object.__setattr__(self, "graph", _pairs(self.graph))

    @classmethod
    def from_graph(cls, graph: Any, **others: Any) -> NetworkSpec:
        """The specification with the couplers of a symmetric (N, N) boolean array."""
        pairs = graph_of(graph).triu(1).nonzero().tolist()
        return cls(graph=tuple((int(i), int(j)) for i, j in pairs), **others)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> NetworkSpec:
        """The specification whose `to_json` was written."""
        given: dict[str, Any] = {
            name: tuple(tuple(e) if isinstance(e, list) else e for e in value)
            if isinstance(value, list)
            else value
            for name, value in values.items()
        }
        return cls(**given | {"dynamics": Dynamics(**values["dynamics"])})

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON values."""
        return asdict(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors that are trained."""
        return (*TRAINED, *self.trainable)

    @property
    def is_plain(self) -> bool:
        """Whether there are only fields and couplings, from pi/2."""
        absent = self.frequencies is self.start_phases is self.injection is None
        return absent and not self._lagged and not self._has_harmonic

    @property
    def _lagged(self) -> bool:
        return self.lag != 0.0 or "lag" in self.trainable

    @property
    def _has_harmonic(self) -> bool:
        return any(self.harmonic) or "harmonic" in self.trainable

    def additions(self) -> dict[str, Any]:
        """What this network has beyond hidden oscillators and dynamics, by name."""
        plain, found = NetworkSpec(), asdict(self)
        names = (each.name for each in fields(self) if each.name not in ("hidden", "dynamics"))
        return {name: found[name] for name in names if found[name] != getattr(plain, name)}

    def graph_of(self, outputs: int, device: torch.device | None = None) -> Tensor:
        """(N, N) booleans: which couplers exist."""
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
        """This specification for so many runs and outputs, as tensors like `like`."""
        terms: dict[str, Tensor] = {}
        for name in ("frequencies", "start_phases", "injection"):
            if (values := getattr(self, name)) is not None:
                if len(values) != self.hidden + outputs:
                    raise InputError(
                        f"{name} must be {self.hidden + outputs} numbers, one for each of "
                        f"{self.hidden} hidden and {outputs} output oscillators; got {len(values)}"
                    )
                terms[name] = torch.tensor(values, dtype=like.dtype).repeat(runs, 1).to(like.device)
        if self._lagged:
            terms["lag"] = torch.full((runs,), self.lag, dtype=like.dtype, device=like.device)
        if self._has_harmonic:
            both = torch.tensor(self.harmonic, dtype=like.dtype)
            terms["harmonic"] = both.repeat(runs, 1).to(like.device)
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
        """What training begins with: `tensors` and the terms that are trained, or those of the
        networks in `start`, without couplings that this graph does not have."""
        first = tensors | {name: self.terms[name].clone() for name in self.spec.trainable}
        if start is None:
            return first
        found = {name: start.get(name, tensor).clone() for name, tensor in first.items()}
        found["couplings"] *= self.graph
        return found

    def parameters(self, trained: dict[str, Tensor]) -> Parameters:
        """The networks of trained tensors (R, ...), with the terms that are fixed."""
        terms: dict[str, Any] = self.terms | {n: trained[n] for n in TERMS if n in trained}
        return Parameters(
            input_weights=trained["input_weights"],
            biases=trained["biases"],
            couplings=trained["couplings"],
            graph=self.graph,
            **terms,
        )


def trainable_terms(names: Collection[str]) -> tuple[str, ...]:
    """The terms among `names`, each once and in order; an unknown name is refused."""
    if isinstance(names, str):
        raise InputError(f"trainable must be a list of terms such as [{names!r}], got {names!r}")
    for name in names:
        if name not in TERMS:
            raise unknown_name("trainable term", str(name), TERMS)
    return tuple(term for term in TERMS if term in names)


def _pairs(graph: Iterable[Iterable[int]]) -> tuple[tuple[int, int], ...]:
    found = []
    for pair in graph:
        ends = tuple(pair)
        if len(ends) != 2 or not all(isinstance(end, Integral) for end in ends):
            raise InputError(
                f"graph must list couplers (i, j), got {pair!r}; from_graph takes an array"
            )
        i, j = map(int, ends)
        if not 0 <= i < j:
            raise InputError(f"graph must list couplers (i, j) with 0 <= i < j, got ({i}, {j})")
        found.append((i, j))
    if len(set(found)) != len(found):
        raise InputError("graph lists a coupler twice")
    return tuple(sorted(found))
