"""Metrics against scikit-learn and SciPy, ensembles, refinement and selected examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.metrics import top_k_accuracy_score

from entrain.evaluation import (
    agreement,
    correlation,
    evaluate,
    margin,
    measure,
    noisy_scores,
    refine,
    representative,
    rmse,
    scores_of,
    stochastic,
    summarise,
    top_k,
)
from networks import random_network, random_tensor

SCORES = torch.tanh(random_tensor(200, 5))
TARGETS = torch.tanh(SCORES + random_tensor(200, 5, seed=1))
LABELS = TARGETS.argmax(1)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_top_k_equals_scikit_learn(k: int) -> None:
    expected = 100 * (top_k_accuracy_score(LABELS, SCORES, k=k, labels=range(5)) if k < 5 else 1.0)
    assert float(top_k(SCORES, LABELS, k)) == pytest.approx(expected)


def test_ties_go_to_the_lower_class_and_not_a_number_is_a_miss() -> None:
    tied = torch.zeros(5, 5)
    labels = torch.arange(5)
    assert float(top_k(tied, labels)) == 20.0
    assert float(top_k(tied, labels, 2)) == 40.0
    tied[0] = math.nan
    assert float(top_k(tied, labels)) == 0.0
    assert float(agreement(tied, torch.zeros(5, 5))) == 80.0


def test_endpoint_metrics_by_hand() -> None:
    difference = (SCORES - TARGETS).numpy()
    assert float(rmse(SCORES, TARGETS)) == pytest.approx(math.sqrt((difference**2).mean()))
    flat = stats.pearsonr(SCORES.flatten().numpy(), TARGETS.flatten().numpy()).statistic
    assert float(correlation(SCORES, TARGETS)) == pytest.approx(flat)
    same = (SCORES.argmax(1) == TARGETS.argmax(1)).double().mean()
    assert float(agreement(SCORES, TARGETS)) == pytest.approx(100 * float(same))
    ordered = SCORES.sort(dim=1).values
    assert torch.equal(margin(SCORES), ordered[:, -1] - ordered[:, -2])


def test_metrics_keep_a_run_axis() -> None:
    both = torch.stack([SCORES, TARGETS])
    assert torch.equal(top_k(both, LABELS)[1], torch.tensor(100.0, dtype=torch.float64))
    assert float(rmse(both, TARGETS)[1]) == 0.0
    assert evaluate(TARGETS, LABELS, TARGETS)["endpoint_correlation"] == pytest.approx(1.0)


def test_ensembles_average_outputs_and_singles_average_metrics(monkeypatch) -> None:
    monkeypatch.setattr(measure, "CHUNK", 40)  # 10 images of 4 replicates at a time
    network = random_network(scale=2.0, steps=20, observation_time=1.0)
    inputs = random_tensor(60, 6)
    labels = network(inputs).argmax(1)
    chunked = noisy_scores(network, inputs, temperature=0.5, replicates=4, seed=9)
    found = stochastic(chunked, labels)
    scores = network.simulate(inputs, temperature=0.5, restarts=4, seed=9).readout
    assert found["ensemble"]["top1"] == pytest.approx(float(top_k(scores.mean(0), labels)))
    assert found["single"]["top1"] == pytest.approx(float(top_k(scores, labels).mean()))
    errors = stochastic(chunked, labels, targets=scores.mean(0))
    assert errors["ensemble"]["endpoint_rmse"] < 1e-12  # every image has its own noise


def test_refinement_of_a_grid_against_itself_and_twice_as_fine() -> None:
    network = random_network(scale=2.0, steps=50)
    inputs = random_tensor(80, 6)
    labels = network(inputs).argmax(1)
    same = refine(network, inputs, labels, (50, 50))
    assert (same.disagreement, same.rms_output_change, same.top1_change) == (0.0, 0.0, 0.0)
    assert same.top1 == (100.0, 100.0)
    finer = refine(network, inputs, labels, (50, 100))
    change = (scores_of(network, inputs) - scores_of(network, inputs, steps=100)).detach()
    assert finer.rms_output_change == pytest.approx(float(change.square().mean().sqrt()))
    assert finer.largest_output_change == pytest.approx(float(change.abs().max()))
    coarse, fine = finer.largest_phase_increment
    assert fine == pytest.approx(coarse / 2, rel=0.05)


def test_representative_examples_are_correct_balanced_and_near_the_median_margin() -> None:
    scores, labels = SCORES.numpy(), LABELS.numpy()
    rows = representative(scores, labels, 12)
    assert len(rows) == len(set(rows)) == 12
    assert (scores[rows].argmax(1) == labels[rows]).all()
    counts = np.bincount(labels[rows], minlength=5)
    assert counts.max() - counts.min() <= 1
    one = representative(scores, labels)
    gaps = np.sort(scores, 1)[:, -1] - np.sort(scores, 1)[:, -2]
    for row in one:
        members = (labels == labels[row]) & (scores.argmax(1) == labels)
        distance = np.abs(gaps - np.median(gaps[members]))
        assert distance[row] == distance[members].min()


def test_summaries_have_the_sample_standard_deviation() -> None:
    assert summarise([1.0, 2.0, 4.0]).sd == pytest.approx(math.sqrt(7 / 3))
    assert math.isnan(summarise([3.0]).sd)
    with pytest.raises(ValueError, match="at least one run"):
        summarise([])
