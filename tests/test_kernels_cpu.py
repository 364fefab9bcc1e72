"""The compiled CPU kernels against the reference in float64."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from conftest import threads
from entrain.kernels import reference
from entrain.physics import Dynamics, Noise
from networks import random_couplings, random_tensor

cpu = pytest.importorskip("entrain.kernels.cpu")
tiles = pytest.importorskip("entrain.kernels.tiles")

# runs, batch, hidden, outputs, K, observation time, size of the parameters, tolerance
EXAMPLES = {
    "one sample": (1, 1, 5, 3, 12, 0.4, 1.0, 1e-5),
    "two oscillators": (1, 8, 1, 1, 7, 0.4, 1.0, 1e-5),
    "three oscillators, one step": (2, 3, 2, 1, 1, 0.4, 1.0, 1e-5),
    "one output": (1, 9, 12, 1, 33, 0.4, 1.0, 1e-5),
    "odd N": (3, 11, 13, 4, 33, 0.3, 1.0, 1e-5),
    "the usual size": (1, 19, 64, 10, 50, 0.2, 1.0, 1e-5),
    "128 hidden": (2, 16, 128, 10, 40, 0.2, 0.5, 1e-5),
    "many tiles": (1, 8 * 70 + 3, 4, 2, 5, 0.4, 1.0, 1e-5),
    "several radians": (1, 8, 12, 3, 100, 1.0, 1.5, 1e-4),
    "large increments": (1, 5, 12, 3, 10, 1.0, 1.5, 1e-4),
    "every increment large": (1, 10, 3, 2, 3, 3.0, 2.0, 1e-4),
}


@pytest.fixture(params=EXAMPLES.values(), ids=list(EXAMPLES))
def example(request):
    runs, batch, hidden, outputs, steps, time, size, tolerance = request.param
    n = hidden + outputs
    return {
        "b": (size * random_tensor(runs, batch, n, seed=1)).float(),
        "j": (size * random_couplings(runs, hidden, outputs)).float(),
        "g": random_tensor(runs, batch, n, seed=2).float(),
        "d": Dynamics(1.3, time, steps),
        "tolerance": tolerance,
    }


def error(found: Tensor, exact: Tensor) -> float:
    """The largest error relative to the largest number."""
    assert found.shape == exact.shape
    assert found.dtype == torch.float32
    return float((found - exact).abs().max() / exact.abs().max().clamp_min(1e-30))


def tied(gradient: Tensor) -> Tensor:
    return gradient + gradient.transpose(1, 2)


def training_step(b: Tensor, j: Tensor, g: Tensor, d: Dynamics, kernel=cpu) -> list[Tensor]:
    phases, pullback = kernel.rollout_with_pullback(b, j, d)
    by_fields, by_couplings = pullback(g)
    return [phases, by_fields, tied(by_couplings)]


def noisy(example, kernel=cpu, *, double: bool = False, **options: bool) -> Tensor:
    b, j = example["b"], example["j"]
    if double:
        b, j = b.double(), j.double()
    noise = Noise(7, 0.2, torch.tensor([3, 0]), torch.arange(100, 100 + b.shape[1]))
    return kernel.noisy_rollout(b, j, example["d"], noise, **options)


def test_they_agree_with_the_reference_on_its_tiny_example() -> None:
    assert cpu.warm(lambda message: None)


def test_phases_and_gradients(example) -> None:
    b, j, g, d = (example[name] for name in "bjgd")
    found = training_step(b, j, g, d)
    exact = training_step(b.double(), j.double(), g.double(), d, reference)
    for ours, theirs in zip(found, exact, strict=True):
        assert error(ours, theirs) < example["tolerance"]
    assert torch.equal(cpu.rollout(b, j, d), found[0])


def test_recorded_paths(example) -> None:
    b, j, d = (example[name] for name in "bjd")
    path = cpu.rollout(b, j, d, record=True)
    exact = reference.rollout(b.double(), j.double(), d, record=True)
    assert error(path, exact) < example["tolerance"]
    assert torch.equal(path[-1], cpu.rollout(b, j, d))


def test_noisy_rollouts(example) -> None:
    path = noisy(example, record=True)
    exact = noisy(example, reference, double=True, record=True)
    assert path.shape == exact.shape
    assert path.dtype == torch.float32
    assert float(path.abs().max()) <= math.pi + 1e-6
    # Across the cut at pi two equal phases differ by a turn.
    assert float(torch.sin(0.5 * (path - exact)).abs().max()) < example["tolerance"]
    assert torch.equal(path[-1], noisy(example))


def test_phases_are_unwrapped() -> None:
    b, j = torch.tensor([[[0.0, 8.0], [-8.0, 0.0]]]), torch.zeros(1, 2, 2)
    phases = cpu.rollout(b, j, Dynamics(1.0, 1.0, 1))
    assert torch.allclose(phases, math.pi / 2 - b, rtol=1e-6)


def test_there_is_one_compiled_version_of_each() -> None:
    """An array in another layout would be another version, compiled in the middle of a run."""
    b, j, d = torch.zeros(2, 3, 5), torch.zeros(2, 5, 5), Dynamics(1.0, 0.1, 2)
    for fields in (b, b[:1], b.transpose(1, 2).contiguous().transpose(1, 2), b[:, :1]):
        runs = len(fields)
        cpu.rollout(fields, j[:runs], d, record=True)
        cpu.rollout_with_pullback(fields, j[:runs], d)[1](fields)
        noise = Noise(1, 0.1, torch.arange(1), torch.arange(fields.shape[1]))
        cpu.noisy_rollout(fields, j[:runs], d, noise, record=True)
        cpu.noisy_rollout(fields, j[:runs], d, noise)
    for kernel in (tiles.forward_tile, tiles.backward_tile, tiles.noisy_tile):
        assert len(kernel.signatures) == 1


def test_bits_do_not_depend_on_threads(example) -> None:
    b, j, g, d = (example[name] for name in "bjgd")
    results = []
    for count in (1, 2, 3):
        with threads(count):
            results.append([*training_step(b, j, g, d), noisy(example)])
    for other in results[1:]:
        for one, another in zip(results[0], other, strict=True):
            assert torch.equal(one, another)


def test_bits_do_not_depend_on_neighbours() -> None:
    """Samples alone, in another lane, or among other runs."""
    b, g = random_tensor(2, 21, 17, seed=1).float(), random_tensor(2, 21, 17, seed=2).float()
    j, d = random_couplings(2, 13, 4).float(), Dynamics(1.0, 0.3, 40)
    phases, by_fields, by_couplings = training_step(b, j, g, d)
    part = slice(10, 15)
    for run in range(2):
        one = slice(run, run + 1)
        alone = training_step(b[one, part], j[one], g[one, part], d)
        assert torch.equal(alone[0], phases[one, part])
        assert torch.equal(alone[1], by_fields[one, part])
        assert torch.equal(training_step(b[one], j[one], g[one], d)[2], by_couplings[one])
    noise = Noise(7, 0.2, torch.arange(3), torch.arange(21))
    few = Noise(7, 0.2, torch.arange(1, 2), torch.arange(21)[part])
    together = cpu.noisy_rollout(b, j, d, noise)
    assert torch.equal(cpu.noisy_rollout(b[:, part], j, d, few), together[:, 1:2, part])


@pytest.mark.parametrize("bad", [math.nan, math.inf, 3e38])
def test_a_broken_run_leaves_the_others_alone(bad: float) -> None:
    b, g = random_tensor(3, 9, 7, seed=1).float(), random_tensor(3, 9, 7, seed=2).float()
    j, d = random_couplings(3, 5, 2).float(), Dynamics(1.0, 0.3, 20)
    b[1, 4, 2] = j[1, 0, 1] = j[1, 1, 0] = bad
    together = training_step(b, j, g, d)
    assert not all(bool(part[1].isfinite().all()) for part in together)
    for run in (0, 2):
        one = slice(run, run + 1)
        for ours, alone in zip(together, training_step(b[one], j[one], g[one], d), strict=True):
            assert torch.equal(ours[one], alone)
    noise = Noise(7, 0.2, torch.arange(2), torch.arange(9))
    alone = cpu.noisy_rollout(b[2:], j[2:], d, noise)
    assert torch.equal(cpu.noisy_rollout(b, j, d, noise)[2:], alone)


def test_a_pullback_answers_again_while_others_are_made() -> None:
    b, g = random_tensor(1, 9, 7, seed=1).float(), random_tensor(1, 9, 7, seed=2).float()
    j, d = random_couplings(1, 5, 2).float(), Dynamics(1.0, 0.3, 20)
    _, pullback = cpu.rollout_with_pullback(b, j, d)
    first = pullback(g)
    _, other = cpu.rollout_with_pullback(2 * b, j, d)
    other(g)
    for one, another in zip(first, pullback(g), strict=True):
        assert torch.equal(one, another)


def test_views_expanded_fields_and_no_samples() -> None:
    """Fields as callers may pass them: not contiguous, requiring gradients, empty."""
    b, d = random_tensor(1, 1, 7, seed=1).float().expand(2, 9, 7), Dynamics(1.0, 0.3, 20)
    j = random_couplings(2, 5, 2).float().requires_grad_()
    turned = b.transpose(1, 2).contiguous().transpose(1, 2)
    assert torch.equal(cpu.rollout(b, j, d), cpu.rollout(turned, j, d))
    empty, gradients = cpu.rollout_with_pullback(b[:, :0], j, d)
    assert empty.shape == (2, 0, 7)
    by_fields, by_couplings = gradients(empty)
    assert by_fields.shape == (2, 0, 7)
    assert not bool(by_couplings.any())
