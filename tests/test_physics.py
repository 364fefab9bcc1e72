"""Energy, drift, the order of the integrator, and the teacher path."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from entrain.physics import INITIAL_PHASE, Guide, path_coefficients
from networks import random_network, random_tensor


def test_drift_is_minus_mobility_times_the_energy_gradient() -> None:
    network = random_network(mobility=1.7)
    inputs, phases = random_tensor(4, 6), random_tensor(4, 8, seed=1).requires_grad_()
    (gradient,) = torch.autograd.grad(network.energy(phases, inputs).sum(), phases)
    assert torch.allclose(network.drift(phases, inputs), -1.7 * gradient, atol=1e-12)


def test_energy_is_the_sum_over_pairs() -> None:
    network = random_network()
    inputs, theta = random_tensor(2, 6), random_tensor(2, 8, seed=1)
    fields, couplings = network.fields(inputs), network.couplings
    by_hand = -(fields * theta.cos()).sum(1)
    for i in range(8):
        for j in range(i + 1, 8):
            by_hand = by_hand - couplings[i, j] * torch.cos(theta[:, i] - theta[:, j])
    assert torch.allclose(network.energy(theta, inputs), by_hand)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_energy_never_increases_along_a_fine_rollout(seed: int) -> None:
    network = random_network(seed=seed, scale=2.0, observation_time=1.0, steps=1000)
    inputs = random_tensor(3, 6, seed=seed)
    energy = network.energy(network.simulate(inputs, record=1).phases, inputs)
    assert (energy.diff(dim=0) <= 1e-12).all()
    assert (energy[-1] < energy[0]).all()


def test_euler_has_order_one() -> None:
    network = random_network(scale=2.0, observation_time=1.0)
    inputs = random_tensor(4, 6)
    network.requires_grad_(False)
    exact = network.simulate(inputs, steps=40_960).final
    steps = [80, 160, 320, 640]
    errors = [float((network.simulate(inputs, steps=k).final - exact).abs().max()) for k in steps]
    for coarse, fine in itertools.pairwise(errors):
        assert math.log2(coarse / fine) == pytest.approx(1.0, abs=0.2)


TARGETS = torch.tensor([-1.0, -1 + 1e-12, -0.7, 0.0, 1e-9, 0.3, 0.999, 1.0], dtype=torch.float64)


def test_the_teacher_path_meets_its_endpoints() -> None:
    alpha = path_coefficients(TARGETS)
    guide = Guide.at(alpha, torch.tensor([0.0, 1.0], dtype=torch.float64), 200)
    assert torch.equal(guide.cos[0], torch.zeros(8, dtype=torch.float64))
    assert torch.allclose(guide.cos[1], TARGETS, atol=1e-15)
    assert float(alpha.abs().max()) == pytest.approx(18.7149738, abs=1e-6)


def test_the_teacher_path_lies_on_the_circle_and_its_increments_add_up() -> None:
    alpha, steps = path_coefficients(TARGETS), 200
    time = torch.arange(steps, dtype=torch.float64) / steps
    guide = Guide.at(alpha, time, steps)
    assert torch.allclose(guide.cos**2 + guide.sin**2, torch.ones(8, dtype=torch.float64))
    end = INITIAL_PHASE + guide.increment.sum(0)
    assert torch.allclose(end, torch.arccos(TARGETS), atol=3e-8)  # arccos itself near +-1
    later = Guide.at(alpha, time + 1 / steps, steps)
    jump = torch.atan2(later.sin, later.cos) - torch.atan2(guide.sin, guide.cos)
    assert torch.allclose(guide.increment, jump, atol=1e-14)


def test_the_teacher_path_obeys_its_guide_equation() -> None:
    """d theta / dt = -mu beta sin(theta) with mu beta t_f = artanh(a), by central differences."""
    alpha = path_coefficients(TARGETS)
    time, h = torch.linspace(0.1, 0.9, 9, dtype=torch.float64), 1e-6

    def phase(t: torch.Tensor) -> torch.Tensor:
        guide = Guide.at(alpha, t, 1)
        return torch.atan2(guide.sin, guide.cos)

    slope = (phase(time + h) - phase(time - h)) / (2 * h)
    assert torch.allclose(slope, -alpha * Guide.at(alpha, time, 1).sin, atol=1e-8)


def test_float32_increments_have_no_cancellation() -> None:
    alpha = path_coefficients(TARGETS)
    time = torch.arange(200, dtype=torch.float64) / 200
    exact = Guide.at(alpha, time, 200).increment
    single = Guide.at(alpha.float(), time.float(), 200).increment.double()
    seen = exact != 0
    assert ((single - exact)[seen] / exact[seen]).abs().max() < 3e-5


def test_coefficients_require_float64() -> None:
    with pytest.raises(TypeError, match="float64"):
        path_coefficients(TARGETS.float())
