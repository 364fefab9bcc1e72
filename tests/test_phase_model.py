"""Physics that can be checked: drift, locking, injection, lag, energy, orders of convergence.

The second harmonic of the coupling function and delays have more in test_coupling_function.py.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from entrain import KuramotoNetwork, kernels
from entrain.kernels import reference
from entrain.physics import Dynamics, PhaseModel, drift, energy

TERMS = ("frequencies", "injection", "lag", "start", "harmonic")


def model(n: int = 6, *terms: str, batch: int = 4, seed: int = 0) -> PhaseModel:
    """A random gradient flow in float64, with some terms."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    couplings = normal(1, n, n).triu(1)
    others = {
        "frequencies": normal(1, 1, n),
        "injection": normal(1, 1, n),
        "lag": normal(1),
        "start": 2.0 * normal(1, batch, n),
        "harmonic": torch.tensor([[0.6, -0.4]], dtype=torch.float64),
    }
    return PhaseModel(
        normal(1, batch, n), couplings + couplings.mT, **{term: others[term] for term in terms}
    )


def two(difference: float, coupling: float, **others: Tensor) -> PhaseModel:
    """Two coupled oscillators whose natural frequencies differ."""
    matrix = torch.tensor([[[0.0, coupling], [coupling, 0.0]]], dtype=torch.float64)
    frequencies = torch.tensor([[[0.5 * difference, -0.5 * difference]]], dtype=torch.float64)
    fields = torch.zeros(1, 1, 2, dtype=torch.float64)
    return PhaseModel(fields, matrix, frequencies=frequencies, **others)


def phase_difference(of: PhaseModel, time: float, steps: int) -> Tensor:
    path = kernels.rollout(of, Dynamics(1.0, time, steps), record=True)
    return path[:, 0, 0, 0] - path[:, 0, 0, 1]


def test_an_oscillator_with_a_frequency_alone_drifts_by_w_t() -> None:
    frequencies = torch.linspace(-3.0, 3.0, 5, dtype=torch.float64).reshape(1, 1, 5)
    alone = PhaseModel(
        torch.zeros(1, 2, 5, dtype=torch.float64),
        torch.zeros(1, 5, 5, dtype=torch.float64),
        frequencies=frequencies,
    )
    phases = kernels.rollout(alone, Dynamics(2.0, 0.7, 10))
    torch.testing.assert_close(phases, math.pi / 2 + 0.7 * frequencies.expand(1, 2, 5))


@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.95])
def test_two_oscillators_lock_below_twice_the_coupling(ratio: float) -> None:
    """d(theta_1 - theta_2)/dt = w_1 - w_2 - 2 J sin(theta_1 - theta_2)."""
    coupling = 1.5
    apart = phase_difference(two(2 * coupling * ratio, coupling), 40.0, 8000)
    assert float(apart[-1]) == pytest.approx(math.asin(ratio), abs=1e-6)
    assert abs(float(apart[-1] - apart[-1000])) < 1e-9


@pytest.mark.parametrize("ratio", [1.05, 2.0, 5.0])
def test_two_oscillators_drift_apart_above_it_with_the_known_frequency(ratio: float) -> None:
    coupling, time, steps = 1.5, 60.0, 30_000
    difference = 2 * coupling * ratio
    apart = phase_difference(two(difference, coupling), time, steps)
    # The time from one slip by 2 pi to a later one, so that only whole turns count.
    turns = int(float(apart[-1]) // (2 * math.pi))
    times = torch.searchsorted(apart, torch.tensor([2 * math.pi, 2 * math.pi * turns]).double())
    period = float(times[1] - times[0]) * time / steps / (turns - 1)
    expected = math.sqrt(difference**2 - (2 * coupling) ** 2)
    assert 2 * math.pi / period == pytest.approx(expected, rel=5e-3)


def test_injection_makes_0_and_pi_the_stable_phases() -> None:
    n = 64
    starts = torch.linspace(-3.0, 3.0, n, dtype=torch.float64).reshape(1, 1, n)
    binary = PhaseModel(
        torch.zeros(1, 1, n, dtype=torch.float64),
        torch.zeros(1, n, n, dtype=torch.float64),
        injection=torch.ones(1, 1, n, dtype=torch.float64),
        start=starts,
    )
    phases = kernels.rollout(binary, Dynamics(1.0, 10.0, 2000))
    assert bool((phases.cos().abs() > 1 - 1e-9).all())
    nearest = torch.where(starts.abs() < math.pi / 2, 0.0, math.pi * starts.sign())
    torch.testing.assert_close(phases, nearest, atol=1e-6, rtol=0)


def test_a_lag_rotates_a_synchronised_network_at_the_known_rate() -> None:
    """All phases alike: d theta / dt = -mu sum_j J sin(a)."""
    n, lag = 5, 0.3
    alike = PhaseModel(
        torch.zeros(1, 1, n, dtype=torch.float64),
        torch.ones(1, n, n, dtype=torch.float64) - torch.eye(n, dtype=torch.float64),
        lag=torch.tensor([lag], dtype=torch.float64),
        start=torch.full((1, 1, n), 1.0, dtype=torch.float64),
    )
    phases = kernels.rollout(alike, Dynamics(1.5, 2.0, 50))
    expected = 1.0 - 1.5 * (n - 1) * math.sin(lag) * 2.0
    torch.testing.assert_close(phases, torch.full_like(phases, expected))


@pytest.mark.parametrize("terms", [(), ("frequencies",), ("injection", "start"), TERMS[:2]])
def test_without_a_lag_the_energy_never_rises(terms: tuple[str, ...]) -> None:
    flow, dynamics = model(8, *terms, seed=3), Dynamics(1.3, 4.0, 4000)
    path = kernels.rollout(flow, dynamics, record=True)
    assert float(energy(path, flow, dynamics.mobility).diff(dim=0).max()) <= 0.0


def test_with_a_lag_the_energy_may_rise() -> None:
    flow, dynamics = model(8, "lag", "start", seed=3), Dynamics(1.3, 4.0, 4000)
    path = kernels.rollout(flow, dynamics, record=True)
    assert float(energy(path, flow, dynamics.mobility).diff(dim=0).max()) > 1e-4


@pytest.mark.parametrize("terms", [(), ("frequencies",), ("injection",), TERMS[:2]])
def test_the_drift_is_the_gradient_of_the_energy(terms: tuple[str, ...]) -> None:
    flow = model(5, *terms)
    phases = flow.starts().clone() + torch.linspace(0, 2, 5)
    phases.requires_grad_()
    (slope,) = torch.autograd.grad(energy(phases, flow, 1.7).sum(), phases)
    torch.testing.assert_close(drift(phases, flow, 1.7), -1.7 * slope)


@pytest.mark.parametrize("terms", [(), *((term,) for term in TERMS), TERMS], ids="+".join)
def test_euler_converges_with_order_one_in_every_term(terms: tuple[str, ...]) -> None:
    flow = model(6, *terms)
    exact = kernels.rollout(flow, Dynamics(1.0, 1.0, 8000))
    errors = [
        float((kernels.rollout(flow, Dynamics(1.0, 1.0, steps)) - exact).abs().max())
        for steps in (100, 200, 400)
    ]
    orders = [math.log2(a / b) for a, b in itertools.pairwise(errors)]
    assert all(abs(order - 1.0) < 0.1 for order in orders), (errors, orders)


@pytest.mark.parametrize("terms", [(), *((term,) for term in TERMS), TERMS], ids="+".join)
def test_every_gradient_of_the_reference_agrees_with_finite_differences(
    terms: tuple[str, ...],
) -> None:
    flow, dynamics, step = model(4, *terms, batch=2), Dynamics(1.1, 0.8, 7), 1e-6
    phases, pullback = reference.rollout_with_pullback(flow, dynamics)
    weights = torch.linspace(-1.0, 2.0, phases.numel(), dtype=torch.float64).view_as(phases)
    found = pullback(weights)
    for name in ("fields", "couplings", *terms):
        values = getattr(flow, name)
        numeric = torch.zeros_like(values)
        for index in range(values.numel()):
            slopes = []
            for sign in (1.0, -1.0):
                moved = values.clone()
                moved.view(-1)[index] += sign * step
                shifted = PhaseModel(**{**flow.__dict__, name: moved})
                slopes.append(float((weights * reference.rollout(shifted, dynamics)).sum()))
            numeric.view(-1)[index] = (slopes[0] - slopes[1]) / (2 * step)
        torch.testing.assert_close(getattr(found, name), numeric, atol=2e-8, rtol=1e-6)


def test_terms_that_are_off_change_no_bit() -> None:
    """A network with a lag of 0 and without terms is the plain one, and has no tensors of them."""
    plain = KuramotoNetwork(3, 4, 2)
    off = KuramotoNetwork(
        3, 4, 2, lag=0.0, harmonic=[0.0, 0.0], frequencies=None, injection=None, start_phases=None
    )
    assert list(plain.state_dict()) == list(off.state_dict())
    assert off.phase_model(torch.ones(2, 3)).is_plain
    acting = [term for term in TERMS if term != "start"]
    zero = model(6, *acting).map(torch.zeros_like)
    flow = model(6).map(torch.Tensor.float)
    with_zeros = replace(flow, **{term: getattr(zero, term).float() for term in acting})
    for record in (False, True):
        for backend in (reference, kernels.select_backend(flow)):
            ours, theirs = (
                backend.rollout(each, Dynamics(steps=30), record=record)
                for each in (with_zeros, flow)
            )
            assert torch.equal(ours, theirs), backend.__name__


def test_a_custom_term_is_a_function_of_phases() -> None:
    """The second harmonic of the coupling function, sum_j sin(2 theta_i - 2 theta_j)."""

    def second_harmonic(phases: Tensor) -> Tensor:
        sin, cos = (2 * phases).sin(), (2 * phases).cos()
        return sin * cos.sum(-1, keepdim=True) - cos * sin.sum(-1, keepdim=True)

    flow = replace(model(5, *TERMS), other_terms=(second_harmonic,))
    with_it, without = (
        kernels.rollout(each, Dynamics(steps=9)) for each in (flow, replace(flow, other_terms=()))
    )
    assert float((with_it - without).abs().max()) > 1e-3
    tensors = {name: t.clone().requires_grad_() for name, t in flow.tensors().items()}
    recorded = reference.rollout(replace(flow, **tensors), Dynamics(steps=9))
    weights = torch.linspace(-1, 1, recorded.numel()).view_as(recorded).double()
    wanted = torch.autograd.grad(recorded, list(tensors.values()), weights)
    phases, pullback = kernels.rollout_with_pullback(flow, Dynamics(steps=9))
    torch.testing.assert_close(phases, recorded.detach())
    found = pullback(weights).tensors()
    for name, expected in zip(tensors, wanted, strict=True):
        torch.testing.assert_close(found[name], expected)
    single = replace(flow.map(torch.Tensor.float))
    kernels._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="times slower"):
        backend = kernels.select_backend(single)
    assert backend is reference
