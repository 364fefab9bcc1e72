"""Both losses and their hand-written gradients, against autograd and finite differences."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from entrain import kernels
from entrain.physics import INITIAL_PHASE, Dynamics, PhaseModel, drift
from entrain.rules.two_stage_training import endpoint_loss
from networks import random_couplings, random_tensor

SHAPES = [(2, 4, 5, 3, 12), (1, 1, 1, 1, 1), (3, 2, 6, 1, 5)]  # runs, batch, hidden, outputs, K


def plain_path_loss(b: Tensor, j: Tensor, alpha: Tensor, d: Dynamics) -> Tensor:
    """L_path from phases arccos(tanh(s alpha)), term by term."""
    theta = [torch.arccos(torch.tanh(alpha * k / d.steps)) for k in range(d.steps + 1)]
    total = torch.zeros(len(b), dtype=b.dtype)
    for k in range(d.steps):
        velocity = drift(theta[k], PhaseModel(b, j), d.mobility)
        residual = theta[k + 1] - theta[k] - d.time_step * velocity
        total = total + residual.square().sum((1, 2))
    return total / (b.shape[1] * d.steps * b.shape[2])


def plain_endpoint_loss(b: Tensor, j: Tensor, targets: Tensor, d: Dynamics) -> Tensor:
    theta = torch.full_like(b, INITIAL_PHASE)
    for _ in range(d.steps):
        theta = theta + d.time_step * drift(theta, PhaseModel(b, j), d.mobility)
    return (theta[..., -targets.shape[-1] :].cos() - targets).square().mean((1, 2))


@pytest.fixture(params=SHAPES, ids=str)
def example(request):
    runs, batch, hidden, outputs, steps = request.param
    n = hidden + outputs
    return {
        "b": random_tensor(runs, batch, n, seed=1),
        "j": random_couplings(runs, hidden, outputs),
        "alpha": 2 * random_tensor(runs, batch, n, seed=2),
        "targets": torch.tanh(random_tensor(runs, batch, outputs, seed=3)),
        "d": Dynamics(1.2, 0.4, steps),
    }


def tied(gradient: Tensor) -> Tensor:
    """J_ij and J_ji are one number: its gradient adds both triangles."""
    return gradient + gradient.transpose(1, 2)


def gradients(loss, b: Tensor, j: Tensor) -> tuple[Tensor, Tensor]:
    b, j = b.clone().requires_grad_(), j.clone().requires_grad_()
    by_fields, by_couplings = torch.autograd.grad(loss(b, j).sum(), (b, j))
    return by_fields, tied(by_couplings)


@pytest.mark.parametrize("which", ["path", "endpoint"])
def test_gradients_equal_autograd_of_the_plain_definition(example, which: str) -> None:
    b, j, d = example["b"], example["j"], example["d"]
    aim = example["alpha" if which == "path" else "targets"]
    plain, ours = {
        "path": (plain_path_loss, kernels.path_loss),
        "endpoint": (plain_endpoint_loss, endpoint_loss),
    }[which]
    loss, by = ours(PhaseModel(b, j), aim, d)
    assert torch.allclose(loss, plain(b, j, aim, d), rtol=1e-9, atol=1e-15)
    wanted = gradients(lambda b, j: plain(b, j, aim, d), b, j)
    for found, exact in zip((by.fields, tied(by.couplings)), wanted, strict=True):
        assert (found - exact).abs().max() <= 1e-9 * max(float(exact.abs().max()), 1e-3)


@pytest.mark.parametrize("which", ["path", "endpoint"])
def test_gradients_equal_finite_differences(example, which: str) -> None:
    b, j, d = example["b"], example["j"], example["d"]
    aim = example["alpha" if which == "path" else "targets"]
    ours = {"path": kernels.path_loss, "endpoint": endpoint_loss}[which]
    _, by = ours(PhaseModel(b, j), aim, d)
    h = 1e-5
    at_field, at_pair = torch.zeros_like(b), torch.zeros_like(j)
    at_field[0, 0, 0] = at_pair[0, 0, -1] = at_pair[0, -1, 0] = h
    for nudge, gradient in (
        ((at_field, 0), by.fields[0, 0, 0]),
        ((0, at_pair), tied(by.couplings)[0, 0, -1]),
    ):
        up, _ = ours(PhaseModel(b + nudge[0], j + nudge[1]), aim, d)
        down, _ = ours(PhaseModel(b - nudge[0], j - nudge[1]), aim, d)
        slope = float((up - down)[0]) / (2 * h)
        assert slope == pytest.approx(float(gradient), rel=1e-5, abs=1e-9)


def test_runs_are_independent(example) -> None:
    b, j, alpha, d = (example[name] for name in ("b", "j", "alpha", "d"))
    loss, gradient = kernels.path_loss(PhaseModel(b, j), alpha, d)
    for run in range(len(b)):
        one = slice(run, run + 1)
        alone, by = kernels.path_loss(PhaseModel(b[one], j[one]), alpha[one], d)
        for ours, theirs in (
            (loss, alone),
            (gradient.fields, by.fields),
            (gradient.couplings, by.couplings),
        ):
            assert torch.allclose(ours[one], theirs, rtol=1e-12, atol=1e-18)
