"""Equilibrium propagation and coupled learning: what their estimates of a gradient tend to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from direct_trainings import CLASSES, OUTPUTS
from entrain import kernels
from entrain.physics import Dynamics, PhaseModel, drift, energy
from entrain.rules import EquilibriumPropagation
from entrain.rules.equilibrium import contrast
from entrain.tasks import Regression
from networks import random_couplings, random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")

RUNS, BATCH, HIDDEN = 2, 4, 5
N = HIDDEN + OUTPUTS
DYNAMICS = Dynamics(1.3, 120.0, 600)
GAIN = torch.tensor([3.0, 2.0], dtype=torch.float64)[:, None, None]
WEIGHTS = torch.tensor([0.5, 2.0, 1.0, 0.25], dtype=torch.float64).repeat(RUNS, 1)[..., None]
LABELS = torch.arange(RUNS * BATCH).reshape(RUNS, BATCH) % OUTPUTS
TARGET = torch.nn.functional.one_hot(LABELS, OUTPUTS).double()


def model(**terms: Tensor) -> PhaseModel:
    """Fields and symmetric couplings, frustrated: phases come to rest away from 0 and pi, soon."""
    couplings = 0.5 * random_couplings(RUNS, HIDDEN, OUTPUTS, seed=20)
    return PhaseModel(1.0 + 0.5 * random_tensor(RUNS, BATCH, N, seed=70), couplings, **terms)


def relaxed(of: PhaseModel, dynamics: Dynamics, later: int) -> Tensor:
    return kernels.rollout(of, dynamics)


def estimate(of: PhaseModel, free: Tensor, **changes: Any) -> dict[str, Tensor]:
    """What the rule takes for the gradient."""
    weights = changes.pop("weights", None)
    rule = EquilibriumPropagation(**({"nudged_steps": 150} | changes))
    found = contrast(of, free, TARGET, GAIN, DYNAMICS, rule, relaxed, CLASSES, weights=weights)
    return found.tensors()


def cost(phases: Tensor, nudging: str) -> Tensor:
    """C of every sample (R, B)."""
    cos = phases[..., HIDDEN:].cos()
    if nudging == "squared":
        return 0.5 * (cos - (2.0 * TARGET - 1.0)).square().sum(-1)
    return -(TARGET * torch.log_softmax(GAIN * cos, -1)).sum(-1)


def second_derivative(force: Tensor, phases: Tensor) -> Tensor:
    """The Hessian (R, B, N, N) of the energy whose slope is `force`."""
    rows = [
        torch.autograd.grad(force[..., i].sum(), phases, retain_graph=True)[0] for i in range(N)
    ]
    return torch.stack(rows, dim=-2)


def gradient_at_rest(of: PhaseModel, free: Tensor, slope: Tensor) -> dict[str, Tensor]:
    """The gradient of a cost of the phases at rest whose slope there is `slope` (R, B, N).

    By the implicit function theorem: d C / d p = - slope H^-1 d^2 E / d theta d p, H the Hessian of
    the energy; both second derivatives by autograd.
    """
    leaves = of.map(lambda tensor: tensor.clone().requires_grad_())
    phases = free.clone().requires_grad_()
    total = energy(phases, leaves, DYNAMICS.mobility).sum()
    (force,) = torch.autograd.grad(total, phases, create_graph=True)
    hessian = second_derivative(force, phases)
    assert float(torch.linalg.eigvalsh(hessian).min()) > 0.2  # a minimum, and not a flat one
    held = torch.linalg.solve(hessian, slope)
    names = leaves.tensors()
    found = torch.autograd.grad(-(force * held).sum(), list(names.values()))
    return dict(zip(names, found, strict=True))


def exact(of: PhaseModel, free: Tensor, nudging: str, weights: Any = None) -> dict[str, Tensor]:
    """The gradient of the cost at rest."""
    phases = free.clone().requires_grad_()
    each = cost(phases, nudging) * (1.0 if weights is None else weights[..., 0])
    (slope,) = torch.autograd.grad(each.sum(), phases)
    return gradient_at_rest(of, free, slope)


def error(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> float:
    """The distance of two gradients over the length of the second."""
    assert found.keys() >= wanted.keys()
    apart = sum(float((found[n] - wanted[n]).square().sum()) for n in wanted)
    return (apart / sum(float(t.square().sum()) for t in wanted.values())) ** 0.5


def tied(gradient: dict[str, Tensor]) -> dict[str, Tensor]:
    """With J_ij and J_ji as one number: a rollout takes them for two, the energy for halves."""
    return gradient | {"couplings": gradient["couplings"] + gradient["couplings"].mT}


def at_rest(of: PhaseModel) -> Tensor:
    free = relaxed(of, DYNAMICS, 0)
    assert float(drift(free, of, DYNAMICS.mobility).abs().max()) < 1e-10
    return free


@pytest.mark.parametrize("nudging", ["cross-entropy", "squared"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_the_estimate_tends_to_the_gradient_at_rest_with_order_2(
    nudging: str, weights: Tensor | None
) -> None:
    of = model()
    free = at_rest(of)
    wanted = exact(of, free, nudging, weights)
    errors = [
        error(estimate(of, free, nudging=nudging, beta=beta, weights=weights), wanted)
        for beta in (0.02, 0.01, 0.005)
    ]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)
    tiny = estimate(of, free, nudging=nudging, beta=1e-3, weights=weights)
    assert error(tiny, wanted) < 1e-4


def test_the_estimate_of_numbers_tends_to_their_gradient_at_rest() -> None:
    of, zeros, ones = model(), (0.0,) * OUTPUTS, (1.0,) * OUTPUTS
    task = Regression(tuple("abc"), zeros, ones, ones)
    target, free = 2.0 * TARGET - 1.0 - 0.3 * TARGET.flip(-1), at_rest(of)
    phases = free.clone().requires_grad_()
    squares = (phases[..., HIDDEN:].cos() - target).square().mean(-1)
    (slope,) = torch.autograd.grad(squares.sum(), phases)
    wanted = gradient_at_rest(of, free, slope)
    for nudging in ("cross-entropy", "squared"):
        rule = EquilibriumPropagation(nudging=nudging, beta=1e-3, nudged_steps=150)
        found = contrast(of, free, target, GAIN, DYNAMICS, rule, relaxed, task)
        assert error(found.tensors(), wanted) < 1e-4


def test_the_adjoint_of_a_long_relaxation_is_the_gradient_at_rest() -> None:
    of = model()
    free, pullback = kernels.rollout_with_pullback(of, DYNAMICS)
    phases = free.clone().requires_grad_()
    (slope,) = torch.autograd.grad(cost(phases, "cross-entropy").sum(), phases)
    assert error(tied(pullback(slope).tensors()), tied(exact(of, free, "cross-entropy"))) < 1e-8


@pytest.mark.parametrize(("beta", "least"), [(0.05, 0.99), (0.01, 0.9999)])
def test_its_direction_is_that_of_the_gradient(beta: float, least: float) -> None:
    of = model()
    free = at_rest(of)
    ours, theirs = estimate(of, free, beta=beta), exact(of, free, "cross-entropy")
    for name in theirs:
        along = torch.cosine_similarity(ours[name].flatten(), theirs[name].flatten(), dim=0)
        assert float(along) >= least


def test_few_nudged_steps_give_a_shorter_gradient_of_nearly_the_same_direction() -> None:
    of = model()
    free = at_rest(of)
    wanted = exact(of, free, "cross-entropy")["couplings"].flatten()
    lengths, along = [], []
    for steps in (2, 5, 15, 60):
        found = estimate(of, free, beta=0.01, nudged_steps=steps)["couplings"].flatten()
        lengths.append(float(found.norm() / wanted.norm()))
        along.append(float(torch.cosine_similarity(found, wanted, dim=0)))
    assert lengths == sorted(lengths)
    assert lengths[-1] == pytest.approx(1.0, abs=5e-3)
    assert along[-1] > 0.9999


def test_terms_of_the_energy_are_estimated_as_well() -> None:
    terms = {
        "frequencies": 0.1 * random_tensor(RUNS, 1, N, seed=5),
        "injection": 0.05 * random_tensor(RUNS, 1, N, seed=6),
    }
    of = model(**terms)
    free = at_rest(of)
    found, wanted = estimate(of, free, beta=1e-3), exact(of, free, "cross-entropy")
    for name in terms:
        assert found[name].shape == (RUNS, 1, N)
        assert error({name: found[name]}, {name: wanted[name]}) < 1e-4


def test_how_far_a_nudge_turns_an_oscillator_is_the_gradient_of_its_frequency() -> None:
    """By finite differences of the cost at rest, one frequency of one network at a time."""
    of = model(frequencies=0.1 * random_tensor(RUNS, 1, N, seed=5))
    free = at_rest(of)
    found = estimate(of, free, beta=1e-3)["frequencies"]
    assert of.frequencies is not None
    for i in range(N):
        change = torch.zeros_like(of.frequencies)
        change[..., i] = 1e-4
        up, down = (
            cost(at_rest(replace(of, frequencies=of.frequencies + way)), "cross-entropy").sum(1)
            for way in (change, -change)
        )
        assert torch.allclose(found[:, 0, i], (up - down) / 2e-4, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("nudging", ["cross-entropy", "clamped"])
@pytest.mark.parametrize("averaged", [1, 4])
def test_no_two_relaxations_have_the_same_noise(nudging: Any, averaged: int) -> None:
    told: list[int] = []

    def told_apart(of: PhaseModel, dynamics: Dynamics, later: int) -> Tensor:
        told.append(later)
        return kernels.rollout(of, dynamics)

    of = model()
    rule = EquilibriumPropagation(nudging=nudging, nudged_steps=10, averaged_steps=averaged)
    contrast(of, at_rest(of), TARGET, GAIN, DYNAMICS, rule, told_apart, CLASSES)
    assert len(set(told)) == len(told) > 1
    assert 0 not in told  # that of the free relaxation


def test_averaging_over_steps_of_a_nudged_relaxation_tames_noise() -> None:
    of = model()
    free = at_rest(of)
    generator = torch.Generator().manual_seed(5)

    def shaken(of: PhaseModel, dynamics: Dynamics, later: int) -> Tensor:
        ends = kernels.rollout(of, dynamics)
        noise = torch.randn(ends.shape, generator=generator, dtype=ends.dtype)
        return ends + 0.03 * dynamics.time_step**0.5 * noise

    wanted = exact(of, free, "cross-entropy")
    errors = []
    for averaged in (1, 100):
        rule = EquilibriumPropagation(beta=0.05, nudged_steps=150, averaged_steps=averaged)
        found = contrast(of, free, TARGET, GAIN, DYNAMICS, rule, shaken, CLASSES).tensors()
        errors.append(error(found, wanted))
    assert errors[0] > 0.3
    assert errors[1] < 0.5 * errors[0]


def test_averaging_where_nothing_moves_changes_nothing() -> None:
    of = model()
    free = at_rest(of)
    last, mean = (
        estimate(of, free, beta=0.05, nudged_steps=600, averaged_steps=each) for each in (1, 10)
    )
    assert error(mean, last) < 1e-9


def test_phases_that_noise_wraps_do_not_spoil_the_gradient_of_frequencies() -> None:
    of = model(frequencies=0.1 * random_tensor(RUNS, 1, N, seed=5))
    free = at_rest(of)

    def turned(of: PhaseModel, dynamics: Dynamics, later: int) -> Tensor:
        """Now one side of the branch cut, now the other."""
        turned.calls += 1  # type: ignore[attr-defined]
        return relaxed(of, dynamics, later) + 2.0 * torch.pi * (turned.calls % 3)  # type: ignore[attr-defined]

    turned.calls = 0  # type: ignore[attr-defined]
    rule = EquilibriumPropagation(nudging="clamped", beta=0.1)
    same, other = (
        contrast(of, free, TARGET, GAIN, DYNAMICS, rule, relax, CLASSES)
        for relax in (relaxed, turned)
    )
    assert same.frequencies is not None
    assert other.frequencies is not None
    assert torch.allclose(same.frequencies, other.frequencies, atol=1e-9)


# Coupled learning


def towards(free: Tensor) -> Tensor:
    """From the outputs at rest to 0 for the class and to pi for the others."""
    apart = torch.zeros_like(free)
    wanted = torch.pi * (1.0 - TARGET)
    apart[..., HIDDEN:] = wanted - free[..., HIDDEN:]
    return (apart + torch.pi).remainder(2.0 * torch.pi) - torch.pi


def stiffness(of: PhaseModel, free: Tensor) -> Tensor:
    """What the outputs are held with (R, B, O, O): the Hessian less what the hidden ones yield."""
    phases = free.clone().requires_grad_()
    (force,) = torch.autograd.grad(energy(phases, of).sum(), phases, create_graph=True)
    whole = second_derivative(force, phases)
    inner, across = whole[..., :HIDDEN, :HIDDEN], whole[..., :HIDDEN, HIDDEN:]
    return whole[..., HIDDEN:, HIDDEN:] - across.mT @ torch.linalg.solve(inner, across)


def test_coupled_learning_follows_the_distance_in_units_of_the_outputs_stiffness() -> None:
    """d / d p of (1/2) (theta_o - wanted) K (theta_o - wanted) with K held as it is."""
    of = model()
    free = at_rest(of)
    apart = towards(free)
    slope = torch.zeros_like(free)
    slope[..., HIDDEN:] = -(stiffness(of, free) @ apart[..., HIDDEN:, None])[..., 0]
    wanted = gradient_at_rest(of, free, slope)
    errors = [
        error(estimate(of, free, nudging="clamped", beta=beta), wanted) for beta in (0.1, 0.05)
    ]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert error(estimate(of, free, nudging="clamped", beta=1e-3), wanted) < 1e-4


def test_a_step_of_coupled_learning_brings_the_outputs_nearer() -> None:
    of = model()
    free = at_rest(of)
    found = estimate(of, free, nudging="clamped", beta=0.1)
    stepped = replace(
        of,
        fields=of.fields - 0.02 * found["fields"],
        couplings=of.couplings - 0.02 * (found["couplings"] + found["couplings"].mT),
    )
    before, after = (towards(phases).square().sum((1, 2)) for phases in (free, at_rest(stepped)))
    assert bool((after < before).all())
