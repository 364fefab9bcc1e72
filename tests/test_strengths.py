"""Strengths of effects: ladders of five, and a kind of chip around its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from chips import DYNAMICS, EVERYTHING, made, scores
from entrain.hardware import (
    Dead,
    Hardware,
    Levels,
    Mismatch,
    Readout,
    Sparsity,
    Stuck,
    Wiring,
    preset,
    presets,
)
from entrain.hardware.strengths import LADDERS, label, ladder, variations
from entrain.utils.errors import InputError


@pytest.mark.parametrize("name", LADDERS)
def test_a_ladder_goes_from_weak_to_strong(name: str) -> None:
    """Each strength has one effect and moves the scores further from the ideal than the last."""
    fine: dict[str, Any] = {"dynamics": replace(DYNAMICS, steps=200)}
    ideal, seeds = scores(Hardware(), *range(8), **fine), range(8)
    moved = []
    for each in ladder(name):
        assert [effect for effect, _ in each.hardware.effects] == [each.effect]
        moved.append(float((scores(each.hardware, *seeds, **fine) - ideal).abs().mean()))
    assert len(moved) == 5
    assert moved[0] < moved[2] < moved[4]
    assert len({each.label for each in ladder(name)}) == 5


def test_labels_have_the_units_of_the_field() -> None:
    labels = {name: ladder(name)[1].label for name in LADDERS}
    assert labels["coupling_bits"] == "6 bits"
    assert labels["coupling_mismatch"] == "10 %"
    assert labels["couplers_kept"] == "75 % kept"
    assert labels["frequency_spread"] == "1 rad/time"
    assert labels["phase_noise"] == "kT 0.1"
    assert label("mismatch", Mismatch(couplings=0.1, fields=0.2)) == "10 %, 20 %"
    assert label("readout", Readout(bits=1, jitter=0.02)) == "1 bit, 2 %"


def test_variations_are_around_the_strength_of_the_hardware() -> None:
    typical = preset("typical")
    for name, effect in typical.effects:
        around = variations(typical, name)
        assert [each.value for each in around] == [0.25, 0.5, 1.0, 2.0, 4.0]
        assert around[2].hardware == typical
        assert around[2].label == label(name, effect)
        assert {each.hardware.without(name) for each in around} == {typical.without(name)}
    assert [each.label for each in variations(typical, "coupling_levels")] == [
        f"{bits} bits" for bits in (6, 5, 4, 3, 2)
    ]
    assert [each.hardware.dead for each in variations(typical, "dead")] == [
        Dead(couplers=share) for share in (0.005, 0.01, 0.02, 0.04, 0.08)
    ]


@pytest.mark.parametrize("name", [name for name, _ in EVERYTHING.effects])
def test_a_stronger_effect_moves_a_network_further(name: str) -> None:
    kinds = [each.hardware.only(name) for each in variations(EVERYTHING, name)]
    if name in ("wiring", "measured"):  # which have no strength
        assert kinds == []
        return
    ideal = scores(Hardware(), *range(8))
    moved = [float((scores(kind, *range(8)) - ideal).abs().mean()) for kind in kinds]
    assert moved[0] < moved[-1]


def test_variations_stop_at_the_limits_of_an_effect() -> None:
    """What it would reach twice stands once, by the factor nearest to 1."""
    dead = variations(Hardware(dead=Dead(couplers=0.4)), "dead")  # 4 times as many are all
    assert [(each.value, each.label) for each in dead][2:] == [(1.0, "40 %"), (2.0, "80 %")]
    stuck = variations(Hardware(stuck=Stuck(0.5)), "stuck")
    assert [(each.value, each.label) for each in stuck][1:] == [(0.5, "25 %"), (1.0, "50 %")]
    coarse = variations(Hardware(coupling_levels=Levels(bits=2)), "coupling_levels")
    assert [(each.value, each.label) for each in coarse] == [
        (0.25, "4 bits"),
        (0.5, "3 bits"),
        (1.0, "2 bits"),
    ]
    late = variations(Hardware(readout=Readout(spread=0.3)), "readout")
    assert late[-1].hardware.readout == Readout(spread=0.5)
    few = variations(Hardware(sparsity=Sparsity(0.5)), "sparsity")
    assert [each.label for each in few][3:] == ["25 % kept", "6.25 % kept"]


def test_listed_levels_that_are_even_get_coarser_and_keep_zero() -> None:
    integers = variations(preset("lo-2023"), "coupling_levels")
    assert [each.label for each in integers] == [
        f"{count} levels" for count in (113, 57, 29, 15, 9)
    ]
    one_sign = variations(preset("ahmed-2021"), "coupling_levels")
    assert one_sign[0].hardware.coupling_levels.levels == (-1.0, -0.75, -0.5, -0.25, 0.0)
    for each in (*integers, *one_sign):
        assert 0.0 in each.hardware.coupling_levels.levels
    uneven = Hardware(coupling_levels=Levels(levels=(-1.0, -0.25, 0.0, 1.0)))
    assert variations(uneven, "coupling_levels") == ()
    thirds = Hardware(coupling_levels=Levels(levels=(-1.0, -0.667, -0.333, 0.0)))
    assert [each.label for each in variations(thirds, "coupling_levels")][3] == "3 levels"
    assert variations(Hardware(coupling_levels=Levels(levels=(-1.0, 1.0))), "coupling_levels") == ()


def test_twice_the_mismatch_is_twice_as_far_for_the_same_chip() -> None:
    once = Hardware(mismatch=Mismatch(couplings=0.1))
    twice = once.scaled("mismatch", 2.0)
    ideal = made(Hardware(), 3).couplings
    assert torch.allclose(
        made(twice, 3).couplings - ideal, 2 * (made(once, 3).couplings - ideal), atol=1e-12
    )


@pytest.mark.parametrize("name", presets())
def test_every_preset_has_variations(name: str) -> None:
    kind = preset(name)
    for effect, _ in kind.effects:
        around = variations(kind, effect)
        assert around == () or kind in [each.hardware for each in around]


def test_effects_without_a_strength_have_no_variations() -> None:
    with pytest.raises(InputError, match="did you mean 'coupling_bits'"):
        ladder("coupling_bit")
    with pytest.raises(InputError, match="unknown effect 'mismach'"):
        Hardware().scaled("mismach", 2.0)
    with pytest.raises(InputError, match="factor must be"):
        preset("typical").scaled("mismatch", -1.0)
    assert Hardware().scaled("mismatch", 2.0) is None
    assert variations(Hardware(wiring=Wiring("kings")), "wiring") == ()
