"""Chips: an effect that is off is absent, gradients pass, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from chips import (
    DYNAMICS,
    EVERYTHING,
    HIDDEN,
    OFF,
    OTHERS,
    OUTPUTS,
    SMOOTH,
    N,
    inputs,
    made,
    model_on,
    parameters,
    scores,
)
from entrain import kernels
from entrain.hardware import (
    Asymmetry,
    ChipDraws,
    CouplingFunction,
    Dead,
    Delay,
    FrequencySpread,
    Hardware,
    Levels,
    Mismatch,
    Offset,
    PhaseNoise,
    Readout,
    Sparsity,
    Stuck,
    Wiring,
    on_chips,
    realise,
)
from entrain.kernels import reference
from entrain.physics import readout
from entrain.utils.errors import InputError
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")


# Off is absent


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", OFF)
def test_an_effect_that_is_off_changes_no_bit(name: str, dtype: torch.dtype) -> None:
    hardware, of = OFF[name], parameters(dtype)
    assert hardware.is_identity
    found = on_chips(of, hardware, [3])
    assert not found.field_changes
    assert found.parameters.tensors().keys() == of.tensors().keys()
    assert all(torch.equal(t, of.tensors()[n]) for n, t in found.parameters.tensors().items())
    ideal = readout(kernels.rollout(of.phase_model(inputs(dtype=dtype)), DYNAMICS), OUTPUTS)
    assert torch.equal(scores(hardware, 3, of=of)[0], ideal[0])


@pytest.mark.parametrize("name", SMOOTH | OTHERS)
def test_an_effect_that_is_on_changes_the_answer(name: str) -> None:
    hardware = (SMOOTH | OTHERS)[name]
    assert [each for each, _ in hardware.effects] == [name]
    assert not hardware.is_identity
    assert not torch.allclose(scores(hardware), scores(Hardware()), atol=1e-3)
    assert torch.equal(scores(hardware.without(name)), scores(Hardware()))
    assert torch.equal(scores(EVERYTHING.only(name)), scores(hardware))


# Gradients


@pytest.mark.parametrize("part", ["input_weights", "biases", "couplings"])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_through_a_chip_equal_finite_differences(name: str, part: str) -> None:
    """Along a direction that leaves the root mean square as it is: it is the unit of offsets, and
    constant to the gradient."""
    of = parameters()
    weights = random_tensor(5, N, seed=3)
    numbers = getattr(of, part)

    def loss(changed: Tensor) -> Tensor:
        network = replace(of, **{part: changed})
        found = realise(network, SMOOTH[name], ChipDraws([4], of.biases))
        phases = reference.rollout(found.phase_model(inputs()), DYNAMICS)
        return (phases.cos() * weights).sum()

    leaf = numbers.clone().requires_grad_()
    loss(leaf).backward()
    direction = random_tensor(*numbers.shape, seed=6) * (numbers != 0)
    direction = direction - numbers * (direction * numbers).sum() / numbers.square().sum()
    step = 1e-6
    apart = loss(numbers + step * direction) - loss(numbers - step * direction)
    slope = float((leaf.grad * direction).sum())
    assert slope == pytest.approx(float(apart) / (2 * step), rel=1e-6, abs=1e-7)
    assert abs(slope) > 1e-3


def test_the_straight_through_gradient_is_the_clipped_identity() -> None:
    numbers = torch.linspace(-2.0, 2.0, 41, dtype=torch.float64)[None].requires_grad_()
    for levels in (Levels(bits=2, range=1.0), Levels(levels=(-1.0, 0.0, 1.0), range=1.0)):
        numbers.grad = None
        unit = torch.ones(1, 1, dtype=torch.float64)
        (levels.rounded(numbers, unit) * random_tensor(1, 41)).sum().backward()
        inside = (numbers.abs() <= 1.0).detach()
        assert torch.equal(numbers.grad, random_tensor(1, 41) * inside)


# Refusals


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mismatch(couplings=-0.1), "couplings must be finite and at least 0, got -0.1"),
        (lambda: Offset(fields=math.nan), "fields must be finite and at least 0, got nan"),
        (lambda: Asymmetry(-1.0), "sd must be finite and at least 0"),
        (lambda: Mismatch(couplings="much"), "couplings must be a number, got 'much'"),
        (lambda: Dead(couplers=1.2), "couplers must be a share from 0 to 1, got 1.2"),
        (lambda: Dead(couplers=1), "couplers must be a share below 1: with 100 % nothing"),
        (lambda: Dead(oscillators=1.0), "oscillators must be a share below 1"),
        (lambda: Stuck(oscillators=1.0), "oscillators must be a share below 1"),
        (lambda: Stuck(-0.1), "oscillators must be a share from 0 to 1"),
        (lambda: FrequencySpread(-1.0), "sd must be finite and at least 0"),
        (lambda: CouplingFunction(math.inf), "lag must be finite, got inf"),
        (lambda: CouplingFunction(second=math.nan), "second must be finite, got nan"),
        (lambda: CouplingFunction(second_even="x"), "second_even must be a number, got 'x'"),
        (lambda: Delay(-0.1), "time must be finite and at least 0, got -0.1"),
        (lambda: PhaseNoise(-0.1), "temperature must be finite and at least 0"),
        (lambda: Levels(bits=1), r"bits must be from 2 to 24, got 1; .* levels = \[-1, 1\]"),
        (lambda: Levels(bits=0), "bits must be a whole number of at least 1, got 0"),
        (lambda: Levels(bits=25), "bits must be a whole number up to 24, got 25"),
        (lambda: Levels(), "give bits or levels of the couplings, one of them; got neither"),
        (lambda: Levels(bits=3, levels=(0.0, 1.0)), "got both"),
        (lambda: Levels(levels=(1.0, 0.0)), "levels must be two or more, in rising order"),
        (lambda: Levels(levels=(0.0, 0.0)), "levels must be two or more, in rising order"),
        (lambda: Levels(levels=(0.5,)), "levels must be two or more, in rising order"),
        (lambda: Levels(levels=(-2.0, 2.0)), "levels are in units of the range, from -1 to 1"),
        (lambda: Levels(bits=3, range=0.0), "range must be finite and above 0"),
        (lambda: Levels(bits=3, rule="mx"), "unknown rule 'mx'; did you mean 'max'"),
        (lambda: Levels(bits=3, part="fields"), "fields change with the input"),
        (lambda: Readout(bits=0), "bits of the phase must be a whole number of at least 1"),
        (lambda: Readout(noise=-1.0), "noise must be finite and at least 0"),
        (lambda: Readout(jitter=0.6), "jitter and spread of t_f must be at most 0.5"),
        (lambda: Sparsity(0.0), "kept must be above 0"),
        (lambda: Mismatch(couplings=10), "couplings is a relative spread, 0.1 for 10 %"),
        (lambda: Offset(fields=20.0), "at most 5; got 20. Was it meant in percent"),
        (lambda: Sparsity(-0.5), "kept must be a share from 0 to 1, got -0.5"),
        (lambda: Sparsity(1.5), "kept must be a share from 0 to 1, got 1.5"),
        (lambda: Wiring("king"), "unknown kind 'king'; did you mean 'kings'"),
        (lambda: Wiring("random", degree=0), "degree must be a whole number of at least 1"),
        (lambda: Wiring("ring", degree=3), "the degree of a ring must be even, got 3"),
        (lambda: Wiring(mask=((1, 0),)), r"mask must list couplers .* got \(1, 0\)"),
        (lambda: Wiring(mask=((0, 1, 2),)), r"mask must list couplers .* got \(0, 1, 2\)"),
        (lambda: Wiring(mask=5), "mask must list couplers .* got 5"),
        (lambda: Hardware(mismatch=0.1), "mismatch must be a Mismatch, got 0.1"),
        (
            lambda: Hardware(weight_levels=Levels(bits=3, part="biases")),
            "weight_levels must be Levels.part='input_weights', .*got 'biases'",
        ),
        (
            lambda: Hardware(coupling_levels=Levels(bits=3, part="biases")),
            "coupling_levels must be Levels.part='couplings'",
        ),
        (
            lambda: Hardware(field_levels=Levels(bits=3)),
            "field_levels: fields change with the input",
        ),
        (lambda: Hardware(oscillators=0), "oscillators must be a whole number of at least 1"),
        (lambda: Hardware().sample(-1), "seed must be a whole number from 0 to 4294967295"),
        (lambda: Hardware().without("missmatch"), "did you mean 'mismatch'"),
        (lambda: Hardware().only("chips"), "unknown effect 'chips'"),
        (lambda: Hardware.from_json([]), "hardware must be effects by name, got list"),
        (lambda: Hardware.from_json({"mismach": {}}), "unknown effect 'mismach'; did you mean"),
        (lambda: Hardware.from_json({"dead": {"couplings": 0.1}}), "unknown entry of dead"),
        (lambda: Hardware.from_json({"dead": 0.1}), "dead must be its entries by name, got 0.1"),
        (lambda: Hardware.from_json({"dead": {"couplers": -1}}), "dead: couplers must be"),
    ],
)
def test_invalid_effects_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_levels_get_their_part_from_the_name_of_the_effect() -> None:
    short = Hardware(
        coupling_levels=Levels(bits=4),
        weight_levels=Levels(bits=6),
        bias_levels=Levels(bits=5, rule="couplings"),
        field_levels=Levels(bits=5, rule="absolute"),
    )
    assert short == Hardware(
        coupling_levels=Levels(bits=4, part="couplings"),
        weight_levels=Levels(bits=6, part="input_weights"),
        bias_levels=Levels(bits=5, rule="couplings", part="biases"),
        field_levels=Levels(bits=5, rule="absolute", part="fields"),
    )
    assert Hardware.from_json(short.to_json()) == short
    of = parameters()
    found = made(Hardware(weight_levels=Levels(bits=2)), of=of)
    assert len(found.input_weights.unique()) <= 3
    assert torch.equal(found.couplings, of.couplings)


@pytest.mark.parametrize(
    ("hardware", "message"),
    [
        (Hardware(oscillators=N - 1), f"network has {N} oscillators, the chip {N - 1}: room for "
         f"{HIDDEN - 1} hidden ones beside {OUTPUTS} outputs, got {HIDDEN}"),
        (Hardware(wiring=Wiring(mask=((0, N),))), rf"coupler \(0, {N}\), the network {N}"),
        (Hardware(wiring=Wiring("ring", degree=N)), f"degree must be below the {N} oscillators"),
        (Hardware(wiring=Wiring("random", degree=99)), "degree must be below"),
    ],
)  # fmt: skip
def test_a_chip_refuses_a_network_that_does_not_fit(hardware: Hardware, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model_on(hardware)
