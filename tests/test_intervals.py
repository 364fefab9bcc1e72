"""Intervals of accuracies: over examples, chips and noise."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, norm

from chips import DYNAMICS, INPUTS, parameters
from entrain.evaluation.chips import correct_on_chips, scores_on_chips
from entrain.evaluation.intervals import accuracy, bootstrap, pack, unpack, wilson
from entrain.hardware import Hardware, Mismatch, PhaseNoise
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(
    ("count", "trials"), [(0, 1), (1, 1), (0, 40), (40, 40), (3, 7), (9805, 10_000)]
)
def test_wilson_intervals_are_those_of_scipy(count: int, trials: int) -> None:
    known = binomtest(count, trials).proportion_ci(0.95, method="wilson")
    assert wilson(count, trials) == pytest.approx((100 * known.low, 100 * known.high), abs=1e-9)


def test_packed_examples_are_unpacked_and_counted() -> None:
    correct = np.random.RandomState(0).random((3, 13)) < 0.6
    rows = pack(correct)
    assert np.array_equal(unpack(rows, 13), correct)
    assert [accuracy(row, 13) for row in rows] == (100.0 * correct.mean(1)).tolist()


def drawn(generator: np.random.RandomState, chips: int, examples: int) -> np.ndarray:
    """Correct examples (C, M) of chips of different quality on examples of different difficulty."""
    quality = generator.normal(1.2, 0.3, (chips, 1))
    difficulty = generator.normal(0.0, 1.0, examples)
    return quality + difficulty + generator.normal(0.0, 0.5, (chips, examples)) > 0


def test_bootstrap_intervals_contain_the_true_mean_and_median_of_new_chips_and_examples() -> None:
    generator = np.random.RandomState(1)
    true_mean = 100.0 * norm.cdf(1.2 / np.sqrt(0.3**2 + 1.0**2 + 0.5**2))
    true_median = 100.0 * norm.cdf(1.2 / np.sqrt(1.0**2 + 0.5**2))
    hits, errors, means = np.zeros(2), [], []
    for _ in range(60):
        correct = drawn(generator, 25, 150)
        uncertainty = bootstrap(pack(correct), 150)
        for k, (value, (low, high)) in enumerate(
            ((true_mean, uncertainty.mean), (true_median, uncertainty.percentiles[50]))
        ):
            hits[k] += low <= value <= high
        errors.append(uncertainty.standard_error)
        means.append(100.0 * correct.mean())
    assert (hits >= 51).all()
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(means), rel=0.25)


@pytest.mark.parametrize(
    ("chips", "known"), [(9, []), (10, [50]), (100, [5, 50]), (500, [1, 5, 50])]
)
def test_percentiles_with_fewer_than_five_chips_below_have_no_interval(
    chips: int, known: list[int]
) -> None:
    correct = drawn(np.random.RandomState(0), chips, 20)
    assert list(bootstrap(pack(correct), 20).percentiles) == known


def test_spread_over_chips_covers_the_spread_over_draws_of_noise() -> None:
    """With one draw for all chips the means of sets of 20 chips differ by 3.2 points, and the
    spread from chip to chip within a set predicts 0.07."""
    network = parameters(torch.float32)
    inputs = random_tensor(200, INPUTS, seed=1).float()
    labels = scores_on_chips(network, Hardware(), [0], inputs, DYNAMICS)[0, 0].argmax(-1)
    noisy = Hardware(mismatch=Mismatch(couplings=0.02), phase_noise=PhaseNoise(0.5))
    means, errors = [], []
    for seed in range(50):
        chips = range(20 * seed, 20 * seed + 20)
        correct = correct_on_chips(network, noisy, chips, inputs, labels, DYNAMICS, noise_seed=seed)
        accuracies = 100.0 * correct[0].double().mean(-1).numpy()
        means.append(accuracies.mean())
        errors.append(accuracies.std(ddof=1) / np.sqrt(len(accuracies)))
    assert np.std(means, ddof=1) == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.3)
