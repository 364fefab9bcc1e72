"""Reservoirs, spiking neurons, the Langevin computer and the Ising machine do what physics says."""

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


def machines(peer: Peer, inputs: int = 16, classes: int = 3, runs: int = 2) -> Tensors:
    """Some machines side by side."""
    drawn = [peer.drawn(inputs, classes, torch.Generator().manual_seed(run)) for run in range(runs)]
    return {name: torch.stack([each[name] for each in drawn]) for name in drawn[0]}


def batch(runs: int = 2, count: int = 60) -> tuple[Tensor, Tensor]:
    """Images of 4 x 4 pixels of three classes: a bright line in the first three rows."""
    torch.manual_seed(0)
    labels = torch.arange(count) % 3
    images = 0.2 * torch.rand(runs, count, 4, 4)
    images[:, torch.arange(count), labels] += 0.7
    return images.flatten(2), torch.nn.functional.one_hot(labels, 3).float().expand(runs, -1, -1)


@pytest.mark.parametrize("peer", SMALL, ids=lambda peer: peer.name)
def test_each_system_learns_lines(peer: Peer) -> None:
    numbers, (images, target) = machines(peer), batch()
    first = {name: tensor.clone() for name, tensor in numbers.items()}
    moments = {name: torch.zeros_like(tensor) for name, tensor in numbers.items()}
    for _ in range(100):
        _, gradients = peer.gradients(numbers, images, target)
        assert gradients.keys() == numbers.keys() - set(peer.fixed)
        for name, gradient in gradients.items():
            step = peer.rate * peer.rates.get(name, 1.0)
            if peer.optimiser == "adam":
                moments[name].lerp_(gradient.square(), 0.1)
                gradient = gradient / (moments[name].sqrt() + 1e-6)
            numbers[name] = numbers[name] - step * gradient
    right = peer.scores(numbers, images).argmax(-1) == target.argmax(-1)
    assert right.float().mean() > 0.9
    for name in peer.fixed:
        assert torch.equal(numbers[name], first[name])


def test_a_reservoir_is_fixed_and_forgets_its_start() -> None:
    peer = Reservoirs(units=100)
    assert set(peer.fixed) == {"A", "W", "b"}
    numbers = machines(peer, inputs=28 * 28)
    assert peer.adaptive(numbers) == 3 * (4 * 100 + 1)
    eigenvalues = torch.linalg.eigvals(numbers["A"]).abs().amax(-1)
    assert torch.allclose(eigenvalues, torch.full_like(eigenvalues, peer.radius), rtol=0.2)
    # What stands in the first of 28 lines hardly matters at the end of that scan.
    image = torch.rand(2, 1, 28, 28)
    other = image.clone()
    other[:, :, 0] = torch.rand(2, 1, 28)
    far = (peer.states(numbers, image.flatten(2)) - peer.states(numbers, other.flatten(2))).abs()
    assert far[:, 0].max() < 0.1 * far[:, 1].max()  # first and last line of a scan


@pytest.mark.parametrize("current", [1.2, 1.5, 3.0])
def test_a_neuron_fires_at_the_time_of_the_closed_form(current: float) -> None:
    """tau dv/dt = I - v reaches theta at tau ln(I / (I - theta)), and from v = 0 again."""
    peer = Spiking(steps=2_000, observation_time=2.0, tau=0.65)
    spikes, _ = peer.spikes(torch.full((peer.steps, 1), current).double())
    interval = peer.observation_time / peer.steps
    times = (spikes[:, 0].nonzero()[:, 0] + 1).double() * interval
    period = peer.tau * math.log(current / (current - peer.threshold))
    assert len(times) == int(peer.observation_time / period)
    expected = period * torch.arange(1, len(times) + 1)
    # A spike stands at the end of its interval: each may add one to the delay.
    late = (times - expected) / interval
    assert torch.all(late > -0.01)
    assert torch.all(late <= torch.arange(1, len(times) + 1))


def test_a_neuron_under_its_threshold_is_silent() -> None:
    peer = Spiking(steps=1000)
    spikes, left = peer.spikes(torch.full((peer.steps, 1), 0.99).double())
    assert spikes.sum() == 0
    assert float(left) == pytest.approx(0.99 * (1.0 - math.exp(-peer.observation_time / peer.tau)))


def test_a_pixel_spikes_once_and_sooner_the_brighter() -> None:
    spikes = input_spikes(torch.tensor([1.0, 0.62, 0.28, 0.0]), 10)
    assert spikes.sum(0).tolist() == [1.0, 1.0, 1.0, 0.0]
    assert spikes.argmax(0)[:3].tolist() == [0, 3, 7]


def test_the_variance_in_a_quadratic_well_is_that_of_equipartition() -> None:
    """In V = J2 x^2 the stiffness is k = 2 J2, and the variance is kT / k."""
    torch.manual_seed(0)
    peer = LangevinComputer(quartic=0.0, quadratic=1.5, temperature=0.7, observation_time=3.0)
    field, bonds = torch.full((1, 10_000, 2), 0.6), torch.zeros(1, 2, 2)
    x = peer.settled(field, bonds)
    stiffness = 2.0 * peer.quadratic
    assert float(x.mean()) == pytest.approx(0.6 / stiffness, abs=0.02)
    # Euler's own factor 1 / (1 - k dt / 2) is 1.015 here.
    assert float(x.var()) == pytest.approx(peer.temperature / stiffness, rel=0.04)


def test_the_force_is_minus_the_slope_of_the_potential() -> None:
    peer = LangevinComputer(hidden=4)
    numbers = {name: torch.randn_like(t).double() for name, t in machines(peer).items()}
    bonds = peer.bonds(numbers)
    assert torch.equal(bonds, bonds.mT)
    x, field = torch.randn(2, 5, 7).double().requires_grad_(), torch.randn(2, 5, 7).double()
    (slope,) = torch.autograd.grad(peer.potential(x, field, bonds).sum(), x)
    assert torch.allclose(peer.force(x, field, bonds), -slope)


def test_the_coarse_step_of_training_gives_the_answers_of_the_fine_one() -> None:
    """Without noise, dt = 0.01 and the cited 0.001 differ by the first order of dt."""
    torch.manual_seed(0)
    peer = LangevinComputer(hidden=8, temperature=0.0)
    field = 5.0 * torch.randn(1, 50, 11)
    bonds = torch.randn(1, 11, 11)
    bonds = bonds + bonds.mT

    def ends(step: float) -> Tensor:
        return replace(peer, step=step).settled(field, bonds)

    fine = ends(0.0005)
    errors = [float((ends(step) - fine).abs().max()) for step in (0.01, 0.001)]
    assert errors[0] < 0.2
    assert errors[1] < errors[0] / 7.0


def test_the_annealer_finds_the_ground_state_of_a_frustrated_ring() -> None:
    """Ten spins in a ring, an odd number of whose bonds are negative: not all can be satisfied."""
    torch.manual_seed(1)
    half = 5
    strengths = 0.5 + torch.rand(2 * half)
    signs = torch.tensor([1.0, -1.0] * half)
    assert signs.prod() < 0
    weights = torch.zeros(1, half, half)
    for site in range(half):  # y[site] stands between h[site] and the next
        weights[0, site, site] += strengths[2 * site] * signs[2 * site]
        weights[0, site, (site + 1) % half] += strengths[2 * site + 1] * signs[2 * site + 1]
    spins = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=2 * half)))
    none = torch.zeros(1, len(spins), half)
    ground = laydevant.energy(weights, none, none, spins[None, :, :half], spins[None, :, half:])
    # Satisfied are all bonds but the weakest.
    assert float(ground.min()) == pytest.approx(float(2.0 * strengths.min() - strengths.sum()))
    empty = torch.zeros(1, 20, half)
    temperatures = laydevant.falling(3.0, 0.05, 200)
    h, y = laydevant.annealed(weights, empty, empty, empty, empty, temperatures)
    found = laydevant.energy(weights, empty, empty, h, y)
    assert float(found.min()) == pytest.approx(float(ground.min()), abs=1e-5)
    assert (found < ground.min() + 1e-4).float().mean() > 0.5


def test_the_heat_bath_has_the_boltzmann_distribution() -> None:
    """Two coupled spins under fields at a constant temperature, against enumeration."""
    torch.manual_seed(0)
    weights = torch.full((1, 1, 1), 0.8)
    on_h, on_y = torch.full((1, 40_000, 1), 0.3), torch.full((1, 40_000, 1), -0.5)
    zero = torch.zeros_like(on_h)
    h, y = laydevant.annealed(weights, on_h, on_y, zero, zero, [1.5] * 30, quench=False)
    states = list(itertools.product((-1.0, 1.0), repeat=2))
    chances = torch.tensor([math.exp((0.8 * a * b + 0.3 * a - 0.5 * b) / 1.5) for a, b in states])
    counted = torch.tensor([float(((h == a) & (y == b)).float().mean()) for a, b in states])
    assert torch.allclose(counted, chances / chances.sum(), atol=0.01)
