"""Trainings by equilibrium propagation and coupled learning: interrupted, side by side, refused."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pytest
import torch

from direct_trainings import (
    CLASSES,
    OUTPUTS,
    SEED,
    check_interruption,
    check_runs_side_by_side,
    examples,
)
from entrain.hardware import Hardware, Mismatch, PhaseNoise
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import EQUILIBRIUM_PROTOCOLS, EquilibriumPropagation
from entrain.rules.chip_training import ChipTraining
from entrain.rules.equilibrium import EquilibriumTraining
from entrain.training import Stage, run_training
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")

HIDDEN = 5
N = HIDDEN + OUTPUTS
SPEC = NetworkSpec(HIDDEN, Dynamics(1.0, 5.0, 20))
NOISY = Hardware(mismatch=Mismatch(couplings=0.1), phase_noise=PhaseNoise(0.01))
KINDS: dict[str, dict[str, Any]] = {
    "cross-entropy": {},
    "squared": {"nudging": "squared"},
    "clamped": {"nudging": "clamped", "beta": 0.1},
    "random": {"begin": "random"},
    "chip": {"chips": ChipTraining(NOISY, chip=7)},
}


def training(runs: tuple[int, ...] = (0,), **changes: Any) -> EquilibriumTraining:
    plain: dict[str, Any] = {"epochs": 3, "batch_size": 16, "nudged_steps": 5, "averaging": 0.9}
    rule = EquilibriumPropagation(**(plain | changes))
    return EquilibriumTraining(
        rule, examples(), examples(40, 2), SPEC, CLASSES, seed=SEED, runs=runs
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_training_goes_on_bit_for_bit(kind: str) -> None:
    check_interruption(lambda: training((0, 3), **KINDS[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_runs_side_by_side_equal_runs_alone(kind: str) -> None:
    check_runs_side_by_side(lambda runs: training(runs, **KINDS[kind]), atol=1e-5, epochs=True)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "random"])
def test_it_learns(kind: str) -> None:
    losses = run_training(training((0, 1), **(KINDS[kind] | {"epochs": 12}))).history["loss"]
    for run in range(2):
        assert losses[-1][run] < 0.9 * losses[0][run]


def test_a_gradient_unlike_the_exact_one_is_warned_of_once() -> None:
    with pytest.warns(RuntimeWarning, match=r"EP: after the first epoch .* to the exact one"):
        run_training(training(beta=3.0, initial_weights=5.0, epochs=1))
    at_rest = NetworkSpec(HIDDEN, Dynamics(1.0, 60.0, 600))
    rule = EquilibriumPropagation(epochs=3, batch_size=16, initial_couplings=0.02)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = EquilibriumTraining(rule, examples(), examples(40, 2), at_rest, CLASSES, seed=SEED)
        run_training(ours)
    assert len(caught) <= 1


def test_random_starts_are_new_in_every_step_and_the_same_for_the_same_run() -> None:
    ours = training(begin="random")
    draws = ours._draws(16)
    first, second = [], []
    for kept in (first, second):
        generators = ours._generators(0)
        for _ in range(2):
            draws.renew(generators)
            kept.append(draws.uniform("start", 16, N).clone())
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])
    assert not torch.isclose(first[0], first[1]).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beta": 0.0}, "beta must be"),
        ({"beta": float("nan")}, "beta must be"),
        ({"nudged_steps": 0}, "nudged_steps must be"),
        ({"averaged_steps": 0}, "averaged_steps must be"),
        ({"averaged_steps": 201}, "must be at most nudged_steps .200., got 201"),
        (
            {"nudging": "linear"},
            "unknown nudging 'linear'; choose from clamped, cross-entropy, squared",
        ),
        ({"begin": "zero"}, "unknown begin 'zero'; choose from given, random"),
    ],
)
def test_options_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EquilibriumPropagation(**changes)


@pytest.mark.parametrize("term", ["start_phases", "lag"])
def test_terms_that_are_no_part_of_the_energy_are_refused(term: str) -> None:
    spec = NetworkSpec(HIDDEN, start_phases=(0.1,) * (HIDDEN + 10), trainable=(term,))
    with pytest.raises(InputError, match=f"EP trains terms of the energy.*trainable {term}"):
        Stage(EquilibriumPropagation(), "digits", spec)


def test_frequencies_learn_while_the_couplings_stay_as_they_began() -> None:
    spec = replace(SPEC, frequencies=(0.0,) * N, trainable=("frequencies",))
    rule = EquilibriumPropagation(
        epochs=12, batch_size=16, input_rate=1e-3, averaging=0.0, frozen=("couplings",)
    )
    ours = EquilibriumTraining(rule, examples(), examples(40, 2), spec, CLASSES, seed=SEED)
    begun = ours.initial()["couplings"].clone()
    state = run_training(ours)
    assert torch.equal(state.current["couplings"], begun)
    assert float(state.current["frequencies"].abs().max()) > 0.01
    assert state.history["loss"][-1][0] < 0.9 * state.history["loss"][0][0]


def test_the_protocols_have_names_of_their_own_and_go_to_files_and_back() -> None:
    assert list(EQUILIBRIUM_PROTOCOLS) == ["EP", "EP-SQUARED", "COUPLED"]
    for rule in EQUILIBRIUM_PROTOCOLS.values():
        assert EquilibriumPropagation.from_settings(rule.settings()) == rule
