"""Distortions of inputs in training: noise, and shifts and stretches in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import entrain
from entrain.data import load_own
from entrain.hardware import FreshDraws
from entrain.rules import Direct
from entrain.rules.input_distortions import InputDistortions, warp
from entrain.rules.regression_settings import regression_set
from entrain.rules.sequence_settings import sequence_set
from entrain.training import Options
from entrain.utils.errors import InputError


def sequences(count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of random numbers, whose mean is the class."""
    labels = np.arange(count) % 2
    random = np.random.default_rng(0)
    return random.normal(size=(count, 6, 2)) + labels[:, None, None], labels


def test_a_ramp_is_moved_and_stretched_about_its_middle() -> None:
    ramp = torch.linspace(0, 1, 11)[None, None, :, None]
    zero, tenth = torch.zeros(1, 1), torch.full((1, 1), 0.1)
    torch.testing.assert_close(warp(ramp, zero, zero), ramp)
    moved = warp(ramp, tenth, zero)[0, 0, :, 0]
    torch.testing.assert_close(moved, (ramp[0, 0, :, 0] + 0.1).clamp(max=1))
    faster = warp(ramp, zero, tenth)[0, 0, :, 0]
    torch.testing.assert_close(faster[1:-1], 0.5 + 1.1 * (ramp[0, 0, 1:-1, 0] - 0.5))


def test_noise_has_the_size_of_its_share() -> None:
    inputs = 3.0 * torch.randn(2, 40, 8, 5, generator=torch.Generator().manual_seed(0))
    distort, draws = InputDistortions(noise=0.5), FreshDraws(2, inputs)
    distort.request(draws, (40, 8, 5))
    draws.renew([torch.Generator().manual_seed(seed) for seed in (1, 2)])
    added = distort(inputs, draws) - inputs
    assert float(added.std()) == pytest.approx(1.5, rel=0.05)
    assert not torch.equal(added[0], added[1])


def test_a_run_is_distorted_alike_alone_and_beside_others() -> None:
    X, y = sequences()
    options: dict[str, Any] = {"network": 4, "epochs": 3}
    both = entrain.train(load_own(X, y, task="sequence", frames=4), **options, runs=2).models[
        "DIRECT"
    ]
    one = entrain.train(load_own(X, y, task="sequence", frames=4), **options).model
    np.testing.assert_array_equal(both[0].scores(X), one.scores(X))
    assert not torch.equal(both[1].scores(X), one.scores(X))


def test_without_size_distortions_are_absent() -> None:
    X, y = sequences()
    options: dict[str, Any] = {"network": 4, "epochs": 3}
    off = {f"DIRECT.{n}": 0.0 for n in ("input_noise", "time_shift", "time_stretch")}
    clear = entrain.train(load_own(X, y, task="sequence", frames=4), **options, settings=off).model
    noisy = entrain.train(load_own(X, y, task="sequence", frames=4), **options).model
    assert not torch.equal(clear.scores(X), noisy.scores(X))
    assert Direct().input_distortions.is_identity


def test_time_is_not_distorted_without_sequences() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(InputError, match="time_shift is of sequences"):
        entrain.train(rows, np.arange(40) % 2, settings={"DIRECT.time_shift": 0.1})
    with pytest.raises(InputError, match="time_stretch"):
        Direct(time_stretch=2.0)


def test_named_protocols_have_the_settings_of_the_task() -> None:
    X, y = sequences()
    data = load_own(X, y, task="sequence", frames=4)
    (rule,) = Options().recipe(data).protocols
    assert {k: rule.settings()[k] for k in sequence_set(42, True)} == sequence_set(42, True)
    assert "input_noise" not in sequence_set(42, has_classes=False)
    assert Options().recipe(data).spec.dynamics.observation_time == 0.4
    (own,) = Options(protocol=Direct(epochs=7)).recipe(data).protocols
    assert (own.epochs, getattr(own, "input_noise", None)) == (7, 0.0)
    numbers = load_own(X[:, 0], 0.5 + X[:, 0, 0])
    (rule,) = Options().recipe(numbers).protocols
    expected = regression_set(len(numbers.train), getattr(rule, "batch_size", 0))
    assert {k: rule.settings()[k] for k in expected} == expected
