"""Associative memories: exact facts of the rules, recall, overlaps, chips, files, bad input."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from entrain import InputError, Memory
from entrain.hardware import Hardware, Mismatch
from entrain.memory import (
    RecallRate,
    RecallTraining,
    StorageRule,
    capacity,
    corrupt,
    overlaps,
    random_patterns,
    stored_couplings,
)

ROOT = Path(__file__).parents[1]
RULES: tuple[StorageRule, ...] = ("hebbian", "pseudo-inverse", "trained")
QUICK = RecallTraining(iterations=5, batch=8)


def store(patterns: Tensor, rule: StorageRule, **settings: Any) -> Memory:
    training = QUICK if rule == "trained" else None
    return Memory.store(patterns, rule, training=training, **settings)


def angles(spins: Tensor) -> Tensor:
    return torch.where(spins < 0, math.pi, 0.0)


def sign_updates() -> Any:
    """The Hopfield network of the benchmark."""
    spec = importlib.util.spec_from_file_location("benchmark", ROOT / "benchmarks" / "memory.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.sign_updates


# Facts of the rules


def test_hebbian_couplings_are_the_sum_of_products() -> None:
    patterns = random_patterns(3, 10).double()
    couplings = stored_couplings(patterns, "hebbian")
    for i in range(10):
        for j in range(10):
            wanted = 0.0 if i == j else sum(p[i] * p[j] for p in patterns) / 10
            assert couplings[i, j] == pytest.approx(wanted)


@pytest.mark.parametrize("phases", [False, True])
def test_pseudo_inverse_patterns_are_fixed_points_of_least_energy(phases: bool) -> None:
    patterns = random_patterns(30, 40, phases=phases, seed=1)
    memory = Memory.store(patterns, "pseudo-inverse", phases=phases)
    states = (memory.patterns if phases else angles(memory.patterns)).float()
    assert float(memory.oscillators.drift(states).abs().max()) < 2e-5
    energies = memory.energy(states)
    # -1/2 w^H (Q - diag Q) w / (1 - P / N) is least for w in the space of the patterns.
    least = -0.5 * 40 - (0 if phases else 40 * memory.injection)
    assert energies.numpy() == pytest.approx(np.full(30, least), rel=1e-4)
    others = 2 * math.pi * torch.rand(200, 40, generator=torch.Generator().manual_seed(0))
    assert float(memory.energy(others).min()) > least


def test_one_phase_pattern_is_a_fixed_point_and_its_mirror_image_is_not_stored() -> None:
    pattern = random_patterns(1, 60, phases=True)
    memory = Memory.store(pattern, phases=True)
    state = memory.patterns.float()
    assert float(memory.oscillators.drift(state).abs().max()) < 1e-5
    energy, mirrored = (float(memory.energy(s)) for s in (state, -state))
    assert energy == pytest.approx(-0.5 * 59, rel=1e-4)  # of least energy: every cosine is 1
    assert mirrored > 0.2 * energy
    # Couplings J_ij = cos(xi_i - xi_j) alone cannot tell a pattern from its mirror image.
    difference = pattern.mT - pattern
    assert torch.equal(difference.cos(), (-difference).cos())


@pytest.mark.parametrize("phases", [False, True])
def test_oscillators_descend_the_energy(phases: bool) -> None:
    memory = Memory.store(random_patterns(4, 12, phases=phases), phases=phases)
    theta = random_patterns(3, 12, phases=True, seed=9).requires_grad_()
    (gradient,) = torch.autograd.grad(memory.energy(theta).sum(), theta)
    drift = memory.oscillators.drift(theta.detach().float())
    assert torch.allclose(drift.double(), -gradient, atol=1e-6)
    if not phases:  # of which Oscillators has the energy, too
        energy = memory.oscillators.energy(theta.detach().float()).double()
        assert torch.allclose(memory.energy(theta.detach()), energy, atol=1e-5)


def test_spins_without_injection_are_joined_by_a_path_of_rest_and_injection_breaks_it() -> None:
    patterns = random_patterns(2, 50, seed=3).double()
    free = Memory.store(patterns, "pseudo-inverse", injection=0)
    held = Memory.store(patterns, "pseudo-inverse")
    middle = torch.atan2(patterns[1], patterns[0]).float()[None]  # of w = (x + i y) / sqrt(2)
    assert float(free.oscillators.drift(middle).abs().max()) < 1e-5
    ends = angles(patterns).float()
    assert float(free.energy(middle)) == pytest.approx(float(free.energy(ends)[0]), rel=1e-5)
    assert float(held.energy(middle)) > float(held.energy(ends)[0]) + 1


@pytest.mark.parametrize("phases", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_recalls_few_patterns_exactly(rule: StorageRule, phases: bool) -> None:
    patterns = random_patterns(3, 100, phases=phases)
    memory = store(patterns, rule, phases=phases)
    cues = corrupt(patterns, 0.2, phases=phases, seed=1)
    recall = memory.recall(cues)
    assert recall.best.tolist() == [0, 1, 2]
    assert not bool(recall.is_inverted.any())
    matches = recall.overlaps.diagonal()
    assert float(matches.min()) > (0.95 if phases else 0.999)
    before = overlaps(cues, patterns, phases=phases).diagonal()
    assert float((matches - before).min()) > 0.1
    if not phases:
        assert torch.equal(recall.patterns, patterns.to(torch.int8))


def test_a_memory_at_low_load_recalls_what_a_hopfield_network_recalls() -> None:
    patterns = random_patterns(4, 200, seed=5)
    memory = Memory.store(patterns)
    cues = corrupt(patterns, 0.25, seed=2)
    hopfield = sign_updates()(memory.couplings.double().numpy(), cues.double().numpy())
    assert np.array_equal(hopfield, patterns.numpy())
    assert np.array_equal(memory.recall(cues).patterns.numpy(), hopfield)


def test_hebbian_memories_fail_beyond_their_capacity_and_pseudo_inverse_ones_do_not() -> None:
    low, high = (
        capacity(128, loads, [0.1], rule="hebbian", sets=2, cues=20) for loads in ([0.02], [0.3])
    )
    inverse = capacity(128, [0.3], [0.1], rule="pseudo-inverse", sets=2, cues=20)
    assert low[0].rate.rate > 0.95
    assert high[0].rate.rate < 0.05
    assert inverse[0].rate.rate == 1
    assert high[0].load == 38 / 128


def test_a_cue_with_most_spins_wrong_recalls_the_inverse_pattern() -> None:
    patterns = random_patterns(3, 80)
    memory = Memory.store(patterns, "pseudo-inverse")
    recall = memory.recall(-corrupt(patterns, 0.1))
    assert torch.equal(recall.patterns, -patterns.to(torch.int8))
    assert bool(recall.is_inverted.all())
    assert recall.best.tolist() == [0, 1, 2]


def test_phases_are_recalled_up_to_a_rotation_which_overlaps_do_not_see() -> None:
    patterns = random_patterns(2, 60, phases=True)
    memory = Memory.store(patterns, "pseudo-inverse", phases=True)
    recalls = [memory.recall(corrupt(patterns, 0.1, phases=True) + turn) for turn in (0.0, 2.5)]
    assert recalls[0].overlaps.numpy() == pytest.approx(recalls[1].overlaps.numpy(), abs=1e-4)
    for recall in recalls:
        error = torch.remainder(recall.patterns - patterns + math.pi, 2 * math.pi) - math.pi
        assert float(error.abs().max()) < 0.02
    moved = recalls[1].states - recalls[0].states - 2.5
    assert float((1 - moved.cos()).max()) < 1e-4


def test_unknown_spins_are_completed() -> None:
    patterns = random_patterns(3, 100)
    cues = patterns.clone()
    cues[:, 50:] = 0
    recall = Memory.store(patterns, "pseudo-inverse").recall(cues)
    assert torch.equal(recall.patterns, patterns.to(torch.int8))


def test_training_improves_recall_and_keeps_couplings_symmetric() -> None:
    patterns = random_patterns(20, 32, seed=0)
    settings = RecallTraining(iterations=150, batch=32, corruption=0.15)
    before = Memory.store(patterns, "pseudo-inverse")
    after = Memory.store(patterns, "trained", training=settings)
    rates = [m.evaluate(0.06, cues=200).rate for m in (before, after)]
    assert rates[1] > rates[0] + 0.05
    assert torch.equal(after.couplings, after.couplings.mT)
    z = after.patterns
    field = (z @ after.couplings.double() * z).mean()
    assert float(field) == pytest.approx(1.0, abs=1e-4)


def test_training_stores_more_patterns_than_there_are_oscillators() -> None:
    patterns = random_patterns(24, 24, seed=0)
    with pytest.raises(InputError, match="span all 24 dimensions"):
        Memory.store(patterns, "pseudo-inverse")
    hebbian = Memory.store(patterns).evaluate(0.0, cues=24)
    settings = RecallTraining(iterations=200, batch=24, corruption=0.05)
    trained = Memory.store(patterns, "trained", training=settings).evaluate(0.0, cues=24)
    assert trained.overlap > hebbian.overlap + 0.2


# Overlaps and cues


def test_overlaps_count_wrong_spins() -> None:
    pattern = random_patterns(1, 50)
    for wrong in (0, 5, 25, 50):
        cue = corrupt(pattern, wrong / 50, seed=4)
        assert int((cue != pattern).sum()) == wrong
        assert float(overlaps(cue, pattern)) == pytest.approx(1 - 2 * wrong / 50)


def test_overlaps_of_phases_ignore_rotations() -> None:
    phases = random_patterns(2, 50, phases=True)
    matrix = overlaps(phases + 1.0, phases, phases=True)
    assert matrix.diagonal().numpy() == pytest.approx([1, 1])
    same = corrupt(phases, 0.2, phases=True)
    assert int((same != phases).sum()) == 20


def test_a_recall_does_not_depend_on_other_cues_and_repeats() -> None:
    patterns = random_patterns(6, 64)
    memory = Memory.store(patterns)
    cues = corrupt(patterns, 0.3)
    together, alone = memory.recall(cues), memory.recall(cues[0])
    assert alone.patterns.shape == (64,)
    assert alone.best.shape == ()
    assert torch.equal(together.patterns[0], alone.patterns)
    assert torch.equal(memory.recall(cues).patterns, together.patterns)


def test_smaller_steps_recall_the_same() -> None:
    patterns = random_patterns(20, 100, seed=2)
    memory = Memory.store(patterns, "pseudo-inverse")
    cues = corrupt(patterns, 0.2)
    coarse, fine = (memory.recall(cues, steps=steps).patterns for steps in (250, 1000))
    assert float((coarse == fine).double().mean()) > 0.99


def test_a_constant_pattern_is_a_ferromagnet() -> None:
    memory = Memory.store(torch.ones(64))
    assert float(memory.couplings.max()) == pytest.approx(1 / 64)
    assert memory.recall(corrupt(torch.ones(1, 64), 0.3)).patterns.sum() == 64


def test_intervals_contain_the_rate_and_shrink_with_cues() -> None:
    bits = torch.tensor([[1.0, 0.9] * 10])
    one, more = RecallRate(bits), RecallRate(bits.repeat(1, 20))
    for rate in (one, more):
        assert rate.rate == 0.5
        assert rate.overlap == pytest.approx(0.95)
        low, high = rate.rate_interval
        assert 0 < low < 0.5 < high < 1
    assert more.rate_interval[0] > one.rate_interval[0]
    several = RecallRate(torch.tensor([[1.0, 1.0], [1.0, 0.5], [0.5, 0.5]]))
    assert several.rates.tolist() == [1.0, 0.5, 0.0]
    assert several.rate_interval == (0.0, 1.0)


# Chips


def test_a_chip_without_effects_recalls_like_ideal_oscillators() -> None:
    patterns = random_patterns(5, 60)
    memory = Memory.store(patterns)
    cues = corrupt(patterns, 0.3)
    ideal, chip = memory.recall(cues), memory.recall(cues, chip=Hardware())
    assert torch.equal(ideal.patterns, chip.patterns)


def test_imperfect_chips_recall_less_and_differ() -> None:
    memory = Memory.store(random_patterns(8, 48), "pseudo-inverse")
    rough = Hardware(mismatch=Mismatch(couplings=1.5))
    ideal = memory.evaluate(0.2, cues=24)
    rate = memory.evaluate(0.2, cues=24, hardware=rough, chips=4)
    assert rate.overlaps.shape == (4, 24)
    assert rate.overlap < ideal.overlap - 0.02
    assert len(set(rate.overlaps.sum(1).tolist())) > 1
    published = memory.evaluate(0.1, cues=24, hardware="lo-2023", chips=2)
    assert published.overlap > 0.9


def test_a_memory_that_does_not_fit_a_chip_is_refused() -> None:
    memory = Memory.store(random_patterns(3, 49))
    with pytest.raises(InputError, match="49 variables, the chip 48"):
        memory.recall(memory.patterns, chip="lo-2023")
    with pytest.raises(InputError, match="of these couplers"):
        memory.recall(memory.patterns, chip="moy-2022")
    phases = Memory.store(random_patterns(2, 20, phases=True), phases=True)
    with pytest.raises(InputError, match="chips lock to two phases"):
        phases.recall(phases.patterns, chip="typical")
