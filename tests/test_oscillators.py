"""Oscillators on any graph: couplings, values, roles and terms, and the documented examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch

from entrain import InputError, Oscillators, ramp
from networks import random_tensor
from oscillator_examples import N, kings_graph, ring, same_result, symmetric

# The examples of the documentation


def test_strong_coupling_synchronises_a_graph_and_weak_coupling_does_not() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.watts_strogatz_graph(60, 8, 0.3, seed=1)
    w = np.random.default_rng(0).normal(0, 0.2, 60)
    order = {}
    for coupling in (0.001, 2.0):
        osc = Oscillators(graph, coupling=coupling, frequencies=w)
        run = osc.simulate(time=40, steps=1000, starts="random", restarts=4)
        assert run.final.shape == (4, 60)
        assert not run.final.requires_grad
        order[coupling] = run.order_parameter()
    assert order[2.0].shape == (4,)
    assert float(order[2.0].median()) > 0.99
    assert float(order[0.001].max()) < 0.4


def test_an_ising_machine_finds_the_maximum_cut_of_a_bipartite_graph() -> None:
    sides = np.repeat([1, -1], [4, 5])
    g = (np.not_equal.outer(sides, sides)).astype(float)
    osc = Oscillators(couplings=-g, injection=1.0)
    schedule = {"injection": ramp(0, 1), "temperature": ramp(0.3, 0)}
    run = osc.simulate(time=100, steps=1000, starts="random", restarts=8, seed=0, schedule=schedule)
    assert run.spins.shape == (8, 9)
    assert run.spins.dtype == torch.int8
    for spins in run.spins.numpy():
        assert (np.not_equal.outer(spins, spins) * g).sum() / 2 == 20


def test_a_memory_recalls_each_stored_pattern_from_a_corrupted_one() -> None:
    patterns = np.sign(np.random.default_rng(0).normal(size=(3, 100)))
    hebbian = patterns.T @ patterns / 100
    np.fill_diagonal(hebbian, 0.0)
    osc = Oscillators(couplings=hebbian, injection=0.2)
    cues = patterns.copy()
    cues[:, ::10] *= -1  # a tenth is wrong
    phases = np.where(cues > 0, 1.0, math.pi - 1.0)
    run = osc.simulate(starts=phases, time=20, steps=400)
    assert run.final.shape == (3, 100)
    assert np.array_equal(run.spins.numpy(), patterns)


def test_a_driven_network_is_read_after_each_input_and_learns_from_all() -> None:
    osc = Oscillators(64, inputs=12, input_nodes=range(55), read=range(55, 64))
    u = torch.randn(3, 5, 12, generator=torch.Generator().manual_seed(0), requires_grad=True)
    run = osc.simulate(drive=u, hold=0.2, steps_per_input=4)
    assert run.readout.shape == (3, 5, 9)
    assert run.times.tolist() == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    run.readout[:, -1].square().sum().backward()
    for parameter in (*osc.parameters(), u):
        assert parameter.grad is not None
        assert bool(parameter.grad.any())
    assert bool(u.grad[:, 0].any())  # the first input has an effect on the last readout


# Couplings in any form


def test_couplings_in_any_form_are_the_same_oscillators() -> None:
    networkx = pytest.importorskip("networkx")
    matrix = symmetric().float()
    rows, columns = matrix.triu(1).nonzero().T
    strengths = matrix[rows, columns]
    graph = networkx.Graph()
    graph.add_nodes_from("fedcba")
    for i, j, value in zip(rows.tolist(), columns.tolist(), strengths.tolist(), strict=True):
        graph.add_edge("fedcba"[i], "fedcba"[j], weight=value)
    edges = torch.stack([rows.float(), columns.float(), strengths], 1)
    wanted = Oscillators(matrix).simulate(starts="random", time=2.0)
    named = Oscillators(graph)
    assert named.nodes == tuple("fedcba")
    for osc in (
        named,
        Oscillators(matrix.numpy().astype(np.float64)),
        Oscillators(matrix.tolist()),
        Oscillators(scipy.sparse.csr_array(matrix.numpy())),
        Oscillators(scipy.sparse.coo_matrix(matrix.numpy())),
        Oscillators(edges, oscillators=N),
        Oscillators(edges.tolist(), oscillators=N),
        Oscillators(0.5 * matrix, coupling=2.0),
    ):
        assert osc.couplers == len(strengths)
        assert torch.equal(osc.couplings, matrix)
        assert same_result(osc.simulate(starts="random", time=2.0), wanted)


def test_edges_and_graphs_without_weights_have_weight_one() -> None:
    networkx = pytest.importorskip("networkx")
    wanted = torch.zeros(4, 4)
    for i, j in ((0, 1), (1, 2), (2, 3)):
        wanted[i, j] = wanted[j, i] = 3.0
    edges = [(0, 1), (1, 2), (2, 3)]
    assert torch.equal(Oscillators(networkx.path_graph(4), coupling=3.0).couplings, wanted)
    assert torch.equal(Oscillators(edges, oscillators=4, coupling=3.0).couplings, wanted)


def test_an_asymmetric_matrix_couples_one_way() -> None:
    """Oscillator 0 is pulled by oscillator 1, which is free."""
    osc = Oscillators([[0.0, 1.0], [0.0, 0.0]], start_phases=[0.5, 2.0])
    assert not osc.is_symmetric
    assert osc.couplers == 1
    assert torch.equal(osc.couplings, torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
    final = osc.simulate(time=20.0, steps=400).final
    assert final.tolist() == pytest.approx([2.0, 2.0], abs=1e-5)
    assert float(final[1]) == 2.0


def test_arrays_become_the_default_type_and_tensors_keep_theirs() -> None:
    for couplings in (symmetric().numpy(), scipy.sparse.csr_array(symmetric().numpy()), 6):
        osc = Oscillators(couplings, frequencies=np.ones(6))
        assert osc.frequencies.dtype == osc.simulate().final.dtype == torch.float32
    double = Oscillators(symmetric(), frequencies=np.ones(6))
    assert double.frequencies.dtype == double.simulate(starts="random").final.dtype == torch.float64
    assert Oscillators(3, dtype=torch.float64).couplings.dtype == torch.float64


def test_values_are_copies_of_the_arrays() -> None:
    frequencies, matrix = np.ones(6, dtype=np.float32), symmetric().float()
    osc = Oscillators(matrix, frequencies=frequencies)
    before = osc.simulate().final
    frequencies[:], matrix[:] = 7.0, 7.0
    assert torch.equal(osc.simulate().final, before)


def test_a_state_restores_every_value() -> None:
    def oscillators(seed: int) -> Oscillators:
        values = {"frequencies": random_tensor(N, seed=seed), "lag": 0.1 * seed}
        return Oscillators(symmetric(seed=seed), inputs=2, seed=seed, fields=0.3 * seed, **values)

    one, other = oscillators(1), oscillators(2)
    other.load_state_dict(one.state_dict())
    inputs = random_tensor(4, 2)
    assert same_result(one.simulate(inputs), other.simulate(inputs))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"couplings": np.zeros((3, 2))}, r"square matrix.* got shape \(3, 2\)"),
        ({"couplings": np.zeros(3)}, "square matrix"),
        ({"couplings": "K10"}, "couplings must be a matrix.* got str"),
        ({"couplings": 0}, "couplings must be a whole number of at least 1"),
        ({"couplings": 10**6}, "couplings must be a whole number up to 50,000"),
        ({"couplings": np.eye(3)}, r"self-coupling is not allowed: J\[0, 0\]"),
        ({"couplings": [[0.0, np.nan], [np.nan, 0.0]]}, "couplings must be finite"),
        ({"couplings": scipy.sparse.csr_array((2, 3))}, "square matrix"),
        ({"couplings": 3, "coupling": math.inf}, "coupling must be finite"),
        ({"couplings": 3, "coupling": "2"}, "coupling must be a number"),
        ({"couplings": ring(4), "oscillators": 4}, "oscillators is the number of a list of edges"),
        ({"couplings": 4, "oscillators": 4}, "oscillators is the number of a list of edges"),
        ({"couplings": [(0, 3)], "oscillators": 3}, "edges must join oscillators 0 to 2"),
        ({"couplings": [(1, 1)], "oscillators": 3}, "got one from 1 to itself"),
        ({"couplings": [(0, 0.5)], "oscillators": 3}, "edges must join oscillators"),
        ({"couplings": [(0, 1), (1, 0)], "oscillators": 3}, "once each, got \\(0, 1\\) twice"),
        ({"couplings": [(0, 1, 2, 3)], "oscillators": 4}, "edges must be rows"),
        ({"couplings": [("a", "b")], "oscillators": 4}, "edges must be rows"),
        ({"couplings": [(0, 1), (1,)], "oscillators": 4}, "edges must be rows"),
        ({"couplings": torch.zeros(2, 3, 3)}, "couplings of 2 systems need runs=2, got None"),
        ({"fields": [1.0, 2.0]}, r"fields must be 3 numbers; got shape \(2,\)"),
        ({"fields": [1.0, np.nan, 0.0]}, "fields must be finite"),
        ({"frequencies": ["a", "b", "c"]}, "frequencies must be numbers"),
        ({"lag": [0.1, 0.2]}, "lag must be one number; got shape"),
        ({"harmonic": 0.5, "lags": 1.0}, "unknown term 'lags'; did you mean 'lag'"),
        ({"edge_lag": np.zeros((2, 2))}, "edge_lag must be 3 x 3 or 6 numbers"),
        ({"inputs": -1}, "inputs must be a whole number"),
        ({"input_nodes": [0, 3], "inputs": 2}, "input_nodes must be indices from 0 to 2"),
        ({"input_nodes": [0]}, "input_nodes .* but there are no inputs"),
        ({"input_weights": np.zeros((3, 2))}, "input_weights .* but there are no inputs"),
        ({"input_weights": np.zeros((3, 3)), "inputs": 2}, "input_weights must be 3 x 2 numbers"),
        ({"read": []}, "read must be different indices, at least one"),
        ({"read": [1, 1]}, "read must be different indices"),
        ({"read": [-1]}, "read must be indices from 0 to 2"),
        ({"read": [0.5]}, "read must be whole numbers"),
        ({"trainable": ["coupling"]}, "unknown trainable value 'coupling'"),
        ({"trainable": "couplings"}, "trainable must be a list of names"),
        ({"trainable": ["injection"]}, "injection must have initial values"),
        ({"trainable": ["input_weights"]}, "input_weights .* but there are no inputs"),
        ({"runs": 0}, "runs must be a whole number"),
        ({"mobility": 0.0}, "mobility"),
        ({"steps": 1.5}, "steps"),
        ({"seed": -1}, "seed"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Oscillators(**{"couplings": 3} | arguments)


def test_wrong_graphs_are_refused() -> None:
    networkx = pytest.importorskip("networkx")
    loop, words = networkx.path_graph(3), networkx.path_graph(3)
    loop.add_edge(1, 1)
    words.add_edge(0, 1, weight="heavy")
    for graph, message in (
        (networkx.MultiGraph([(0, 1), (0, 1)]), "multigraph"),
        (networkx.Graph(), "must have nodes"),
        (loop, "self-coupling is not allowed"),
        (words, "must be a number"),
    ):
        with pytest.raises(InputError, match=message):
            Oscillators(graph)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"time": 0.0}, "time must be finite and above 0"),
        ({"steps": 0}, "steps must be a whole number"),
        ({"record": 7}, "record must divide the 200 steps"),
        ({"record": -1}, "record must be a whole number"),
        ({"record": 2.5}, "record must be a whole number"),
        ({"record": 2, "times": [0.1]}, "record must be 0"),
        ({"times": [0.3]}, "times must lie from 0 to 0.2"),
        ({"times": []}, "times must be at least one"),
        ({"restarts": 0}, "restarts must be a whole number"),
        ({"starts": "uniform"}, 'starts must be phases or "random"'),
        ({"starts": {}}, "starts must be phases"),
        ({"starts": [0.0, 1.0]}, "starts must be 3 phases"),
        ({"starts": 1.0}, "starts must be 3 phases"),
        ({"starts": [0.0, 1.0, np.nan]}, "starts must be finite"),
        ({"starts": np.zeros((2, 3))}, "inputs have 4 samples, starts 2"),
        ({"starts": np.zeros((2, 4, 3))}, r"broadcast to 4 x 3; got shape \(2, 4, 3\)"),
        ({"temperature": -1.0}, "temperature must be"),
        ({"seed": -1, "temperature": 1.0}, "seed must be"),
        ({"seed": 0.5, "starts": "random"}, "seed must be"),
        ({"first_sample": -1, "temperature": 1.0}, "first_sample must be"),
        ({"hold": 0.1}, "hold is of inputs in time"),
        ({"drive": torch.zeros(2)}, "drive must be a tensor B x T x D"),
        ({"drive": np.zeros((4, 5, 2))}, "drive must be a tensor"),
        ({"drive": torch.zeros(3, 5, 2)}, "inputs have 4 samples, drive 3"),
        ({"drive": torch.zeros(2, 4, 5, 2)}, "drive must be B x T x D or T x D"),
        ({"drive": torch.zeros(4, 5, 3)}, "must have 2 components"),
        ({"drive": torch.zeros(4, 5, 2), "time": 1.0}, "time and steps follow from hold"),
        ({"drive": torch.zeros(4, 5, 2), "record": 3}, "record must divide the 200 steps of an"),
        ({"inputs": torch.zeros(2, 4, 2)}, r"inputs must be B x D or D; got shape \(2, 4, 2\)"),
        ({"inputs": torch.zeros(4, 3)}, "must have 2 components"),
        ({"inputs": np.zeros((4, 2))}, "inputs must be a PyTorch tensor"),
        ({"inputs": torch.zeros(4, 2).double()}, "inputs are torch.float64"),
        ({"schedule": {"injection": ramp(0, 1)}}, "give Oscillators injection=1.0"),
        ({"schedule": {"lag": ramp(0, 1)}}, "unknown scheduled quantity 'lag'"),
        ({"schedule": {"fields": np.zeros(201)}}, "list of 1 to 200 numbers"),
        ({"schedule": {"fields": [1.0, np.nan]}}, "schedule of fields must be finite"),
        ({"schedule": {"fields": math.nan}}, "schedule of fields must be finite"),
        ({"schedule": {"fields": "up"}}, "schedule of fields must be a ramp or numbers"),
        ({"schedule": {"temperature": ramp(1, -1)}}, "temperature must not be negative"),
        ({"schedule": {"temperature": 1.0}, "temperature": 1.0}, "give one of both"),
        ({"schedule": {"temperature": torch.ones(2, requires_grad=True)}}, "not differentiable"),
        ({"schedule": [1.0]}, "schedule must map names to values"),
    ],
    ids=str,
)
def test_wrong_simulations_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    osc = Oscillators(3, inputs=2)
    with pytest.raises(InputError, match=message):
        osc.simulate(**{"inputs": torch.zeros(4, 2)} | arguments)


def test_inputs_of_oscillators_without_inputs_are_refused() -> None:
    osc = Oscillators(3)
    with pytest.raises(InputError, match="take no inputs"):
        osc.simulate(torch.zeros(4, 2))
    with pytest.raises(InputError, match="drive must be fields of 3 oscillators"):
        osc.simulate(drive=torch.zeros(4, 5, 2))


# Roles and terms


def test_inputs_reach_their_nodes_and_the_readout_is_of_its_own() -> None:
    weights = random_tensor(2, 3)
    osc = Oscillators(
        symmetric(), inputs=3, input_nodes=[4, 1], input_weights=weights, read=[5, 0, 2]
    )
    u = random_tensor(7, 3)
    fields = osc.fields(u)
    assert torch.equal(fields[:, [4, 1]], u @ weights.T)
    assert not bool(fields[:, [0, 2, 3, 5]].any())
    run = osc.simulate(u)
    assert torch.equal(run.readout, run.final[:, [5, 0, 2]].cos())
    assert torch.equal(osc(u), run.readout)
    assert osc(u.reshape(7, 1, 3)).shape == (7, 1, 3)


def test_parameters_are_what_has_no_value_or_is_named() -> None:
    def names(*args: Any, **options: Any) -> set[str]:
        return {name for name, _ in Oscillators(*args, **options).named_parameters()}

    assert names(symmetric(), frequencies=1.0) == set()
    assert names(3) == {"coupler_strengths"}
    assert names(3, coupling=1.0) == set()
    assert names(3, inputs=2) == {"coupler_strengths", "biases", "input_weights"}
    assert names(3, inputs=2, fields=0.0) == {"coupler_strengths", "input_weights"}
    assert names(3, frequencies=1.0, lag=0.1, trainable=["lag"]) == {"lag"}
    assert names(3, start_phases=1.0, trainable=["start_phases"]) == {"start_phases"}


def test_higher_injection_locks_phases_to_as_many_values() -> None:
    for k in (2, 3, 4):
        name = "injection" if k == 2 else f"injection_{k}"
        osc = Oscillators(np.zeros((50, 50)), **{name: 1.0})
        final = osc.simulate(starts="random", time=20, steps=1000).final
        assert float((k * final).cos().min()) > 0.999
        assert len((final % (2 * math.pi) / (2 * math.pi / k)).round().remainder(k).unique()) == k


def test_a_lag_of_each_edge_is_the_lag_of_all_if_they_are_equal() -> None:
    common = Oscillators(symmetric(), lag=0.4).simulate(starts="random", time=1.0)
    each = Oscillators(symmetric(), edge_lag=np.full((N, N), 0.4)).simulate(
        starts="random", time=1.0
    )
    assert torch.allclose(common.final, each.final, rtol=0, atol=1e-12)


def test_energy_falls_along_a_simulation_and_its_slope_is_the_drift() -> None:
    osc = Oscillators(symmetric(), fields=random_tensor(N), injection=0.3, injection_3=0.2)
    path = osc.simulate(starts=random_tensor(4, N), time=2.0, steps=400, record=1).phases
    assert bool((osc.energy(path).diff(dim=0) <= 0).all())
    phases = path[0].clone().requires_grad_()
    (slope,) = torch.autograd.grad(osc.energy(phases).sum(), phases)
    assert torch.allclose(osc.drift(path[0]), -slope, rtol=0, atol=1e-12)


def test_a_result_says_what_it_is() -> None:
    osc = Oscillators(ring(7), inputs=2, input_nodes=range(3), read=[6], frequencies=1.0)
    assert repr(osc) == (
        "Oscillators(7 oscillators, 7 couplers, 2 inputs to 3, 1 read, frequencies, mobility=1, "
        "observation_time=0.2, steps=200)"
    )
    run = osc.simulate(restarts=3, time=4.0, record=100)
    assert repr(run) == "Simulation(phases 41 x 3 x 7, until time 4, torch.float32)"


def test_a_kings_graph_of_1968_oscillators_with_inputs_on_a_part_trains() -> None:
    pytest.importorskip("entrain.kernels.cpu")
    osc = Oscillators(
        kings_graph(48, 41), oscillators=1968, coupling=0.1, inputs=20,
        input_nodes=range(0, 1900, 2), read=range(1958, 1968), observation_time=1.0, steps=20,
        trainable=("couplings", "fields", "input_weights"),
    )  # fmt: skip
    assert osc.is_sparse
    assert osc.couplers == 47 * 41 + 48 * 40 + 2 * 47 * 40
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(16, 20, generator=generator)
    labels = torch.arange(16) % 10
    optimiser = torch.optim.Adam(osc.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(4 * osc(inputs), labels)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[2] < losses[1] < losses[0]
