"""Physics of reservoirs, spiking neurons, the Langevin computer and the Ising machine."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers import laydevant
from entrain_paper.peers.interface import Peer
from entrain_paper.peers.laydevant import IsingMachine
from entrain_paper.peers.mresn import Reservoirs
from entrain_paper.peers.snn import Spiking, input_spikes
from entrain_paper.peers.whitelam import LangevinComputer
from peer_draws import draws_for

SMALL: list[Peer] = [
    Reservoirs(units=20, rate=3e-2),
    Spiking(hidden=(30,)),
    LangevinComputer(hidden=8, step=0.02, rate=2e-3, output_range=4.0),
    IsingMachine(hidden=12, rate=0.2),
    IsingMachine(
        name="laydevant-annealed",
        hidden=12,
        rate=0.2,
        reads=2,
        free_steps=8,
        nudged_steps=4,
        annealed=True,
    ),
]


def initial_parameters(peer: Peer, inputs: int = 16, classes: int = 3, runs: int = 2) -> Tensors:
    """Initial parameters of several runs side by side."""
    initial = [
        peer.init_parameters(inputs, classes, torch.Generator().manual_seed(run))
        for run in range(runs)
    ]
    return {name: torch.stack([run[name] for run in initial]) for name in initial[0]}


def batch(runs: int = 2, count: int = 60) -> tuple[Tensor, Tensor]:
    """Images of 4 x 4 pixels: a bright line in one of the first three rows is the class."""
    torch.manual_seed(0)
    labels = torch.arange(count) % 3
    images = 0.2 * torch.rand(runs, count, 4, 4)
    images[:, torch.arange(count), labels] += 0.7
    return images.flatten(2), torch.nn.functional.one_hot(labels, 3).float().expand(runs, -1, -1)


@pytest.mark.parametrize("peer", SMALL, ids=lambda peer: peer.name)
def test_system_learns_line_images(peer: Peer) -> None:
    parameters, (images, target) = initial_parameters(peer), batch()
    draws = draws_for(images)
    initial = {name: tensor.clone() for name, tensor in parameters.items()}
    moments = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}
    for _ in range(100):
        _, gradients = peer.gradients(parameters, images, target, draws)
        assert gradients.keys() == parameters.keys() - set(peer.fixed)
        for name, gradient in gradients.items():
            step = peer.rate * peer.rates.get(name, 1.0)
            if peer.optimiser == "adam":
                moments[name].lerp_(gradient.square(), 0.1)
                gradient = gradient / (moments[name].sqrt() + 1e-6)
            parameters[name] = parameters[name] - step * gradient
    correct = peer.scores(parameters, images, draws).argmax(-1) == target.argmax(-1)
    assert correct.float().mean() > 0.9
    for name in peer.fixed:
        assert torch.equal(parameters[name], initial[name])


def test_reservoir_is_untrained_and_has_fading_memory() -> None:
    peer = Reservoirs(units=100)
    assert set(peer.fixed) == {"A", "W", "b"}
    parameters = initial_parameters(peer, inputs=28 * 28)
    assert peer.parameter_count(parameters) == 3 * (4 * 100 + 1)
    eigenvalues = torch.linalg.eigvals(parameters["A"]).abs().amax(-1)
    assert torch.allclose(eigenvalues, torch.full_like(eigenvalues, peer.radius), rtol=0.2)
    # The first of 28 lines hardly changes the state at the end of its scan.
    image = torch.rand(2, 1, 28, 28)
    other = image.clone()
    other[:, :, 0] = torch.rand(2, 1, 28)
    states = [peer.states(parameters, pixels.flatten(2)) for pixels in (image, other)]
    difference = (states[0] - states[1]).abs()
    assert difference[:, 0].max() < 0.1 * difference[:, 1].max()  # first and last line of a scan


@pytest.mark.parametrize("current", [1.2, 1.5, 3.0])
def test_spike_times_match_the_closed_form(current: float) -> None:
    """tau dv/dt = I - v reaches theta from 0 after tau ln(I / (I - theta))."""
    peer = Spiking(steps=2_000, observation_time=2.0, tau=0.65)
    spikes, _ = peer.spikes(torch.full((peer.steps, 1), current).double())
    interval = peer.observation_time / peer.steps
    times = (spikes[:, 0].nonzero()[:, 0] + 1).double() * interval
    period = peer.tau * math.log(current / (current - peer.threshold))
    assert len(times) == int(peer.observation_time / period)
    expected = period * torch.arange(1, len(times) + 1)
    # A spike is recorded at the end of its interval, so that each may add one to the delay.
    delay = (times - expected) / interval
    assert torch.all(delay > -0.01)
    assert torch.all(delay <= torch.arange(1, len(times) + 1))


def test_neuron_below_threshold_does_not_spike() -> None:
    peer = Spiking(steps=1000)
    spikes, membrane = peer.spikes(torch.full((peer.steps, 1), 0.99).double())
    assert spikes.sum() == 0
    assert float(membrane) == pytest.approx(
        0.99 * (1.0 - math.exp(-peer.observation_time / peer.tau))
    )


def test_pixels_spike_once_and_brighter_ones_earlier() -> None:
    spikes = input_spikes(torch.tensor([1.0, 0.62, 0.28, 0.0]), 10)
    assert spikes.sum(0).tolist() == [1.0, 1.0, 1.0, 0.0]
    assert spikes.argmax(0)[:3].tolist() == [0, 3, 7]


def test_variance_in_a_quadratic_well_follows_equipartition() -> None:
    """V = J2 x^2 has the stiffness k = 2 J2 and the variance kT / k."""
    peer = LangevinComputer(quartic=0.0, quadratic=1.5, temperature=0.7, observation_time=3.0)
    field, bonds = torch.full((1, 10_000, 2), 0.6), torch.zeros(1, 2, 2)
    x = peer.final_state(field, bonds, draws_for(field))
    stiffness = 2.0 * peer.quadratic
    assert float(x.mean()) == pytest.approx(0.6 / stiffness, abs=0.02)
    # Euler's method multiplies it by 1 / (1 - k dt / 2), 1.015 here.
    assert float(x.var()) == pytest.approx(peer.temperature / stiffness, rel=0.04)


def test_force_is_minus_the_potential_gradient() -> None:
    peer = LangevinComputer(hidden=4)
    parameters = {
        name: torch.randn_like(t).double() for name, t in initial_parameters(peer).items()
    }
    bonds = peer.bonds(parameters)
    assert torch.equal(bonds, bonds.mT)
    x, field = torch.randn(2, 5, 7).double().requires_grad_(), torch.randn(2, 5, 7).double()
    (slope,) = torch.autograd.grad(peer.potential(x, field, bonds).sum(), x)
    assert torch.allclose(peer.force(x, field, bonds), -slope)


def test_time_step_error_is_first_order() -> None:
    """Without noise, the errors at dt = 0.01 and at the cited 0.001 are proportional to dt."""
    torch.manual_seed(0)
    peer = LangevinComputer(hidden=8, temperature=0.0)
    field = 5.0 * torch.randn(1, 50, 11)
    bonds = torch.randn(1, 11, 11)
    bonds = bonds + bonds.mT

    def ends(step: float) -> Tensor:
        return replace(peer, step=step).final_state(field, bonds, draws_for(field))

    fine = ends(0.0005)
    errors = [float((ends(step) - fine).abs().max()) for step in (0.01, 0.001)]
    assert errors[0] < 0.2
    assert errors[1] < errors[0] / 7.0


def test_annealing_finds_the_ground_state_of_a_frustrated_ring() -> None:
    """Ten spins in a ring with an odd number of negative bonds, which exclude each other."""
    torch.manual_seed(1)
    half = 5
    strengths = 0.5 + torch.rand(2 * half)
    signs = torch.tensor([1.0, -1.0] * half)
    assert signs.prod() < 0
    weights = torch.zeros(1, half, half)
    for site in range(half):  # y[site] is between h[site] and the next
        weights[0, site, site] += strengths[2 * site] * signs[2 * site]
        weights[0, site, (site + 1) % half] += strengths[2 * site + 1] * signs[2 * site + 1]
    spins = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=2 * half)))
    zero = torch.zeros(1, len(spins), half)
    ground = laydevant.energy(weights, zero, zero, spins[None, :, :half], spins[None, :, half:])
    # All bonds but the weakest are satisfied.
    assert float(ground.min()) == pytest.approx(float(2.0 * strengths.min() - strengths.sum()))
    start = torch.zeros(1, 20, half)
    temperatures = laydevant.cooling_schedule(3.0, 0.05, 200)
    h, y = laydevant.anneal(weights, start, start, start, start, temperatures, draws_for(start))
    energies = laydevant.energy(weights, start, start, h, y)
    assert float(energies.min()) == pytest.approx(float(ground.min()), abs=1e-5)
    assert (energies < ground.min() + 1e-4).float().mean() > 0.5


def test_heat_bath_samples_the_boltzmann_distribution() -> None:
    """Two coupled spins under fields at a constant temperature, against enumeration."""
    weights = torch.full((1, 1, 1), 0.8)
    on_h, on_y = torch.full((1, 40_000, 1), 0.3), torch.full((1, 40_000, 1), -0.5)
    zero = torch.zeros_like(on_h)
    draws = draws_for(on_h)
    h, y = laydevant.anneal(weights, on_h, on_y, zero, zero, [1.5] * 30, draws, quench=False)
    states = list(itertools.product((-1.0, 1.0), repeat=2))
    chances = torch.tensor([math.exp((0.8 * a * b + 0.3 * a - 0.5 * b) / 1.5) for a, b in states])
    counted = torch.tensor([float(((h == a) & (y == b)).float().mean()) for a, b in states])
    assert torch.allclose(counted, chances / chances.sum(), atol=0.01)
