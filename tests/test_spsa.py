"""Simultaneous perturbation: what its estimate tends to, and that trainings by it can be
interrupted, put side by side and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from direct_trainings import (
    CLASSES,
    DYNAMICS,
    SEED,
    SPEC,
    H,
    check_interruption,
    check_runs_side_by_side,
    examples,
)
from direct_trainings import training as direct_training
from entrain.hardware import Hardware, Mismatch, PhaseNoise
from entrain.rules import SPSA_PROTOCOLS, SimultaneousPerturbation, Tensors
from entrain.rules.chip_training import ChipTraining
from entrain.rules.spsa import PerturbationTraining
from entrain.training import Stage, run_training
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")

NAMES = ("input_weights", "biases", "couplings")
BATCH = 12


def training(runs: tuple[int, ...] = (0,), **changes: Any) -> PerturbationTraining:
    plain: dict[str, Any] = {"epochs": 3, "batch_size": 16, "averaging": 0.9, "gain": 4.0}
    rule = SimultaneousPerturbation(**(plain | changes))
    return PerturbationTraining(
        rule, examples(), examples(40, 2), SPEC, CLASSES, seed=SEED, runs=runs
    )


def estimates(runs: int, **changes: Any) -> Tensors:
    """Of one network and one batch with other signs in every run: (R, ...)."""
    ours = training(tuple(range(runs)), **changes)
    rows = torch.arange(BATCH).expand(runs, BATCH)
    ours._draws(BATCH).renew(ours._generators(0))
    raw = {
        name: tensor.expand(runs, *tensor.shape[1:]).clone()
        for name, tensor in initial_tensors().items()
    }
    _, found = ours.loss_and_gradient(raw, DYNAMICS, rows)
    return found


def initial_tensors() -> Tensors:
    """A network that is not at rest in any way, one run."""
    tensors = direct_training(initial_weights=1.0, initial_couplings=0.6).initial()
    return {name: tensors[name] for name in NAMES}


def adjoint() -> Tensors:
    """The exact gradient of the same loss."""
    _, found = direct_training(gain=4.0).loss_and_gradient(
        initial_tensors(), DYNAMICS, torch.arange(BATCH)[None]
    )
    return {name: found[name][0] for name in NAMES}


def along(ours: Tensor, theirs: Tensor) -> float:
    """The cosine of the angle between two gradients."""
    return float(torch.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0))


@pytest.mark.parametrize("perturbed", ["fields", "weights"])
def test_the_mean_over_many_draws_approaches_the_adjoint(perturbed: str) -> None:
    small = {"field_size": 0.02, "coupling_size": 0.02, "weight_size": 0.02}
    found = estimates(2000, perturbed=perturbed, directions=4, **small)
    wanted = adjoint()
    for name in NAMES:
        ours, theirs = found[name].mean(0), wanted[name]
        assert along(ours, theirs) > 0.99
        assert float(ours.norm() / theirs.norm()) == pytest.approx(1.0, abs=0.05)


def test_the_mean_of_directions_has_a_variance_that_falls_with_their_number() -> None:
    spread = [
        sum(float(estimates(300, directions=many)[name].var(0).sum()) for name in NAMES)
        for many in (2, 8)
    ]
    assert spread[0] / spread[1] == pytest.approx(4.0, rel=0.2)


def test_fields_of_their_own_give_less_noise_than_moving_all_weights() -> None:
    size = {"field_size": 0.02, "weight_size": 0.02}
    apart = [
        float(estimates(300, perturbed=kind, **size)["input_weights"].var(0).sum())
        for kind in ("fields", "weights")
    ]
    assert apart[0] < apart[1]


def test_couplings_move_together_and_only_where_there_are_couplers() -> None:
    found = estimates(3)["couplings"]
    assert torch.equal(found, found.mT)
    assert not found[:, H:, H:].any()
    assert not found.diagonal(dim1=1, dim2=2).any()


# Trainings

NOISY = Hardware(mismatch=Mismatch(couplings=0.1), phase_noise=PhaseNoise(0.01))
KINDS: dict[str, dict[str, Any]] = {
    "fields": {},
    "weights": {"perturbed": "weights"},
    "chip": {"chips": ChipTraining(NOISY, chip=7)},
    "chips": {"chips": ChipTraining(NOISY, chips=4)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_training_goes_on_bit_for_bit(kind: str) -> None:
    check_interruption(lambda: training((0, 3), **KINDS[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_runs_side_by_side_equal_runs_alone(kind: str) -> None:
    check_runs_side_by_side(lambda runs: training(runs, **KINDS[kind]), atol=1e-4)


@pytest.mark.parametrize("kind", ["fields", "chip"])
def test_it_learns(kind: str) -> None:
    faster = {"epochs": 12, "input_rate": 2e-2, "coupling_rate": 3e-2}
    losses = run_training(training((0, 1), **(KINDS[kind] | faster))).history["loss"]
    for run in range(2):
        assert losses[-1][run] < 0.95 * losses[0][run]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"directions": 0}, "directions must be"),
        ({"field_size": 0.0}, "field_size must be"),
        ({"coupling_size": -1.0}, "coupling_size must be"),
        ({"weight_size": float("inf")}, "weight_size must be"),
        ({"perturbed": "phases"}, "unknown perturbed 'phases'; choose from fields, weights"),
    ],
)
def test_options_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SimultaneousPerturbation(**changes)


def test_a_network_with_other_trained_terms_is_refused() -> None:
    spec = replace(SPEC, frequencies=(0.1,) * (H + 10), trainable=("frequencies",))
    with pytest.raises(InputError, match="SPSA trains input weights, biases and couplings; got"):
        Stage(SPSA_PROTOCOLS["SPSA"], "digits", spec)
