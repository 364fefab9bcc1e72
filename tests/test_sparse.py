"""Couplings by their edges: the results of the matrix, whatever the order of oscillators."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import kernel_facts as facts
from conditions import CONDITIONS
from entrain.kernels import reference
from entrain.physics import Dynamics, PhaseModel, SparseCouplings, SparseGraph
from entrain.physics.couplings import add_outer, multiply, multiply_transposed, outer
from entrain.physics.phase_model import is_per_sample
from entrain.physics.terms import PAIR, TERMS

cpu = pytest.importorskip("entrain.kernels.cpu")

ALL = (*TERMS, "start")
SHAPE = (2, 11, 9, 8)
OF_EDGES = ("couplings", *(name for name, term in PAIR.items() if term.shape == "couplings"))
backends = pytest.mark.parametrize(
    ("backend", "dtype", "tolerance"),
    [(reference, torch.float64, 1e-10), (cpu, torch.float32, 1e-4)],
    ids=["reference", "cpu"],
)


def results(backend, model: PhaseModel, condition) -> dict[str, Tensor]:
    """Phases as sin and cos, and every gradient."""
    dynamics, scheduled = Dynamics(1.1, 0.2, SHAPE[-1]), condition.get("scheduled", False)
    noise = facts.some_noise(SHAPE, 0.1, scheduled=scheduled) if condition.get("noisy") else None
    options = {"noise": noise, "record": condition.get("record", 0)}
    phases, pullback = backend.rollout_with_pullback(model, dynamics, **options)
    weights = facts.random_tensor(*phases.shape, seed=7).to(phases.dtype)
    return {"sin": phases.sin(), "cos": phases.cos(), **pullback(weights).tensors()}


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor], tolerance: float) -> None:
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        assert facts.relative_error(tensor, expected[name].double()) < tolerance, name


def with_couplings(model: PhaseModel, change) -> PhaseModel:
    """The model with J and the terms of each coupling on another graph."""
    couplings = model.couplings
    terms = {n: change(t) if n in OF_EDGES else t for n, t in model.terms.items()}
    return replace(model, couplings=change(couplings.values), terms=terms)


@backends
@pytest.mark.parametrize("name", ["plain", "all", "scheduled"])
@pytest.mark.parametrize("terms", [(), ALL], ids=["none", "all"])
def test_edges_give_the_phases_and_gradients_of_the_matrix(
    terms, name: str, backend, dtype, tolerance: float
) -> None:
    condition = dict(CONDITIONS[name])
    scheduled = condition.get("scheduled", False)
    model = facts.example(SHAPE, terms, sparse=True, scheduled=scheduled)
    model = model.map(lambda tensor: tensor.to(dtype))
    graph = model.couplings.graph
    dense = with_couplings(model, lambda values: SparseCouplings(values, graph).dense())
    expected = results(backend, dense, condition)
    for tensor in expected.keys() & set(OF_EDGES):
        expected[tensor] = expected[tensor][:, graph.rows, graph.columns]
    assert_same(results(backend, model, condition), expected, tolerance)


@backends
@pytest.mark.parametrize("terms", [(), ALL], ids=["none", "all"])
def test_oscillators_may_be_numbered_in_any_order(terms, backend, dtype, tolerance) -> None:
    n = SHAPE[2]
    model = facts.example(SHAPE, terms, sparse=True, scheduled=True)
    model, graph = model.map(lambda tensor: tensor.to(dtype)), model.couplings.graph
    new = torch.randperm(n, generator=torch.Generator().manual_seed(4))  # new number of each
    old = new.argsort()
    one_way = graph.rows < graph.columns
    renumbered = SparseGraph.from_pairs(new[graph.rows[one_way]], new[graph.columns[one_way]], n)
    keys = new[graph.rows] * n + new[graph.columns]
    order = keys.argsort()
    assert torch.equal(keys[order], renumbered.rows * n + renumbered.columns)
    tensors = model.tensors()
    moved = {k: t[..., old] for k, t in tensors.items() if is_per_sample(k)}
    moved |= {k: t[:, order] for k, t in tensors.items() if k in OF_EDGES}
    other = replace(model, couplings=SparseCouplings(model.couplings.values, renumbered))
    other = other.with_tensors(moved)

    def back(name: str, values: Tensor) -> Tensor:
        if name in OF_EDGES:
            return values[:, order.argsort()]
        return values[..., new] if is_per_sample(name) or name in ("sin", "cos") else values

    weights = facts.random_tensor(*SHAPE[:3], seed=7).to(dtype)
    found = {}
    for key, each, by in (("model", model, weights), ("other", other, weights[..., old])):
        phases, pullback = backend.rollout_with_pullback(each, Dynamics(1.1, 0.2, SHAPE[-1]))
        found[key] = {"sin": phases.sin(), "cos": phases.cos(), **pullback(by).tensors()}
    restored = {name: back(name, values) for name, values in found["other"].items()}
    assert_same(found["model"], restored, tolerance)


def test_oscillators_without_couplings_follow_their_fields_alone() -> None:
    """A graph with empty rows, the first and the last among them, and one without edges."""
    for pairs in ([[2, 3]], []):
        edges = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2)
        graph = SparseGraph.from_pairs(edges[:, 0], edges[:, 1], 6)
        values = facts.random_tensor(1, graph.edges, seed=2)
        fields = facts.random_tensor(1, 9, 6, seed=1)
        model = PhaseModel(fields, SparseCouplings(values, graph))
        dynamics = Dynamics(1.0, 0.5, 5)
        free = PhaseModel(fields, torch.zeros(1, 6, 6, dtype=torch.float64))
        alone = reference.rollout(free, dynamics)[..., [0, 1, 4, 5]]
        torch.testing.assert_close(reference.rollout(model, dynamics)[..., [0, 1, 4, 5]], alone)
        phases, pullback = cpu.rollout_with_pullback(model.map(Tensor.float), dynamics)
        assert facts.relative_error(phases[..., [0, 1, 4, 5]], alone) < 1e-5
        assert pullback(torch.ones_like(phases)).couplings.values.shape == (1, graph.edges)


def test_products_by_edges_are_those_of_the_matrix() -> None:
    graph = facts.third_graph(9)
    sparse = SparseCouplings(facts.random_tensor(2, graph.edges, seed=1), graph)
    dense = sparse.dense()
    x, y = facts.random_tensor(2, 5, 9, seed=2), facts.random_tensor(2, 5, 9, seed=3)
    for product in (multiply, multiply_transposed):
        torch.testing.assert_close(product(sparse, x), product(dense, x))
    wanted = outer(dense, x, y)[:, graph.rows, graph.columns]
    torch.testing.assert_close(outer(sparse, x, y), wanted)
    total = torch.ones_like(sparse.values)
    add_outer(total, sparse, x, y, -1)
    torch.testing.assert_close(total, 1.0 - wanted)
    assert torch.equal(graph.rows[graph.reverse], graph.columns)
    assert torch.equal(graph.columns[graph.reverse], graph.rows)
