"""Problems: what is to be minimised or maximised, with exact values of every assignment.

N variables, E edges. Values are Python or NumPy integers where the weights are whole numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from entrain.ising.graph import WeightedGraph, exact_numbers, graph_of
from entrain.utils.errors import InputError, positive_int
from entrain.utils.summary import Summary

ORDERS = range(2, 9)  # of injection: the numbers of phases that it locks to


class Problem(Summary):
    """A discrete problem on a graph; an assignment has a state for every node.

    Oscillator i locks to one of `choices` phases 2 pi c / choices; `states_of` names them.

    Args:
        graph: A symmetric matrix, a networkx graph, or a `WeightedGraph`.
    """

    goal: ClassVar[str] = "minimum"
    measure: ClassVar[str] = "energy"

    def __init__(self, graph: Any) -> None:
        self.graph = graph_of(graph)

    @property
    def choices(self) -> int:
        """Number of phases that an oscillator may lock to."""
        return 2

    @property
    def variables(self) -> int:
        """N."""
        return self.graph.nodes

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the variables."""
        return self.graph.names or tuple(range(self.variables))

    def values(self, states: Any) -> NDArray[Any]:
        """Values of assignments (M,).

        Args:
            states: States (M, N).
        """
        raise NotImplementedError

    def states_of(self, choices: NDArray[np.int8]) -> NDArray[np.int8]:
        """States (M, N) of oscillators at their c-th phase; here spins, +1 for c = 0.

        Args:
            choices: c (M, N), from 0 to `choices` - 1.
        """
        return 1 - 2 * choices

    def choices_of(self, states: NDArray[Any]) -> NDArray[np.int8]:
        """c (M, N) of states: the inverse of `states_of`.

        Args:
            states: States (M, N).
        """
        return ((1 - states) // 2).astype(np.int8)

    def costs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values, or their negatives if the goal is a maximum: the lower, the better.

        Args:
            values: Values (M,).
        """
        return -values if self.goal == "maximum" else values

    def couplings(self) -> WeightedGraph:
        """J of the oscillators: positive aligns two of them."""
        raise NotImplementedError

    def fields(self) -> NDArray[np.float64]:
        """b of the oscillators (N,): positive draws one to phase 0."""
        return np.zeros(self.variables)

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        kind = "whole" if self.graph.is_integer else "real"
        return {
            "variables": f"{self.variables:,}",
            "edges": f"{self.graph.edges:,}",
            "weights": kind,
            "goal": f"{self.goal} {self.measure}",
        }

    def _checked(self, states: Any, allowed: tuple[int, ...]) -> NDArray[Any]:
        array = np.atleast_2d(np.asarray(states))
        if array.ndim != 2 or array.shape[1] != self.variables:
            raise InputError(
                f"states must be assignments of {self.variables} variables, got shape {array.shape}"
            )
        if not np.isin(array, allowed).all():
            raise InputError(f"states must be among {', '.join(map(str, allowed))}")
        return array.astype(np.int8)


class Ising(Problem):
    r"""Spins s_i = +1 or -1 of least energy

        E(s) = c + sum_i h_i s_i + sum_{i<j} J_ij s_i s_j.

    Args:
        graph: J as a symmetric matrix, a networkx graph, or a `WeightedGraph`.
        linear: h (N,), 0 by default.
        offset: c.

    Examples:
        >>> problem = entrain.ising.Ising([[0, 1], [1, 0]], linear=[2, 0])
        >>> problem.values([[1, -1], [-1, 1]])
        array([ 1, -3])
    """

    def __init__(self, graph: Any, linear: Any = None, offset: float = 0) -> None:
        super().__init__(graph)
        self.linear = _linear(linear, self.variables)
        self.offset = exact_numbers("offset", [offset])[0].item()

    def values(self, states: Any) -> NDArray[Any]:
        """Energies (M,).

        Args:
            states: Spins (M, N).
        """
        spins = self._checked(states, (-1, 1))
        pairs = self.graph.total() - 2 * self.graph.cuts(spins)
        energies: NDArray[Any] = self.offset + pairs + _dot(spins, self.linear)
        return energies

    def couplings(self) -> WeightedGraph:
        """-J: a positive J_ij of E favours opposite spins."""
        g = self.graph
        return WeightedGraph(g.nodes, g.first, g.second, -g.weights, g.names)

    def fields(self) -> NDArray[np.float64]:
        """-h."""
        return -self.linear.astype(np.float64)


class Qubo(Problem):
    r"""Bits x_i = 0 or 1 of least value

        E(x) = c + sum_i q_i x_i + sum_{i<j} Q_ij x_i x_j.

    With x = (1 + s) / 2 this is an Ising problem with J = Q / 4 and h = q / 2 + sum_j Q_ij / 4.

    Args:
        graph: Q_ij, i != j, as for `Ising`.
        linear: q (N,), 0 by default.
        offset: c.

    Examples:
        >>> problem = entrain.ising.Qubo.from_matrix([[-1, 2], [0, -1]])
        >>> problem.values([[0, 0], [1, 0], [1, 1]])
        array([ 0, -1,  0])
    """

    measure: ClassVar[str] = "value"

    def __init__(self, graph: Any, linear: Any = None, offset: float = 0) -> None:
        super().__init__(graph)
        self.linear = _linear(linear, self.variables)
        self.offset = exact_numbers("offset", [offset])[0].item()

    @classmethod
    def from_matrix(cls, matrix: Any, offset: float = 0) -> Qubo:
        """The problem of least x^T Q x + c, for any square Q.

        Args:
            matrix: Q (N, N), dense or scipy.sparse; Q_ij and Q_ji are added.
            offset: c.
        """
        import scipy.sparse

        full = scipy.sparse.coo_array(matrix)
        if full.shape[0] != full.shape[1]:
            raise InputError(f"the matrix must be square, got shape {full.shape}")
        diagonal = exact_numbers("the diagonal", full.diagonal())
        both = full + full.T
        upper = scipy.sparse.triu(both, 1)
        edges = scipy.sparse.coo_array(upper)
        present = edges.data != 0
        ends = edges.row[present], edges.col[present]
        graph = WeightedGraph.from_entries(full.shape[0], *ends, edges.data[present])
        return cls(graph, diagonal, offset)

    def values(self, states: Any) -> NDArray[Any]:
        """Values E(x) (M,).

        Args:
            states: Bits (M, N).
        """
        bits = self._checked(states, (0, 1))
        # x_i x_j = (x_i + x_j - [x_i != x_j]) / 2; the sum over edges is even in whole weights.
        pairs = _dot(bits, self._degrees) - self.graph.cuts(bits)
        pairs = pairs // 2 if self.graph.is_integer else pairs / 2
        values: NDArray[Any] = self.offset + pairs + _dot(bits, self.linear)
        return values

    @property
    def _degrees(self) -> NDArray[Any]:
        """sum_j Q_ij (N,)."""
        sums = np.zeros(self.variables, dtype=self.graph.weights.dtype)
        for ends in (self.graph.first, self.graph.second):
            np.add.at(sums, ends, self.graph.weights)
        return sums

    def states_of(self, choices: NDArray[np.int8]) -> NDArray[np.int8]:
        """Bits, 1 for c = 0.

        Args:
            choices: c (M, N).
        """
        return 1 - choices

    def choices_of(self, states: NDArray[Any]) -> NDArray[np.int8]:
        """1 - x.

        Args:
            states: Bits (M, N).
        """
        return (1 - states).astype(np.int8)

    def couplings(self) -> WeightedGraph:
        """-Q / 4."""
        g = self.graph
        return WeightedGraph(g.nodes, g.first, g.second, -0.25 * g.weights, g.names)

    def fields(self) -> NDArray[np.float64]:
        """-q / 2 - sum_j Q_ij / 4."""
        return -0.5 * self.linear - 0.25 * self._degrees

    def to_ising(self) -> Ising:
        """The same problem of spins: s = 2 x - 1 has the energy E(x)."""
        j, h = self.couplings(), self.fields()
        constant = self.offset + 0.5 * float(np.sum(self.linear)) + 0.25 * self.graph.total()
        graph = WeightedGraph.from_entries(j.nodes, j.first, j.second, -j.weights, j.names)
        return Ising(graph, -h, constant)


class MaxCut(Problem):
    r"""Spins that cut the largest weight, sum_{i<j} w_ij [s_i != s_j].

    Args:
        graph: w as a symmetric matrix, a networkx graph, or a `WeightedGraph`.

    Examples:
        >>> triangle = entrain.ising.MaxCut(1 - np.eye(3))
        >>> triangle.values([[1, 1, 1], [1, 1, -1]])
        array([0, 2])
    """

    goal: ClassVar[str] = "maximum"
    measure: ClassVar[str] = "cut"

    def values(self, states: Any) -> NDArray[Any]:
        """Cuts (M,).

        Args:
            states: Spins (M, N).
        """
        return self.graph.cuts(self._checked(states, (-1, 1)))

    def couplings(self) -> WeightedGraph:
        """-w / 2: the energy of the oscillators is minus the cut, and a constant."""
        g = self.graph
        return WeightedGraph(g.nodes, g.first, g.second, -0.5 * g.weights, g.names)


class Colouring(Problem):
    r"""k colours with the least weight of edges whose ends are alike, sum w_ij [c_i = c_j].

    Oscillators lock to k phases by injection of order k.

    Args:
        graph: w as a symmetric matrix, a networkx graph, or a `WeightedGraph`.
        colours: k, from 2 to 8.

    Examples:
        >>> triangle = entrain.ising.Colouring(1 - np.eye(3), colours=3)
        >>> triangle.values([[0, 1, 2], [0, 1, 1]])
        array([0, 1])
    """

    measure: ClassVar[str] = "conflicts"

    def __init__(self, graph: Any, colours: int = 3) -> None:
        if positive_int("colours", colours) not in ORDERS:
            raise InputError(
                f"colours must be from {ORDERS[0]} to {ORDERS[-1]}, the orders of injection; got "
                f"{colours}"
            )
        super().__init__(graph)
        self.colours = int(colours)

    @property
    def choices(self) -> int:
        """k."""
        return self.colours

    def values(self, states: Any) -> NDArray[Any]:
        """Conflicts (M,).

        Args:
            states: Colours 0 to k - 1 (M, N).
        """
        colours = self._checked(states, tuple(range(self.colours)))
        return self.graph.total() - self.graph.cuts(colours)

    def states_of(self, choices: NDArray[np.int8]) -> NDArray[np.int8]:
        """Colours, c itself.

        Args:
            choices: c (M, N).
        """
        return choices

    def choices_of(self, states: NDArray[Any]) -> NDArray[np.int8]:
        """The colours.

        Args:
            states: Colours (M, N).
        """
        return states.astype(np.int8)

    def couplings(self) -> WeightedGraph:
        """-w."""
        g = self.graph
        return WeightedGraph(g.nodes, g.first, g.second, -g.weights, g.names)

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        return super().facts() | {"colours": str(self.colours)}


def _dot(states: NDArray[np.int8], numbers: NDArray[Any]) -> NDArray[Any]:
    """sum_i x_i a_i (M,), in whole numbers if a is whole."""
    sums: NDArray[Any] = states.astype(numbers.dtype) @ numbers
    return sums


def _linear(values: Any, nodes: int) -> NDArray[Any]:
    if values is None:
        return np.zeros(nodes, dtype=np.int64)
    array = exact_numbers("linear", values)
    if array.shape != (nodes,):
        raise InputError(f"linear must be {nodes} numbers, one a variable; got {array.shape}")
    return array
