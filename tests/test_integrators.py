"""Euler, Heun and Runge-Kutta steps: orders of convergence, adjoints, and what Euler stays."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import entrain
import kernel_facts as facts
from conditions import in_all_conditions
from entrain import kernels
from entrain.kernels import convergence, reference
from entrain.kernels.integrators import METHODS
from entrain.physics import Dynamics, Noise, PhaseModel, drift, wrap
from entrain.physics.terms import TERMS

ALL = (*TERMS, "start")
methods = pytest.mark.parametrize("method", METHODS)
higher = pytest.mark.parametrize("method", ["heun", "rk4"])
SHAPE = (1, 3, 6, 1)


def smooth() -> PhaseModel:
    """A model with a term of each kind, and slopes of about one."""
    terms = ("frequencies", "injection", "lag", "harmonic", "start")
    model = facts.example(SHAPE, terms, scale=0.25)
    return replace(model, edge_lag=facts.random_tensor(1, 6, 6, seed=5))


@methods
def test_the_order_of_convergence_is_that_of_the_method(method: str) -> None:
    """Against rk4 with far smaller steps."""
    model = smooth()
    exact = kernels.rollout(model, Dynamics(1.0, 1.0, 1000), method="rk4")
    errors = [
        float((kernels.rollout(model, Dynamics(1.0, 1.0, k), method=method) - exact).norm())
        for k in (20, 40, 80)
    ]
    orders = [math.log2(a / b) for a, b in itertools.pairwise(errors)]
    assert orders == pytest.approx([METHODS[method].order] * 2, abs=0.2)


@methods
def test_convergence_observes_the_order_of_the_method(method: str) -> None:
    found = convergence(smooth(), Dynamics(1.0, 1.0, 20), method=method)
    assert found.order == pytest.approx(METHODS[method].order, abs=0.3)
    assert found.steps == (20, 40, 80)
    assert found.time_steps == pytest.approx((1 / 20, 1 / 40, 1 / 80))
    assert found.order == math.log2(found.differences[0] / found.differences[1])


@methods
def test_convergence_observes_the_order_with_a_schedule_of_segments(method: str) -> None:
    """A schedule of dt is the same function of time at dt/2 and dt/4."""
    shape = (1, 3, 6, 20)
    model = facts.example(shape, ("injection", "start"), scale=0.25, scheduled=True)
    found = convergence(model, Dynamics(1.0, 1.0, 20), method=method)
    assert found.order == pytest.approx(METHODS[method].order, abs=0.3)


@methods
def test_convergence_observes_order_one_with_additive_noise(method: str) -> None:
    """Increments of coarse steps are sums of those of fine ones: the strong order of
    Euler-Maruyama with noise that does not depend on the phases is 1."""
    model = facts.example((1, 1, 6, 1), ("start",), scale=0.25)
    factors = torch.linspace(1.0, 0.2, 20, dtype=torch.float64)
    noise = Noise(3, 0.2, torch.arange(1500), torch.arange(1), factors, first=2)
    found = convergence(model, Dynamics(1.0, 1.0, 20), noise, method)
    assert found.order == pytest.approx(1.0, abs=0.15)


def test_coarse_runs_have_the_brownian_path_of_the_finest() -> None:
    """Without a drift they end at the same phases."""
    zero = torch.zeros(1, 2, 3, dtype=torch.float64)
    free = PhaseModel(zero, torch.zeros(1, 3, 3, dtype=torch.float64))
    noise = Noise(3, 0.2, torch.arange(4), torch.arange(2), first=1)
    assert max(convergence(free, Dynamics(1.0, 1.0, 5), noise).differences) < 1e-14


@higher
@in_all_conditions
@pytest.mark.parametrize("terms", [(), ALL], ids=["none", "all"])
def test_the_adjoint_of_a_method_equals_autograd(terms, condition, method: str) -> None:
    facts.check_adjoint((2, 3, 5, 6), terms, **condition, method=method)


@higher
def test_segments_of_a_method_give_the_same_bits(monkeypatch, method: str) -> None:
    shape = (2, 3, 5, 30)
    model, dynamics = facts.example(shape, ALL, scheduled=True), Dynamics(1.0, 0.4, 30)
    noise = facts.some_noise(shape, 0.1, scheduled=True)
    results = []
    for size in (reference.STORED_BYTES, 100):
        monkeypatch.setattr(reference, "STORED_BYTES", size)
        phases, pullback = kernels.rollout_with_pullback(
            model, dynamics, noise=noise, record=5, method=method
        )
        weights = facts.random_tensor(*phases.shape, seed=1)
        results.append({"phases": phases, **pullback(weights).tensors()})
    assert reference.segment_length(model.fields, 30) < 30
    for name, tensor in results[0].items():
        assert torch.equal(tensor, results[1][name]), name


@higher
def test_autograd_of_float32_rollouts_is_the_adjoint_of_the_method(method: str) -> None:
    shape = (2, 3, 5, 8)
    model, dynamics = facts.example(shape, ALL, scheduled=True), Dynamics(1.0, 0.2, 8)
    _, pullback = reference.rollout_with_pullback(model, dynamics, method=method)
    weights = facts.random_tensor(2, 3, 5, seed=1)
    exact = pullback(weights).tensors()
    leaves = model.map(lambda tensor: tensor.float().requires_grad_())
    phases = kernels.rollout(leaves, dynamics, method=method)
    phases.backward(weights.float())
    for name, leaf in leaves.tensors().items():
        assert facts.relative_error(leaf.grad, exact[name]) < 1e-4, name


def euler_by_hand(model: PhaseModel, dynamics: Dynamics, noise: Noise | None) -> Tensor:
    phases = model.starts()[:, None] if noise is not None else model.starts()
    wide = model if noise is None else reference.with_replicate_axis(model)
    for step in range(dynamics.steps):
        phases = phases + dynamics.time_step * drift(phases, wide, dynamics.mobility)
        if noise is not None:
            eta = noise.increments(step // 4, phases.shape[-1])[step % 4]
            deviation = math.sqrt(2 * dynamics.mobility * noise.temperature * dynamics.time_step)
            phases = wrap(phases + deviation * eta)
    return phases


@pytest.mark.parametrize("noisy", [False, True], ids=["", "noisy"])
def test_euler_is_the_default_and_the_plain_formula_to_the_bit(noisy: bool) -> None:
    shape = (2, 3, 5, 10)
    model, dynamics = facts.example(shape, ALL), Dynamics(1.3, 0.2, 10)
    noise = Noise(3, 0.1, torch.arange(4), torch.arange(3)) if noisy else None
    phases = kernels.rollout(model, dynamics, noise=noise)
    assert torch.equal(phases, euler_by_hand(model, dynamics, noise))
    single = model.map(Tensor.float)
    default, named = (
        kernels.rollout(single, dynamics, noise=noise, **options)
        for options in ({}, {"method": "euler"})
    )
    assert torch.equal(default, named)


def test_custom_terms_act_in_every_stage() -> None:
    """-2 s sin(2 theta) as a function of the phases equals the injection."""
    model = facts.example((1, 3, 5, 1), ("injection",))
    strength = model.terms["injection"]
    custom = PhaseModel(
        model.fields,
        model.couplings,
        other_terms=(lambda phases: 2 * strength * (2 * phases).sin(),),
    )
    for method in METHODS:
        ours, theirs = (
            kernels.rollout_with_pullback(each, Dynamics(1.0, 0.5, 7), method=method)
            for each in (custom, model)
        )
        torch.testing.assert_close(ours[0], theirs[0])
        gradients = ours[1](torch.ones_like(ours[0])), theirs[1](torch.ones_like(ours[0]))
        torch.testing.assert_close(gradients[0].couplings, gradients[1].couplings)


def test_unknown_methods_and_delays_in_stages_are_refused() -> None:
    model, dynamics = facts.example((1, 3, 5, 1)), Dynamics(1.0, 0.5, 7)
    with pytest.raises(entrain.InputError, match="choose from euler, heun, rk4"):
        kernels.rollout(model, dynamics, method="midpoint")
    with pytest.raises(entrain.InputError, match="must be 'euler' with a delay"):
        kernels.rollout_with_pullback(replace(model, delay=0.1), dynamics, method="rk4")
