"""Ising machines as designs: a problem, random starts and the ramp of the injection.

The oscillators are those of `entrain.solve` without noise, which a netlist does not have. Injection
follows the ramp of `Annealing`, linear between knots that netlists and Python share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from entrain.export.input_stage import check_tensor
from entrain.ising.graph import WeightedGraph
from entrain.ising.problems import Ising, MaxCut, Problem, Qubo
from entrain.ising.reading import nearest

KNOTS = 32  # intervals of the ramp
_PREFIX = "machine."  # of the tensors in a design's file
KINDS: dict[str, type[Problem]] = {"ising": Ising, "qubo": Qubo, "maxcut": MaxCut}


@dataclass(frozen=True, eq=False)
class Machine:
    """The problem of an Ising machine, and the ramp of its injection.

    Args:
        problem: An `Ising`, `Qubo` or `MaxCut`.
        ramp: Factors (P,) of the injection at equally spaced times from 0 to the end of a run,
            linear between them.
    """

    problem: Problem
    ramp: Tensor

    def factors(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Factors of the injection at these shares of a run.

        Args:
            shares: From 0 to 1.
        """
        knots = np.linspace(0.0, 1.0, len(self.ramp))
        return np.asarray(np.interp(shares, knots, self.ramp.numpy()))

    def states(self, phases: NDArray[np.float64]) -> NDArray[np.int8]:
        """States (M, N) of the problem that phases (M, N) are read as.

        Args:
            phases: Of the oscillators.
        """
        return self.problem.states_of(nearest(phases, 2))

    def agreement(self, states: NDArray[np.int8], others: NDArray[np.int8]) -> NDArray[np.bool_]:
        """True for runs (M,) with the same states, or opposite ones of a problem without fields.

        Args:
            states: States of runs (M, N).
            others: States of the same runs (M, N).
        """
        choices, other = (self.problem.choices_of(both) for both in (states, others))
        same = (choices == other).all(1)
        if not self.problem.fields().any():
            same |= (choices != other).all(1)
        return np.asarray(same)

    def tensors(self) -> dict[str, Tensor]:
        """The tensors by their names in a design's file."""
        graph = self.problem.graph
        linear = getattr(self.problem, "linear", np.zeros(graph.nodes))
        offset = np.array([getattr(self.problem, "offset", 0)])
        arrays = {"weights": graph.weights, "linear": linear, "offset": offset}
        arrays |= {"first": graph.first, "second": graph.second}
        tensors = {
            name: torch.from_numpy(array.astype(np.float64)) for name, array in arrays.items()
        }
        return {_PREFIX + name: tensor for name, tensor in (tensors | {"ramp": self.ramp}).items()}

    def to_json(self) -> dict[str, Any]:
        """The entry of a design's header."""
        (kind,) = (name for name, cls in KINDS.items() if type(self.problem) is cls)
        return {"problem": kind}

    @classmethod
    def from_file(cls, tensors: dict[str, Tensor], header: dict[str, Any], n: int) -> Machine:
        """The machine that `tensors` and `to_json` stored.

        Args:
            tensors: Without the prefix of their names.
            header: The entry of the header.
            n: Oscillators of the design.
        """
        edges = tensors["weights"].shape
        shapes = {"first": edges, "second": edges, "weights": edges, "linear": (n,), "offset": (1,)}
        for name, shape in shapes.items():
            check_tensor(_PREFIX + name, tensors[name], tuple(shape))
        check_tensor(_PREFIX + "ramp", tensors["ramp"], (KNOTS + 1,))
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
        graph = WeightedGraph.from_entries(n, arrays["first"], arrays["second"], arrays["weights"])
        more = {"linear": arrays["linear"], "offset": arrays["offset"][0]}
        problem = KINDS[header["problem"]]
        return cls(problem(graph, **({} if problem is MaxCut else more)), tensors["ramp"])


def split_machine(
    tensors: dict[str, Tensor],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The tensors of the design, and those of the machine without their prefix."""
    own = {name for name in tensors if name.startswith(_PREFIX)}
    rest = {name: tensor for name, tensor in tensors.items() if name not in own}
    return rest, {name.removeprefix(_PREFIX): tensors[name] for name in own}
