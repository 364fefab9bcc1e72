"""Values of assignments are those of the formulas, exactly; sources that cannot be are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse

from entrain import InputError
from entrain.ising import Colouring, Ising, MaxCut, Qubo, WeightedGraph
from entrain.ising.graph import graph_of
from ising_examples import all_states, random_graph

GRAPH = random_graph(7, seed=1)
EDGES = list(zip(GRAPH.first.tolist(), GRAPH.second.tolist(), GRAPH.weights.tolist(), strict=True))
H = [3, -1, 0, 2, -2, 5, 1]


def test_the_energy_of_spins_is_the_sum_over_fields_and_edges() -> None:
    problem = Ising(GRAPH, H, 4)
    for spins, energy in zip(
        all_states(7, (-1, 1)), problem.values(all_states(7, (-1, 1))), strict=True
    ):
        s = [int(spin) for spin in spins]
        expected = 4 + sum(h * x for h, x in zip(H, s, strict=True))
        assert energy == expected + sum(w * s[i] * s[j] for i, j, w in EDGES)
    assert problem.values([1] * 7).dtype == np.int64


def test_the_cut_is_the_weight_between_the_camps() -> None:
    states = all_states(7, (-1, 1))
    expected = [sum(w for i, j, w in EDGES if s[i] != s[j]) for s in states]
    assert MaxCut(GRAPH).values(states).tolist() == expected


def test_a_qubo_is_the_quadratic_form_of_bits_and_an_ising_problem() -> None:
    generator = np.random.default_rng(0)
    matrix = generator.integers(-9, 10, (6, 6))
    problem, bits = Qubo.from_matrix(matrix, offset=7), all_states(6, (0, 1))
    expected = [int(x.astype(int) @ matrix @ x.astype(int)) + 7 for x in bits]
    assert problem.values(bits).tolist() == expected
    assert problem.to_ising().values(2 * bits - 1).tolist() == expected


def test_conflicts_are_the_weight_of_edges_of_one_colour() -> None:
    colours = all_states(7, (0, 1, 2))
    expected = [sum(w for i, j, w in EDGES if c[i] == c[j]) for c in colours]
    assert Colouring(GRAPH, 3).values(colours).tolist() == expected


def test_the_oscillators_at_0_and_pi_have_the_energy_of_the_spins() -> None:
    """E of the phase model is the value of the problem, in its unit and up to a constant."""
    import torch

    from entrain.ising.machine import IdealMachine

    states = all_states(7, (0, 1))
    for problem in (Ising(GRAPH, H), MaxCut(GRAPH), Qubo(GRAPH, H)):
        machine = IdealMachine(problem, torch.device("cpu"))
        phases = torch.from_numpy(states * np.pi).float()
        energies = machine.oscillators.energy(phases).numpy()
        costs = problem.costs(problem.values(problem.states_of(states)))
        slope, _ = np.polyfit(costs, energies, 1)
        assert slope > 0
        assert np.corrcoef(costs, energies)[0, 1] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("problem", [MaxCut(GRAPH), Qubo(GRAPH, H), Colouring(GRAPH, 4)])
def test_states_of_choices_are_inverted_by_choices_of_states(problem: Any) -> None:
    choices = np.random.default_rng(0).integers(problem.choices, size=(5, 7)).astype(np.int8)
    assert (problem.choices_of(problem.states_of(choices)) == choices).all()


def test_whole_weights_stay_whole_up_to_the_limit() -> None:
    large = 2**58
    graph = WeightedGraph.from_entries(3, [0, 1], [1, 2], [large, large + 1])
    assert MaxCut(graph).values([1, -1, 1])[0] == 2 * large + 1
    assert MaxCut([[0, 0.5], [0.5, 0]]).values([1, -1])[0] == 0.5


def test_matrices_networkx_and_edges_give_one_graph() -> None:
    dense = GRAPH.matrix.toarray()
    network = networkx.Graph()
    network.add_nodes_from(range(7))
    network.add_weighted_edges_from(EDGES)
    for other in (
        graph_of(dense),
        graph_of(scipy.sparse.csc_array(dense.astype(float))),
        graph_of(network),
        graph_of(EDGES, nodes=7),
    ):
        assert other.weights.dtype == np.int64
        assert (other.matrix != GRAPH.matrix).nnz == 0
    named = networkx.relabel_nodes(network, {i: f"n{i}" for i in range(7)})
    assert MaxCut(named).names == tuple(f"n{i}" for i in range(7))


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "empty": (lambda: MaxCut(networkx.Graph()), "number of nodes must be a whole number of at"),
    "self-loop": (lambda: MaxCut([[1, 0], [0, 0]]), "one at 0"),
    "asymmetric": (lambda: MaxCut([[0, 1], [2, 0]]), "symmetric"),
    "not square": (lambda: MaxCut(np.zeros((2, 3))), "got shape (2, 3)"),
    "NaN": (lambda: MaxCut([[0, np.nan], [np.nan, 0]]), "finite"),
    "text": (lambda: MaxCut([["0", "a"], ["a", "0"]]), "real numbers"),
    "huge whole weights": (
        lambda: WeightedGraph.from_entries(2, [0], [1], [2**62]),
        "add up to less than",
    ),
    "huge weights": (lambda: WeightedGraph.from_entries(2, [0], [1], [1e308]), "1e300"),
    "beyond 64 bits": (lambda: WeightedGraph.from_entries(2, [0], [1], [10**400]), "weights"),
    "an edge twice": (lambda: graph_of([(0, 1), (1, 0)], nodes=2), "(0, 1) twice"),
    "unknown node": (lambda: graph_of([(0, 5)], nodes=3), "nodes 0 to 2"),
    "directed": (lambda: MaxCut(networkx.DiGraph([(0, 1)])), "undirected"),
    "too many colours": (lambda: Colouring([[0, 1], [1, 0]], 9), "from 2 to 8"),
    "linear": (lambda: Ising([[0, 1], [1, 0]], [1, 2, 3]), "2 numbers"),
    "states": (lambda: MaxCut([[0, 1], [1, 0]]).values([0, 1]), "among -1, 1"),
    "size of states": (lambda: MaxCut([[0, 1], [1, 0]]).values([1, 1, 1]), "2 variables"),
}


@pytest.mark.parametrize("name", BAD)
def test_problems_that_cannot_be_are_refused(name: str) -> None:
    make, message = BAD[name]
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
