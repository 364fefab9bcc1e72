"""The bound of stable time steps: energies below it, and the warning above it."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_facts as facts
from entrain import kernels
from entrain.kernels.integrators import METHODS
from entrain.physics import (
    Dynamics,
    PhaseModel,
    Schedule,
    SparseCouplings,
    SparseGraph,
    drift,
    energy,
    stable_step,
    warn_if_unstable,
)
from entrain.physics.stability import INTERVALS
from entrain.physics.terms import LOCAL, TERMS


def star(leaves: int) -> PhaseModel:
    """One oscillator coupled to all others with J = 1, at random phases."""
    others = torch.arange(1, leaves + 1)
    graph = SparseGraph.from_pairs(torch.zeros_like(others), others, leaves + 1)
    start = facts.random_tensor(1, 1, leaves + 1, seed=1)
    values = torch.ones(1, graph.edges, dtype=torch.float64)
    return PhaseModel(torch.zeros_like(start), SparseCouplings(values, graph), start=start)


def dense(model: PhaseModel) -> PhaseModel:
    return replace(model, couplings=model.couplings.dense())


def energies(model: PhaseModel, dynamics: Dynamics, method: str = "euler") -> torch.Tensor:
    path = kernels.rollout(model, dynamics, record=1, method=method)
    return energy(path, model, dynamics.mobility)


def test_a_star_of_400_is_stable_below_the_bound_and_wrong_above_it() -> None:
    model = star(399)
    largest = stable_step(model, 1.0)
    assert largest == pytest.approx(2 / (399 + math.sqrt(399)))
    assert largest == pytest.approx(stable_step(dense(model), 1.0))
    with pytest.warns(RuntimeWarning, match=r"0\.05 is above 0\.00477.*at least 4,190 steps"):
        warn_if_unstable(model, Dynamics(1.0, 20.0, 400))
    assert float(energies(model, Dynamics(1.0, 20.0, 400))[-1]) > -390
    calm = Dynamics(1.0, 20.0, 4190)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_unstable(model, calm)
    below = energies(model, calm)
    assert float(below.diff(dim=0).max()) < 1e-9
    assert float(below[-1]) == pytest.approx(-399, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(2, 9),
    seed=st.integers(0, 10**6),
    terms=st.sets(st.sampled_from(["frequencies", "harmonic", *LOCAL])),
    sparse=st.booleans(),
    mobility=st.floats(0.1, 10.0),
)
def test_below_the_bound_every_step_lowers_the_energy(n, seed, terms, sparse, mobility) -> None:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    model = facts.example((1, 3, n, 1), {*terms, "start"}, sparse=sparse)
    model = model.map(lambda tensor: normal(*tensor.shape))
    couplings = model.couplings
    if sparse:
        both = couplings.values + couplings.values[..., couplings.graph.reverse]
    else:
        both = couplings + couplings.mT
        both.diagonal(dim1=1, dim2=2).zero_()
    model = model.with_tensors({"couplings": both})
    if "harmonic" in terms:
        model.terms["harmonic"][:, 1] = 0.0  # the even part has no energy
    dynamics = Dynamics(mobility, 50 * 0.999 * stable_step(model, mobility), 50)
    change = energies(model, dynamics).diff(dim=0)
    assert float(change.max()) <= 1e-9 * (1.0 + float(both.abs().sum()))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_bound_is_at_least_the_largest_slope_of_the_drift(sparse: bool) -> None:
    """Eigenvalues of the Jacobian of the drift at random phases, with every term."""
    model, mobility = facts.example((1, 1, 7, 1), TERMS, sparse=sparse), 1.7
    largest = 2 / stable_step(model, mobility)
    for seed in range(20):
        phases = 3 * facts.random_tensor(7, seed=seed)
        jacobian = torch.autograd.functional.jacobian(
            lambda x: drift(x[None, None], model, mobility)[0, 0], phases
        )
        assert float(torch.linalg.eigvals(jacobian).abs().max()) <= largest


def test_the_bound_is_reached_by_a_pair_and_by_a_single_oscillator() -> None:
    zero = torch.zeros(1, 1, 2, dtype=torch.float64)
    pair = torch.tensor([[[0.0, 3.0], [3.0, 0.0]]], dtype=torch.float64)
    assert stable_step(PhaseModel(zero, pair), 2.0) == pytest.approx(2 / (2.0 * 6.0))
    alone = PhaseModel(zero + 0.5, 0 * pair, injection_3=zero + 2.0)
    assert stable_step(alone, 1.0) == pytest.approx(2 / (0.5 + 9 * 2.0))
    assert stable_step(PhaseModel(zero, 0 * pair, frequencies=zero + 9), 1.0) == math.inf


def test_a_lag_does_not_change_the_bound() -> None:
    model = facts.example((1, 2, 6, 1))
    shared = replace(model, lag=torch.tensor([0.7], dtype=torch.float64))
    each = replace(model, edge_lag=facts.random_tensor(1, 6, 6, seed=3))
    for other in (shared, each):
        assert stable_step(other, 1.0) == pytest.approx(stable_step(model, 1.0))


def test_the_largest_values_of_a_schedule_count() -> None:
    model = facts.example((1, 2, 6, 3), ("injection",))
    factors = torch.tensor([0.5, 4.0, -1.0], dtype=torch.float64)
    drive = torch.stack([torch.zeros_like(model.fields), torch.ones_like(model.fields)])
    names = ("fields", "couplings", "injection")
    varying = replace(model, schedule=Schedule(dict.fromkeys(names, factors)))
    assert stable_step(varying, 1.0) == pytest.approx(stable_step(model, 1.0) / 4)
    driven = replace(model, schedule=Schedule({}, drive, hold=2))
    assert 2 / stable_step(driven, 1.0) == pytest.approx(2 / stable_step(model, 1.0) + 1)


def test_methods_have_the_interval_of_their_stability_polynomial() -> None:
    """theta' = -theta near theta = 0: it grows above the bound and decays below it."""
    assert INTERVALS.keys() == METHODS.keys()
    zero = torch.zeros(1, 1, 2, dtype=torch.float64)
    model = PhaseModel(zero + 1.0, torch.zeros(1, 2, 2).double(), start=zero + 1e-6)
    for method in METHODS:
        largest = stable_step(model, 1.0, method)
        below, above = (
            kernels.rollout(model, Dynamics(1.0, 40 * dt, 40), method=method).abs().max()
            for dt in (0.98 * largest, 1.02 * largest)
        )
        assert float(below) < 1e-6 < float(above)


def test_values_that_are_not_finite_do_not_warn() -> None:
    for value in (math.nan, math.inf):
        model = star(3).map(lambda tensor, value=value: torch.full_like(tensor, value))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_if_unstable(model, Dynamics())
