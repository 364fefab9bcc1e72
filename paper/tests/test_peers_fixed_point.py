"""Fixed points are fixed points, and their gradient is that of the whole iteration."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain_paper.peers.aoc import AnalogOpticalComputer
from entrain_paper.peers.fixed_point import (
    FixedPointSolver,
    Map,
    equilibrium,
    solve_positive,
    unrolled,
)
from entrain_paper.peers.subdeq import SubDEQ

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


def test_both_iterations_end_at_a_fixed_point() -> None:
    """f(z) = z to rounding, and the fixed point of a contraction is the same from anywhere."""
    weights, drive = problem()
    step = tanh_map(weights, drive)
    damped = FixedPointSolver(steps=400, memory=0, damping=0.8)(step, torch.zeros_like(drive))
    anderson = FixedPointSolver(steps=40, ridge=1e-12)(step, torch.ones_like(drive))
    assert residual(step, damped) < 1e-12
    assert residual(step, anderson) < 1e-12
    torch.testing.assert_close(damped, anderson, rtol=0, atol=1e-10)


def test_anderson_needs_fewer_steps() -> None:
    """On a symmetric map with slopes from 0.5 to 0.98 it is a thousand times nearer after 20."""
    basis, drive = torch.linalg.qr(problem()[0])[0], 0.01 * problem()[1]
    slopes = torch.linspace(0.5, 0.98, SIZE, dtype=torch.float64)
    step = tanh_map(basis @ torch.diag(slopes) @ basis.mT, drive)
    start = torch.zeros_like(drive)
    plain = residual(step, FixedPointSolver(steps=20, memory=0)(step, start))
    fast = residual(step, FixedPointSolver(steps=20)(step, start))
    assert fast < 1e-3 * plain


def test_anderson_stays_at_a_fixed_point() -> None:
    """Residuals of exactly zero give no division by zero."""
    still = FixedPointSolver(steps=8)(lambda state: state, torch.ones(1, 2, 3))
    assert torch.equal(still, torch.ones(1, 2, 3))


def test_each_sample_is_solved_on_its_own() -> None:
    """A sample's iterates do not depend on those beside it."""
    weights, drive = problem()
    solver = FixedPointSolver(steps=6)
    together = solver(tanh_map(weights, drive), torch.zeros_like(drive))
    alone = solver(tanh_map(weights, drive[:, :1]), torch.zeros_like(drive[:, :1]))
    torch.testing.assert_close(together[:, :1], alone, rtol=0, atol=1e-12)


def test_small_systems_are_solved() -> None:
    """Elimination agrees with the library's solver."""
    generator = torch.Generator().manual_seed(0)
    factor = torch.randn(2, 3, 5, 7, generator=generator, dtype=torch.float64)
    matrix, right = factor @ factor.mT, torch.randn(2, 3, 5, dtype=torch.float64)
    wanted = torch.linalg.solve(matrix + 0.1 * torch.eye(5, dtype=torch.float64), right)
    torch.testing.assert_close(solve_positive(matrix, right, 0.1), wanted)


def test_implicit_gradient_is_that_of_the_whole_iteration() -> None:
    """With respect to weights and drive, in float64."""
    weights, drive = (tensor.requires_grad_() for tensor in problem(0.8))
    probe = torch.randn(drive.shape, dtype=torch.float64)
    state = torch.zeros_like(drive)
    for _ in range(200):
        state = tanh_map(weights, drive)(state)
    wanted = torch.autograd.grad((probe * state).sum(), (weights, drive))
    for solver in (FixedPointSolver(30, ridge=1e-12), FixedPointSolver(300, memory=0)):
        found = equilibrium(
            tanh_map(weights, drive),
            lambda z: pullback(weights.detach(), drive.detach(), z),
            torch.zeros_like(drive),
            solver,
        )
        gradients = torch.autograd.grad((probe * found).sum(), (weights, drive))
        for gradient, other in zip(gradients, wanted, strict=True):
            torch.testing.assert_close(gradient, other, rtol=1e-9, atol=1e-10)


def test_gradient_of_the_last_steps_tends_to_the_exact_one() -> None:
    """Each further step of a contraction brings it nearer."""
    weights, drive = (tensor.requires_grad_() for tensor in problem(0.8))
    solver, start = FixedPointSolver(200, memory=0), torch.zeros_like(drive)
    step = tanh_map(weights, drive)

    def gradient(last: int) -> Tensor:
        return torch.autograd.grad(unrolled(step, start, solver, last).sum(), weights)[0]

    errors = [float((gradient(last) - gradient(200)).norm()) for last in (1, 4, 16)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2]


def test_systems_settle_in_the_steps_they_take() -> None:
    """200 damped steps end at the same states, with weights as strong as trained ones (1.3)."""
    for system in (SubDEQ(), AnalogOpticalComputer()):
        generator = torch.Generator().manual_seed(3)
        numbers = {n: t[None] for n, t in system.drawn(20, 10, generator).items()}
        numbers["W"] *= 1.3 / torch.linalg.matrix_norm(numbers["W"], 2)
        system.project(numbers)
        inputs = torch.rand(1, 50, 20, generator=generator)
        longer = FixedPointSolver(200, memory=0, damping=0.5)
        exact = type(system)(solver=longer).state(numbers, inputs)
        torch.testing.assert_close(system.state(numbers, inputs), exact, rtol=0, atol=2e-3)


def test_gradients_of_the_systems_are_those_of_their_loss() -> None:
    """The implicit gradient of every tensor against finite differences, in float64."""
    solver = FixedPointSolver(60, memory=0, damping=0.9)
    for system in (SubDEQ(solver=solver, hidden=5), AnalogOpticalComputer(solver=solver, hidden=5)):
        generator = torch.Generator().manual_seed(4)
        drawn = system.drawn(7, 3, generator)
        numbers = {n: t[None].double() for n, t in drawn.items()}
        system.project(numbers)
        inputs = torch.rand(1, 4, 7, generator=generator).double()
        target = torch.eye(3, dtype=torch.float64)[torch.tensor([[0, 1, 2, 0]])]
        _, gradients = system.gradients(numbers, inputs, target)
        for name, gradient in gradients.items():
            along = torch.randn(gradient.shape, generator=generator).double()
            ahead, behind = (
                system.loss(numbers | {name: numbers[name] + h * along}, inputs, target)
                for h in (1e-5, -1e-5)
            )
            slope = float((ahead - behind).sum()) / 2e-5
            assert abs(float((gradient * along).sum()) - slope) < 1e-6 * max(1.0, abs(slope)), name
