"""The second harmonic of the coupling function, and a delay: formulas, known physics, gradients."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from entrain import InputError, kernels
from entrain.kernels import reference
from entrain.kernels.autograd import differentiable_rollout
from entrain.physics import Dynamics, Noise, PhaseModel, drift, energy
from networks import TERMS, random_model, random_tensor

DYNAMICS = Dynamics(1.3, 0.5, 10)
NOISE = Noise(3, 0.4, torch.arange(2), torch.arange(3))


def pairwise_drift(here: Tensor, there: Tensor, model: PhaseModel, mobility: float) -> Tensor:
    """As the documentation has it: an N x N array for every sample."""
    phi = here[..., :, None] - there[..., None, :]
    a, c, d = (
        values[:, None, None, None]
        for values in (model.lag, model.harmonic[:, 0], model.harmonic[:, 1])
    )
    g = (phi + a).sin() + c * (2 * phi).sin() + d * (2 * phi).cos()
    bracket = model.fields * here.sin() + (model.couplings[:, None] * g).sum(-1)
    return model.frequencies - mobility * (bracket + 2 * model.injection * (2 * here).sin())


def pairwise_rollout(model: PhaseModel, dynamics: Dynamics, late: int = 0) -> Tensor:
    path = [model.starts()]
    for k in range(dynamics.steps):
        seen = path[max(0, k - late)]
        velocity = pairwise_drift(path[k], seen, model, dynamics.mobility)
        path.append(path[k] + dynamics.time_step * velocity)
    return path[-1]


def differentiated(rollout: Callable[[PhaseModel], Tensor], model: PhaseModel) -> dict[str, Tensor]:
    """The phases and, by autograd, every gradient of a weighted sum of them."""
    leaves = model.map(lambda tensor: tensor.clone().requires_grad_())
    phases, tensors = rollout(leaves), leaves.tensors()
    weights = random_tensor(*phases.shape, seed=8)
    slopes = torch.autograd.grad(phases, list(tensors.values()), weights)
    return {"phases": phases.detach(), **dict(zip(tensors, slopes, strict=True))}


def symmetric(model: PhaseModel) -> PhaseModel:
    return replace(model, couplings=model.couplings + model.couplings.mT)


def alike(n: int, batch: int = 1, **terms: Tensor | float) -> PhaseModel:
    """All-to-all couplings of 1, no fields, all phases at 1; float64."""
    ones = torch.ones(1, n, n, dtype=torch.float64)
    return PhaseModel(
        torch.zeros(1, batch, n, dtype=torch.float64),
        ones - torch.eye(n, dtype=torch.float64),
        start=torch.ones(1, 1, n, dtype=torch.float64),
        **terms,
    )


def pair(apart: float, c: float) -> float:
    """How far apart two oscillators end that begin so, coupled by sin(phi) + c sin(2 phi)."""
    harmonic = torch.tensor([[c, 0.0]], dtype=torch.float64)
    start = torch.tensor([[[apart, 0.0]]], dtype=torch.float64)
    path = kernels.rollout(replace(alike(2, harmonic=harmonic), start=start), Dynamics(1, 30, 3000))
    return float(path[0, 0, 0] - path[0, 0, 1])


# The second harmonic


def test_the_drift_is_that_of_all_pairs() -> None:
    model, phases = random_model(2, 3, 5, TERMS), random_tensor(2, 3, 5, seed=1)
    wanted = pairwise_drift(phases, phases, model, 1.3)
    torch.testing.assert_close(drift(phases, model, 1.3), wanted)


def test_phases_and_every_gradient_are_those_of_all_pairs() -> None:
    model = random_model(2, 3, 5, TERMS)
    wanted = differentiated(lambda each: pairwise_rollout(each, DYNAMICS), model)
    phases, pullback = kernels.rollout_with_pullback(model, DYNAMICS)
    found = {"phases": phases, **pullback(random_tensor(*phases.shape, seed=8)).tensors()}
    assert found.keys() == wanted.keys() >= {"harmonic", "lag", "couplings"}
    for name, tensor in found.items():
        torch.testing.assert_close(tensor, wanted[name], msg=name)


@pytest.mark.parametrize("nodes", [None, 4])
def test_the_path_loss_has_the_gradients_of_autograd(nodes: int | None) -> None:
    model = random_model(2, 3, 5, TERMS[:3] + TERMS[4:])
    leaves = model.map(lambda tensor: tensor.clone().requires_grad_())
    coefficients = random_tensor(2, 3, 5, seed=9)
    loss, found = reference.path_loss(leaves, coefficients, DYNAMICS, nodes=nodes)
    tensors = leaves.tensors()
    wanted = torch.autograd.grad(loss.sum(), list(tensors.values()))
    for name, slope in zip(tensors, wanted, strict=True):
        torch.testing.assert_close(found.tensors()[name].detach(), slope, msg=name)


def test_reference_computes_only_the_path_loss_in_single_precision() -> None:
    model = random_model(1, 3, 5, ["harmonic"]).map(Tensor.float)
    backend = kernels.select_backend(model)
    assert backend is not reference
    assert not hasattr(backend, "path_loss")
    kernels.path_loss(model, torch.ones(1, 3, 5), DYNAMICS)


@pytest.mark.parametrize("c", [-0.7, 0.3, 2.0])
def test_without_an_even_part_the_energy_never_rises_and_the_flow_is_its_gradient(c: float) -> None:
    model = symmetric(random_model(1, 4, 7, ["frequencies", "injection", "start"]))
    flow = replace(model, harmonic=torch.tensor([[c, 0.0]], dtype=torch.float64))
    path = kernels.rollout(flow, Dynamics(1.3, 2.0, 4000), record=True)
    assert float(energy(path, flow, 1.3).diff(dim=0).max()) <= 0.0
    phases = path[100].requires_grad_()
    (slope,) = torch.autograd.grad(energy(phases, flow, 1.3).sum(), phases)
    torch.testing.assert_close(drift(phases, flow, 1.3), -1.3 * slope)


def test_with_an_even_part_the_energy_may_rise() -> None:
    model = symmetric(random_model(1, 4, 7, ["start"]))
    flow = replace(model, harmonic=torch.tensor([[0.0, 0.5]], dtype=torch.float64))
    path = kernels.rollout(flow, Dynamics(1.3, 2.0, 4000), record=True)
    assert float(energy(path, flow, 1.3).diff(dim=0).max()) > 1e-4


def test_the_even_part_rotates_a_synchronised_network_at_the_known_rate() -> None:
    """All phases alike: d theta / dt = -mu sum_j J d, whatever c."""
    harmonic = torch.tensor([[0.7, 0.3]], dtype=torch.float64)
    phases = kernels.rollout(alike(5, harmonic=harmonic), Dynamics(1.5, 2.0, 50))
    torch.testing.assert_close(phases, torch.full_like(phases, 1.0 - 1.5 * 4 * 0.3 * 2.0))


def test_two_oscillators_stay_in_antiphase_from_half_a_second_harmonic_on() -> None:
    """The slope of sin(phi) + c sin(2 phi) at pi is 2 c - 1."""
    assert pair(math.pi - 0.1, 0.6) == pytest.approx(math.pi, abs=1e-6)
    assert pair(math.pi - 0.1, 0.4) == pytest.approx(0.0, abs=1e-6)


def test_a_harmonic_of_wrong_shape_is_refused() -> None:
    model = random_model(2, 3, 5, ["harmonic"])
    with pytest.raises(InputError, match="harmonic must be 2 x 2; got shape"):
        kernels.rollout(replace(model, harmonic=model.harmonic[:, :1]), DYNAMICS)


# The delay


@pytest.mark.parametrize("noise", [None, NOISE], ids=["", "noisy"])
def test_a_delay_of_zero_changes_no_bit(noise: Noise | None) -> None:
    model = random_model(2, 3, 5, TERMS)
    phases, pullback = kernels.rollout_with_pullback(model, DYNAMICS, noise=noise)
    late = replace(model, delay=0.0)
    again, other = kernels.rollout_with_pullback(late, DYNAMICS, noise=noise)
    assert torch.equal(again, phases)
    gradient = random_tensor(*phases.shape, seed=8)
    found, wanted = other(gradient).tensors(), pullback(gradient).tensors()
    assert found.keys() == wanted.keys()
    for name, tensor in found.items():
        assert tensor.shape == wanted[name].shape
        torch.testing.assert_close(tensor, wanted[name], msg=name)
    assert kernels.select_backend(late.map(Tensor.float)) is not reference


def test_a_delay_below_half_a_step_is_refused() -> None:
    late = replace(random_model(2, 3, 5), delay=0.02)
    with pytest.raises(InputError, match=r"the delay 0.02 is below half the time step"):
        kernels.rollout(late, DYNAMICS)


def test_a_delay_of_one_step_equals_two_lines_of_torch() -> None:
    flow, dt = symmetric(random_model(1, 3, 4)), 0.1
    before = now = flow.starts()
    for _ in range(6):
        apart = now[..., :, None] - before[..., None, :]
        torque = flow.fields * now.sin() + (flow.couplings[:, None] * apart.sin()).sum(-1)
        before, now = now, now - dt * torque
    found = kernels.rollout(replace(flow, delay=dt), Dynamics(1.0, 0.6, 6))
    torch.testing.assert_close(found, now)


@pytest.mark.parametrize("late", [1, 3, 10, 50])
def test_a_delayed_rollout_and_every_gradient_are_those_of_all_pairs(late: int) -> None:
    model = replace(random_model(2, 3, 5, TERMS), delay=late * DYNAMICS.time_step)
    wanted = differentiated(lambda each: pairwise_rollout(each, DYNAMICS, late), model)
    found = differentiated(lambda each: differentiable_rollout(each, DYNAMICS), model)
    phases, pullback = kernels.rollout_with_pullback(model, DYNAMICS)
    by_hand = {"phases": phases, **pullback(random_tensor(*phases.shape, seed=8)).tensors()}
    assert found.keys() == by_hand.keys() == wanted.keys()
    for name, tensor in wanted.items():
        torch.testing.assert_close(found[name], tensor, msg=name)
        torch.testing.assert_close(by_hand[name], tensor, msg=name)


def test_recorded_noisy_and_delayed_gradients_equal_finite_differences() -> None:
    model, step = replace(random_model(2, 3, 4, TERMS, size=0.5), delay=0.15), 1e-6

    def rolled(each: PhaseModel) -> Tensor:
        return kernels.rollout(each, DYNAMICS, noise=NOISE, record=True)

    phases, pullback = kernels.rollout_with_pullback(model, DYNAMICS, noise=NOISE, record=True)
    assert torch.equal(phases, rolled(model))
    weights = random_tensor(*phases.shape, seed=8)
    for name, tensor in pullback(weights).tensors().items():
        direction = random_tensor(*tensor.shape, seed=4)
        ends = [
            rolled(replace(model, **{name: getattr(model, name) + sign * step * direction}))
            for sign in (1, -1)
        ]
        moved = ends[0] - ends[1]
        slope = float((weights * torch.atan2(moved.sin(), moved.cos())).sum()) / (2 * step)
        assert float((tensor * direction).sum()) == pytest.approx(slope, rel=1e-6, abs=1e-7), name


def test_delayed_oscillators_rotate_together_at_the_known_frequency() -> None:
    """All alike: Omega = w - mu (n - 1) J sin(Omega tau)."""
    n, w, tau = 4, 2.0, 0.5
    frequencies = torch.full((1, 1, n), w, dtype=torch.float64)
    flow = alike(n, frequencies=frequencies, delay=tau)
    path = kernels.rollout(flow, Dynamics(0.4, 30.0, 6000), record=True)
    found = float(path[-1, 0, 0, 0] - path[-2, 0, 0, 0]) / 0.005
    assert found == pytest.approx(w - 0.4 * (n - 1) * math.sin(found * tau), abs=1e-9)
    assert found < 0.7 * w


def test_delays_select_the_reference_with_a_warning() -> None:
    model = replace(random_model(1, 2, 4).map(Tensor.float), delay=0.1)
    kernels._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="delay of the couplings is computed by PyTorch"):
        assert kernels.select_backend(model) is reference
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernels.rollout(model, DYNAMICS)  # once is enough
    with pytest.raises(InputError, match="path loss does not support a delay"):
        kernels.path_loss(model, torch.ones(1, 2, 4), DYNAMICS)
    for wrong in (-0.1, math.nan):
        with pytest.raises(InputError, match="delay must be finite and at least 0"):
            kernels.rollout(replace(model, delay=wrong), DYNAMICS)
