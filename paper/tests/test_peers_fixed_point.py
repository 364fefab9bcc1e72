"""Fixed-point solvers, and implicit gradients at fixed points."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain_paper.peers.aoc import AnalogOpticalComputer
from entrain_paper.peers.fixed_point import (
    FixedPointSolver,
    Map,
    equilibrium,
    solve_positive,
)
from entrain_paper.peers.subdeq import SubDEQ
from peer_draws import draws_for

RUNS, BATCH, SIZE = 2, 3, 6


def problem(strength: float = 0.9) -> tuple[Tensor, Tensor]:
    """Weights (R, n, n) of a contraction and a drive (R, B, n), in float64."""
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(RUNS, SIZE, SIZE, generator=generator, dtype=torch.float64)
    weights = strength * weights / torch.linalg.matrix_norm(weights, 2)[:, None, None]
    return weights, torch.randn(RUNS, BATCH, SIZE, generator=generator, dtype=torch.float64)


def tanh_map(weights: Tensor, drive: Tensor) -> Map:
    return lambda state: (state @ weights.mT + drive).tanh()


def pullback(weights: Tensor, drive: Tensor, state: Tensor) -> Map:
    slope = 1.0 - (state @ weights.mT + drive).tanh().square()
    return lambda gradient: (gradient * slope) @ weights


def residual(step: Map, state: Tensor) -> float:
    return float((step(state) - state).abs().max())


def test_damped_and_anderson_iterations_reach_the_same_fixed_point() -> None:
    """A contraction has one fixed point, from any start."""
    weights, drive = problem()
    step = tanh_map(weights, drive)
    damped = FixedPointSolver(steps=400, memory=0, damping=0.8)(step, torch.zeros_like(drive))
    anderson = FixedPointSolver(steps=40, ridge=1e-12)(step, torch.ones_like(drive))
    assert residual(step, damped) < 1e-12
    assert residual(step, anderson) < 1e-12
    torch.testing.assert_close(damped, anderson, rtol=0, atol=1e-10)


def test_anderson_converges_faster_than_damped_iteration() -> None:
    """20 steps leave a residual 1,000 times smaller on a symmetric map with slopes 0.5 to 0.98."""
    basis, drive = torch.linalg.qr(problem()[0])[0], 0.01 * problem()[1]
    slopes = torch.linspace(0.5, 0.98, SIZE, dtype=torch.float64)
    step = tanh_map(basis @ torch.diag(slopes) @ basis.mT, drive)
    start = torch.zeros_like(drive)
    plain = residual(step, FixedPointSolver(steps=20, memory=0)(step, start))
    fast = residual(step, FixedPointSolver(steps=20)(step, start))
    assert fast < 1e-3 * plain


def test_anderson_stays_at_a_fixed_point() -> None:
    """Residuals of exactly zero cause no division by zero."""
    state = FixedPointSolver(steps=8)(lambda state: state, torch.ones(1, 2, 3))
    assert torch.equal(state, torch.ones(1, 2, 3))


def test_samples_are_independent() -> None:
    """The iterates of a sample do not depend on other samples."""
    weights, drive = problem()
    solver = FixedPointSolver(steps=6)
    together = solver(tanh_map(weights, drive), torch.zeros_like(drive))
    alone = solver(tanh_map(weights, drive[:, :1]), torch.zeros_like(drive[:, :1]))
    torch.testing.assert_close(together[:, :1], alone, rtol=0, atol=1e-12)


def test_elimination_agrees_with_torch_solve() -> None:
    generator = torch.Generator().manual_seed(0)
    factor = torch.randn(2, 3, 5, 7, generator=generator, dtype=torch.float64)
    matrix, right = factor @ factor.mT, torch.randn(2, 3, 5, dtype=torch.float64)
    expected = torch.linalg.solve(matrix + 0.1 * torch.eye(5, dtype=torch.float64), right)
    torch.testing.assert_close(solve_positive(matrix, right, 0.1), expected)


def test_implicit_gradient_equals_the_unrolled_gradient() -> None:
    """Gradients with respect to weights and drive, in float64."""
    weights, drive = (tensor.requires_grad_() for tensor in problem(0.8))
    probe = torch.randn(drive.shape, dtype=torch.float64)
    state = torch.zeros_like(drive)
    for _ in range(200):
        state = tanh_map(weights, drive)(state)
    expected = torch.autograd.grad((probe * state).sum(), (weights, drive))
    for solver in (FixedPointSolver(30, ridge=1e-12), FixedPointSolver(300, memory=0)):
        fixed_point = equilibrium(
            tanh_map(weights, drive),
            lambda z: pullback(weights.detach(), drive.detach(), z),
            torch.zeros_like(drive),
            solver,
        )
        gradients = torch.autograd.grad((probe * fixed_point).sum(), (weights, drive))
        for gradient, unrolled in zip(gradients, expected, strict=True):
            torch.testing.assert_close(gradient, unrolled, rtol=1e-9, atol=1e-10)


def test_systems_converge_within_their_steps() -> None:
    """200 damped steps give the same states, for weights of a norm as after training (1.3)."""
    for system in (SubDEQ(), AnalogOpticalComputer()):
        generator = torch.Generator().manual_seed(3)
        parameters = {n: t[None] for n, t in system.init_parameters(20, 10, generator).items()}
        parameters["W"] *= 1.3 / torch.linalg.matrix_norm(parameters["W"], 2)
        system.project(parameters)
        inputs = torch.rand(1, 50, 20, generator=generator)
        longer = FixedPointSolver(200, memory=0, damping=0.5)
        exact = type(system)(solver=longer).state(parameters, inputs)
        torch.testing.assert_close(system.state(parameters, inputs), exact, rtol=0, atol=2e-3)


def test_implicit_gradients_match_finite_differences() -> None:
    """Gradients of every tensor of the systems, in float64."""
    solver = FixedPointSolver(60, memory=0, damping=0.9)
    for system in (SubDEQ(solver=solver, hidden=5), AnalogOpticalComputer(solver=solver, hidden=5)):
        generator = torch.Generator().manual_seed(4)
        initial = system.init_parameters(7, 3, generator)
        parameters = {n: t[None].double() for n, t in initial.items()}
        system.project(parameters)
        inputs = torch.rand(1, 4, 7, generator=generator).double()
        target = torch.eye(3, dtype=torch.float64)[torch.tensor([[0, 1, 2, 0]])]
        draws = draws_for(inputs)
        _, gradients = system.gradients(parameters, inputs, target, draws)
        for name, gradient in gradients.items():
            along = torch.randn(gradient.shape, generator=generator).double()
            ahead, behind = (
                system.loss(
                    parameters | {name: parameters[name] + h * along}, inputs, target, draws
                )
                for h in (1e-5, -1e-5)
            )
            slope = float((ahead - behind).sum()) / 2e-5
            assert abs(float((gradient * along).sum()) - slope) < 1e-6 * max(1.0, abs(slope)), name
