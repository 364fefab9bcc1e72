"""Equilibrium propagation for any cost against the gradient through a long rollout."""

from __future__ import annotations

import pytest
import torch

import entrain
from entrain.rules import ep_gradient


def cost(phases: torch.Tensor) -> torch.Tensor:
    return (phases[..., 8:].cos() - 0.3).square().sum(-1)


def test_the_gradient_at_equilibrium_is_that_of_the_rollout() -> None:
    oscillators = entrain.Oscillators(10, inputs=4, seed=1, read=[8, 9]).double()
    inputs = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    value, gradient = ep_gradient(
        oscillators, cost, beta=1e-3, inputs=inputs, time=600, steps=2400, nudged_time=400
    )
    exact = cost(oscillators.simulate(inputs, time=600, steps=2400).final).mean()
    exact.backward()
    assert value.item() == pytest.approx(exact.item())
    for name, parameter in oscillators.named_parameters():
        assert parameter.grad is not None
        difference = (gradient[name] - parameter.grad).norm() / parameter.grad.norm()
        assert difference < 0.01, name


def test_a_system_without_an_energy_is_refused() -> None:
    one_way = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    with pytest.raises(entrain.InputError, match="must be symmetric"):
        ep_gradient(entrain.Oscillators(one_way), cost)
    lags = torch.full((3, 3), 0.2)
    with pytest.raises(entrain.InputError, match="which edge_lag has not"):
        ep_gradient(entrain.Oscillators(3, coupling=1.0, edge_lag=lags), cost)
    with pytest.raises(entrain.InputError, match="which lag has not"):
        ep_gradient(entrain.Oscillators(3, coupling=1.0, lag=0.2), cost)
