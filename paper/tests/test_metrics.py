"""Metrics of the paper against decompositions, definitions and a published interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import entrain
from entrain import kernels
from entrain.physics import Dynamics, Guide, PhaseModel, drift, path_coefficients
from entrain_paper.experiments.metrics import (
    near_misses,
    negative_log_likelihood,
    paired_effect,
    teacher_parameter_count,
    trajectory_errors,
    trajectory_rmse,
)
from networks import random_couplings, random_tensor


def test_trajectory_errors_obey_the_decomposition_and_vanish_at_the_start() -> None:
    torch.manual_seed(0)
    network = entrain.KuramotoNetwork(6, 5, 3, steps=20, dtype=torch.float64)
    inputs = torch.randn(700, 6, dtype=torch.float64)
    alpha = path_coefficients(torch.tanh(torch.randn(700, 8)).double())
    errors = trajectory_errors(network, inputs, alpha)
    for values in errors.values():
        assert values.shape == (21,)
        assert float(values[0]) < 1e-15
    hidden, output, whole = (trajectory_rmse(errors[k]) for k in ("hidden", "output", "all"))
    assert whole**2 == pytest.approx(5 / 8 * hidden**2 + 3 / 8 * output**2, rel=1e-12)
    student = network.simulate(inputs, record=1).phases.cos()
    time = torch.arange(21, dtype=torch.float64) / 20
    teacher = Guide.at(alpha, time, 20).cos.movedim(1, 0)
    by_hand = (student - teacher)[..., :5].square().mean().sqrt()
    assert hidden == pytest.approx(float(by_hand))


def test_paired_effect_gives_the_published_interval() -> None:
    """Ten differences with the mean 7.599 and SD 0.059 have the paper's interval 7.557 to 7.641."""
    shape = np.array([-1.5, -1.2, -0.7, -0.3, -0.1, 0.2, 0.4, 0.8, 1.1, 1.3])
    shape = (shape - shape.mean()) / shape.std(ddof=1)
    base = np.linspace(89.0, 89.2, 10)
    effect = paired_effect(base + 7.599 + 0.059 * shape, base)
    assert (effect.mean, effect.sd) == (pytest.approx(7.599), pytest.approx(0.059))
    assert effect.t_interval == pytest.approx((7.557, 7.641), abs=5e-4)
    low, high = effect.bootstrap_interval
    assert effect.t_interval[0] < low < effect.mean < high < effect.t_interval[1]
    assert (effect.positive, effect.zero, effect.negative) == (10, 0, 0)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12))
def test_sign_counts_add_up_and_a_constant_effect_has_a_point_interval(values) -> None:
    effect = paired_effect(values, [0.0] * len(values))
    assert effect.positive + effect.zero + effect.negative == len(values)
    same = paired_effect([2.0] * len(values), [1.0] * len(values))
    assert same.t_interval == same.bootstrap_interval == (1.0, 1.0)


def test_paired_runs_must_match() -> None:
    with pytest.raises(ValueError, match="match"):
        paired_effect([1.0, 2.0], [1.0])


def test_near_misses_have_the_true_class_second_at_the_median_lead() -> None:
    rng = np.random.default_rng(3)
    scores, labels = rng.normal(size=(400, 5)), rng.integers(0, 5, 400)
    chosen = near_misses(scores, labels)
    assert labels[chosen].tolist() == [0, 1, 2, 3, 4]
    for row in chosen:
        order = np.argsort(-scores[row])
        assert order[1] == labels[row]
        same = [
            scores[i].max() - scores[i, labels[i]]
            for i in np.flatnonzero(labels == labels[row])
            if np.argsort(-scores[i])[1] == labels[i]
        ]
        lead = scores[row].max() - scores[row, labels[row]]
        assert abs(lead - np.median(same)) == np.abs(np.array(same) - np.median(same)).min()
    assert labels[near_misses(np.eye(5)[labels], labels)].tolist() == []


@pytest.mark.parametrize(
    ("widths", "count"),
    [
        ((64,), 50_890),
        ((32, 32), 26_506),
        ((48, 16), 38_634),
        ((16, 48), 13_866),
        ((40, 24), 32_634),
        ((52, 12), 41_586),
        ((56, 8), 44_506),
        ((22, 21, 21), 18_435),
        ((32, 16, 16), 26_090),
        ((40, 16, 8), 32_282),
        ((40, 8, 16), 32_042),
        ((32, 24, 8), 26_202),
        ((24, 24, 16), 20_010),
        ((16, 24, 24), 13_818),
        ((16, 16, 16, 16), 13_546),
    ],
)
def test_teacher_parameter_counts_of_the_paper(widths: tuple[int, ...], count: int) -> None:
    assert sum(widths) == 64
    assert teacher_parameter_count(784, widths, 10) == count


def test_nll_is_the_sum_of_gaussian_transition_densities() -> None:
    """Path loss and NLL differ by the factor 1 / (4 mu kT dt) and the stated constant."""
    b, j = random_tensor(2, 4, 8, seed=1), random_couplings(2, 5, 3)
    alpha, d = 2 * random_tensor(2, 4, 8, seed=2), Dynamics(1.2, 0.4, 12)
    kT = 0.3
    theta = [torch.arccos(torch.tanh(alpha * k / d.steps)) for k in range(d.steps + 1)]
    total = torch.zeros(len(b), dtype=b.dtype)
    for k in range(d.steps):
        mean = theta[k] + d.time_step * drift(theta[k], PhaseModel(b, j), d.mobility)
        step = torch.distributions.Normal(mean, math.sqrt(2 * d.mobility * kT * d.time_step))
        total -= step.log_prob(theta[k + 1]).sum((1, 2))
    per_number = total / (b.shape[1] * d.steps * b.shape[2])
    loss, _ = kernels.path_loss(PhaseModel(b, j), alpha, d)
    assert torch.allclose(negative_log_likelihood(loss, d, kT), per_number, rtol=1e-10)
