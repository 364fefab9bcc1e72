"""Thermal noise: counter-based, common to compared models, and physically right."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from entrain import KuramotoNetwork
from entrain.physics import Noise
from entrain.physics.noise import philox
from networks import random_network, random_tensor


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        # Known-answer vectors published with Random123 for philox4x32-10.
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_published_vectors(counter, key, words) -> None:
    found = philox(tuple(torch.tensor([c]) for c in counter), key)
    assert tuple(int(word) for word in found) == words


def noise(samples: torch.Tensor, replicates: int = 3, seed: int = 7, temperature: float = 0.5):
    return Noise(seed, temperature, torch.arange(replicates), samples)


def test_increments_are_standard_normal_and_uncorrelated() -> None:
    field = noise(torch.arange(400), replicates=5).increments(2, 20)  # (4, 5, 400, 20)
    assert stats.kstest(field.flatten().numpy(), "norm").pvalue > 1e-3
    for axis in range(4):
        moved = field.movedim(axis, 0)
        product = (moved[:-1] * moved[1:]).flatten()
        assert abs(float(product.mean())) < 5 / math.sqrt(len(product))


def test_each_index_changes_the_noise_and_nothing_else_does() -> None:
    whole = noise(torch.arange(10)).increments(0, 6)
    assert torch.equal(whole[:, :, 4:7], noise(torch.arange(4, 7)).increments(0, 6))
    assert torch.equal(whole[:, :2], noise(torch.arange(10), replicates=2).increments(0, 6))
    assert torch.equal(whole[..., :4], noise(torch.arange(10)).increments(0, 4))
    for other in (
        noise(torch.arange(10), seed=8).increments(0, 6),
        noise(torch.arange(10), temperature=0.25).increments(0, 6),
        noise(torch.arange(10, 20)).increments(0, 6),
        noise(torch.arange(10)).increments(1, 6),
    ):
        assert not (whole == other).any()
    assert len(whole.flatten().unique()) == whole.numel()


def test_noise_does_not_depend_on_batch_or_chunk_size() -> None:
    network = random_network(steps=25)
    inputs = random_tensor(9, 6)
    whole = network.simulate(inputs, temperature=1.0, seed=3, restarts=4).final
    for size in (1, 2, 5):
        parts = [
            network.simulate(
                inputs[i : i + size], temperature=1.0, seed=3, restarts=4, first_sample=i
            ).final
            for i in range(0, 9, size)
        ]
        assert torch.allclose(torch.cat(parts, dim=1), whole, atol=1e-12, rtol=0)


def test_temperature_zero_equals_the_deterministic_rollout_exactly() -> None:
    network = random_network(steps=40, scale=3.0, observation_time=3.0)
    inputs = random_tensor(3, 6)
    deterministic = network.simulate(inputs, record=1).phases.detach()
    same = network.simulate(inputs, record=1, temperature=0.0, seed=5).phases
    assert torch.equal(same.squeeze(1), deterministic)
    copies = network.simulate(inputs, record=1, temperature=0.0, seed=5, restarts=4).phases
    for copy in copies.unbind(1):  # products of larger matrices may round otherwise
        torch.testing.assert_close(copy, deterministic, rtol=0, atol=1e-12)
    assert float(deterministic.abs().max()) > math.pi  # unwrapped


def test_noisy_phases_are_wrapped_to_the_principal_branch() -> None:
    network = random_network(steps=40, scale=3.0, observation_time=3.0)
    path = network.simulate(random_tensor(3, 6), record=1, temperature=2.0, seed=5).phases
    assert float(path.detach().abs().max()) <= math.pi


def test_phase_variance_of_an_uncoupled_oscillator_grows_as_2_mu_kT_t() -> None:
    network = KuramotoNetwork(1, 1, 1, mobility=0.8, observation_time=0.02, steps=20).double()
    kT, samples = 0.6, 40_000
    with torch.no_grad():
        run = network.simulate(torch.zeros(samples, 1).double(), temperature=kT, seed=1, record=1)
    spread = (run.phases - math.pi / 2).var(dim=(1, 2))
    expected = 2 * 0.8 * kT * torch.linspace(0, 0.02, 21, dtype=torch.float64)
    tolerance = 5 * math.sqrt(2 / (2 * samples))
    assert torch.allclose(spread[1:], expected[1:], rtol=tolerance, atol=0)


def test_a_long_rollout_of_two_coupled_oscillators_matches_the_boltzmann_density() -> None:
    b, c, j, kT = 0.8, -0.5, 1.1, 0.7
    network = KuramotoNetwork.from_arrays(
        np.zeros((1, 1)),
        np.array([b, c]),
        np.array([[0.0, j], [j, 0.0]]),
        observation_time=6.0,
        steps=1200,
    )
    with torch.no_grad():
        phases = network.simulate(torch.zeros(6000, 1), temperature=kT, seed=2).final

    def weight(y: float, x: float) -> float:
        return math.exp((b * math.cos(x) + c * math.cos(y) + j * math.cos(x - y)) / kT)

    def mean(function) -> float:
        limits = (-math.pi, math.pi, -math.pi, math.pi)
        total = integrate.dblquad(weight, *limits)[0]
        return integrate.dblquad(lambda y, x: function(x, y) * weight(y, x), *limits)[0] / total

    x, y = phases[:, 0], phases[:, 1]
    for found, function in (
        (x.cos(), lambda x, y: math.cos(x)),
        (y.cos(), lambda x, y: math.cos(y)),
        ((x - y).cos(), lambda x, y: math.cos(x - y)),
        ((2 * x).cos(), lambda x, y: math.cos(2 * x)),
    ):
        error = float(found.std()) / math.sqrt(len(found))
        assert float(found.mean()) == pytest.approx(mean(function), abs=4 * error + 0.01)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_an_invalid_seed_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        random_network().simulate(random_tensor(1, 6), temperature=1.0, seed=seed)
