"""The exact minimiser of the path loss, and the time rule it sums with."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from entrain import kernels
from entrain.physics import Dynamics, Guide, PhaseModel, drift, layered_graph, local_fields
from entrain.physics.quadrature import time_rule
from entrain.rules import exact_path
from entrain.rules.exact_path import solve_path
from entrain.rules.training_data import TeacherData
from entrain.utils.errors import InputError
from networks import random_couplings, random_tensor

DYNAMICS = Dynamics(1.2, 0.4, 12)
SHAPES = [(60, 5, 4, 2), (30, 3, 1, 1), (40, 2, 1, 3), (50, 4, 3, 1)]  # samples, D, H, O


def teacher(samples: int, inputs: int, hidden: int, outputs: int, seed: int = 0) -> TeacherData:
    """Random inputs and unrelated random paths."""
    return TeacherData(
        inputs=random_tensor(samples, inputs, seed=seed) + 0.3,
        coefficients=2 * random_tensor(samples, hidden + outputs, seed=seed + 1),
        targets=torch.zeros(samples, outputs, dtype=torch.float64),
        labels=torch.zeros(samples, dtype=torch.int64),
    )


def plain_loss(parameters: dict[str, Tensor], data: TeacherData, d: Dynamics) -> Tensor:
    """L_path from phases arccos(tanh(s alpha)), term by term."""
    b = local_fields(*(parameters[name] for name in ("input_weights", "biases")), data.inputs)
    theta = [torch.arccos(torch.tanh(data.coefficients * k / d.steps)) for k in range(d.steps + 1)]
    total = b.new_zeros(())
    for k in range(d.steps):
        velocity = drift(theta[k], PhaseModel(b, parameters["couplings"]), d.mobility)
        total = total + (theta[k + 1] - theta[k] - d.time_step * velocity).square().sum()
    return total / (d.steps * b.numel())


def gradient(parameters: dict[str, Tensor], data: TeacherData, d: Dynamics) -> Tensor:
    """With respect to the independent parameters, by autograd."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in parameters.items()}
    plain_loss(leaves, data, d).backward()
    by_weights, by_biases, by_couplings = (
        leaves[name].grad[0] for name in ("input_weights", "biases", "couplings")
    )
    hidden, outputs = len(by_weights), data.targets.shape[1]
    tied = (by_couplings + by_couplings.T)[layered_graph(hidden, outputs).triu()]
    return torch.cat([by_weights.flatten(), by_biases, tied])


def zeros(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}


@pytest.mark.parametrize(("steps", "nodes"), [(200, 32), (200, 1), (7, 3), (5, 4), (33, 32)])
def test_time_rule_sums_polynomials_exactly(steps: int, nodes: int) -> None:
    times, weights = time_rule(steps, nodes)
    assert len(times) == len(weights) == nodes
    assert float(weights.sum()) == pytest.approx(steps, rel=1e-13)
    assert bool((weights > 0).all())
    exact = torch.arange(steps, dtype=torch.float64) / steps
    for degree in range(2 * nodes):
        wanted = float((2 * exact - 1).pow(degree).sum())
        assert float(weights @ (2 * times - 1).pow(degree)) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize(("steps", "nodes"), [(6, None), (6, 6), (6, 9), (1, 32)])
def test_time_rule_can_be_the_whole_sum(steps: int, nodes: int | None) -> None:
    times, weights = time_rule(steps, nodes)
    assert torch.equal(times, torch.arange(steps, dtype=torch.float64) / steps)
    assert torch.equal(weights, torch.ones(steps, dtype=torch.float64))


def test_time_rule_refuses_no_nodes() -> None:
    with pytest.raises(InputError, match="nodes"):
        time_rule(200, 0)


def path_loss_at(
    fields: Tensor, couplings: Tensor, alpha: Tensor, d: Dynamics, nodes: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The path loss and its gradients with the time rule of `nodes`; J_ij and J_ji are one."""
    times, weights = time_rule(d.steps, nodes)
    fields, couplings = fields.clone().requires_grad_(), couplings.clone().requires_grad_()
    guide = Guide.at(alpha, times, d.steps)
    j_cos, j_sin = guide.cos @ couplings[:, None], guide.sin @ couplings[:, None]
    torque = guide.sin * (fields[:, :, None] + j_cos) - guide.cos * j_sin
    residual = guide.increment + d.mobility * d.time_step * torque
    loss = (residual.square() * weights[:, None]).sum() / (d.steps * fields.numel())
    by_fields, by_couplings = torch.autograd.grad(loss, (fields, couplings))
    return loss.detach(), by_fields, by_couplings + by_couplings.mT


def test_32_nodes_give_the_path_loss_of_the_steepest_paths() -> None:
    """|alpha| = 18.7, the steepest a target can ask for, and parameters of fitted size."""
    d, hidden, outputs, batch = Dynamics(), 64, 10, 8
    n = hidden + outputs
    alpha = 18.7 * random_tensor(1, batch, n, seed=3).sign()
    fields = 10 * random_tensor(1, batch, n, seed=4)
    couplings = random_couplings(1, hidden, outputs)
    loss, by = kernels.path_loss(PhaseModel(fields, couplings), alpha, d)
    full = (loss, by.fields, by.couplings + by.couplings.mT)
    for nodes in (None, 32):
        for found, exact in zip(
            path_loss_at(fields, couplings, alpha, d, nodes), full, strict=True
        ):
            assert (found - exact).norm() <= 1e-8 * exact.norm()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradient_vanishes_and_constraints_hold(shape: tuple[int, int, int, int]) -> None:
    data = teacher(*shape)
    solution = solve_path(data, DYNAMICS)
    _, inputs, hidden, outputs = shape
    n = hidden + outputs
    assert {name: tuple(tensor.shape) for name, tensor in solution.items()} == {
        "input_weights": (1, hidden, inputs),
        "biases": (1, n),
        "couplings": (1, n, n),
    }
    couplings = solution["couplings"][0]
    assert torch.equal(couplings, couplings.T)
    assert not bool(couplings[~layered_graph(hidden, outputs)].any())
    at_zero = gradient(zeros(solution), data, DYNAMICS).norm()
    assert gradient(solution, data, DYNAMICS).norm() <= 1e-8 * at_zero


def design(data: TeacherData, d: Dynamics) -> tuple[Tensor, Tensor]:
    """Rows of derivatives of every residual by every independent parameter; the right side."""
    hidden = data.coefficients.shape[1] - data.targets.shape[1]
    n, inputs = data.coefficients.shape[1], data.inputs.shape[1]
    scale = d.mobility * d.time_step
    pairs = layered_graph(hidden, n - hidden).triu().nonzero().tolist()
    rows, right = [], []
    for u, alpha in zip(data.inputs, data.coefficients, strict=True):
        theta = [torch.arccos(torch.tanh(alpha * k / d.steps)) for k in range(d.steps + 1)]
        for now, then in pairwise(theta):
            weights = torch.zeros(n, hidden, inputs, dtype=torch.float64)
            biases = torch.diag(scale * now.sin())
            couplings = torch.zeros(n, len(pairs), dtype=torch.float64)
            for i in range(hidden):
                weights[i, i] = scale * now[i].sin() * u
            for column, (i, j) in enumerate(pairs):
                couplings[i, column] = scale * (now[i] - now[j]).sin()
                couplings[j, column] = scale * (now[j] - now[i]).sin()
            rows.append(torch.cat([weights.flatten(1), biases, couplings], dim=1))
            right.append(now - then)
    return torch.cat(rows), torch.cat(right)


def flat(parameters: dict[str, Tensor], outputs: int) -> Tensor:
    weights, biases, couplings = (
        parameters[name][0] for name in ("input_weights", "biases", "couplings")
    )
    mask = layered_graph(len(weights), outputs).triu()
    return torch.cat([weights.flatten(), biases, couplings[mask]])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dead", [False, True])
def test_equals_a_dense_least_squares_solution(
    shape: tuple[int, int, int, int], dead: bool
) -> None:
    """Also with an input that is always zero and one that never varies, as the bias does."""
    data = teacher(*shape)
    if dead:
        data.inputs[:, 0] = 0.0
        data.inputs[:, 1] = -0.7
    solution = solve_path(data, DYNAMICS)
    matrix, right = design(data, DYNAMICS)
    dense = torch.linalg.lstsq(matrix, right[:, None], driver="gelsd").solution[:, 0]
    assert torch.allclose(flat(solution, shape[3]), dense, rtol=1e-6, atol=1e-6 * dense.abs().max())
    if dead:
        assert float(solution["input_weights"][..., 0].abs().max()) <= 1e-9 * dense.abs().max()


def test_any_change_raises_the_loss() -> None:
    data = teacher(60, 5, 4, 2)
    solution = solve_path(data, DYNAMICS)
    least = plain_loss(solution, data, DYNAMICS)
    for seed in range(20):
        moved = {
            name: tensor + 0.01 * random_tensor(*tensor.shape, seed=100 * seed + place)
            for place, (name, tensor) in enumerate(solution.items())
        }
        moved["couplings"] = solution["couplings"] + 0.01 * random_couplings(1, 4, 2, seed)
        assert plain_loss(moved, data, DYNAMICS) > least


def test_float32_data_give_float32_parameters_as_good() -> None:
    data = teacher(300, 6, 5, 3)
    narrow = dataclasses.replace(
        data, inputs=data.inputs.float(), coefficients=data.coefficients.float()
    )
    solution = solve_path(narrow, DYNAMICS)
    assert all(tensor.dtype == torch.float32 for tensor in solution.values())
    wide = {name: tensor.double() for name, tensor in solution.items()}
    at_zero = gradient(zeros(wide), data, DYNAMICS).norm()
    assert gradient(wide, data, DYNAMICS).norm() <= 1e-5 * at_zero


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_chunk_sizes_do_not_matter(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype) -> None:
    data = teacher(61, 5, 4, 2)
    data = dataclasses.replace(
        data, inputs=data.inputs.to(dtype), coefficients=data.coefficients.to(dtype)
    )
    whole = solve_path(data, DYNAMICS, ridge=1e-3)
    monkeypatch.setattr(exact_path, "BUDGET", {"cpu": 700})
    monkeypatch.setattr(exact_path, "GRAM_SAMPLES", 7)
    monkeypatch.setattr(exact_path, "GRAM_BLOCKS", 3)
    for name, tensor in solve_path(data, DYNAMICS, ridge=1e-3).items():
        assert torch.allclose(tensor, whole[name], rtol=1e-5, atol=1e-6)


def test_ridge_shrinks_the_input_weights_and_is_what_it_says() -> None:
    data, rho = teacher(60, 5, 4, 2), 0.2
    sizes = [
        float(solve_path(data, DYNAMICS, ridge=ridge)["input_weights"].norm())
        for ridge in (0.0, 0.01, rho, 10.0)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 0.5 * sizes[0]
    solution = solve_path(data, DYNAMICS, ridge=rho, nodes=None)
    matrix, right = design(data, DYNAMICS)
    blocks = matrix[:, :20].square().sum(0).view(4, 5).mean(1)  # a_i in units of (mu dt)^2
    ridge_rows = torch.diag((rho * blocks).sqrt().repeat_interleave(5))
    ridge_rows = torch.nn.functional.pad(ridge_rows, (0, matrix.shape[1] - 20))
    dense = torch.linalg.lstsq(
        torch.cat([matrix, ridge_rows]), torch.cat([right, right.new_zeros(20)])[:, None]
    ).solution[:, 0]
    assert torch.allclose(flat(solution, 2), dense, rtol=1e-6, atol=1e-8)


def test_one_time_step_leaves_the_couplings_undetermined_and_zero() -> None:
    """At k = 0 all phases agree, so that no coupling exerts a torque."""
    solution = solve_path(teacher(30, 3, 2, 1), Dynamics(steps=1))
    assert float(solution["couplings"].abs().max()) <= 1e-9
    assert all(bool(tensor.isfinite().all()) for tensor in solution.values())


def test_paths_that_stay_need_no_parameters() -> None:
    data = teacher(30, 3, 2, 1)
    data.coefficients.zero_()
    assert not any(bool(tensor.any()) for tensor in solve_path(data, DYNAMICS).values())


def test_progress_runs_from_zero_to_one() -> None:
    seen: list[float] = []
    solve_path(teacher(60, 5, 4, 2), DYNAMICS, on_progress=seen.append)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert seen == sorted(seen)


@pytest.mark.parametrize("ridge", [-1.0, float("nan")])
def test_a_ridge_below_zero_is_refused(ridge: float) -> None:
    with pytest.raises(InputError, match="ridge"):
        solve_path(teacher(10, 2, 1, 1), DYNAMICS, ridge=ridge)


def test_numbers_that_are_not_finite_are_refused() -> None:
    data = teacher(10, 2, 1, 1)
    data.inputs[3, 1] = float("nan")
    with pytest.raises(InputError, match="finite"):
        solve_path(data, DYNAMICS)
