"""What each effect does but wiring: levels, dead and stuck parts, frequencies, noise, readout."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from chips import (
    DYNAMICS,
    OUTPUTS,
    N,
    inputs,
    made,
    model_on,
    parameters,
    phases_on,
    scores,
)
from entrain.evaluation.chips import scores_on_chips
from entrain.hardware import (
    ChipDraws,
    CouplingFunction,
    Dead,
    Delay,
    FrequencySpread,
    Hardware,
    Levels,
    Mismatch,
    PhaseNoise,
    Readout,
    Stuck,
    noise_seeds,
    on_chips,
)
from entrain.kernels import reference
from entrain.physics import Dynamics, drift
from networks import random_network, random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")


# Levels


def pages(couplings: np.ndarray, bits: int) -> np.ndarray:
    """`quantise` of playground/src/core/hardware.ts, in NumPy."""
    levels = 2 ** (bits - 1) - 1
    step = np.abs(couplings).max() / levels
    level = np.floor(np.abs(couplings) / step + 0.5)
    return np.sign(couplings) * level * step


@pytest.mark.parametrize("bits", [2, 3, 4, 6])
def test_levels_of_the_largest_coupling_equal_the_playground(bits: int) -> None:
    of = parameters()
    hardware = Hardware(coupling_levels=Levels(bits=bits, rule="max", range=1.0))
    found = made(hardware, of=of).couplings[0]
    assert np.array_equal(found.numpy(), pages(of.couplings[0].numpy(), bits))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 8])
def test_rounded_values_are_exactly_levels(bits: int, dtype: torch.dtype) -> None:
    """2^b - 1 of them, evenly spaced, symmetric, the nearest, clipped at the range."""
    numbers = torch.linspace(-1.1, 1.1, 20001, dtype=dtype)[None]
    unit = torch.full((1, 1), 0.7, dtype=dtype)
    found = Levels(bits=bits).rounded(numbers, unit)
    levels = found.unique()
    assert len(levels) == 2**bits - 1
    assert torch.equal(levels, -levels.flip(0))
    step = 0.7 / (2 ** (bits - 1) - 1)
    assert torch.allclose(levels.diff(), torch.full_like(levels[1:], step), rtol=1e-4)
    inside = numbers.abs() <= 0.7
    assert float((found - numbers)[inside].abs().max()) <= 0.5001 * step
    assert torch.equal(found[numbers > 0.7].unique(), levels[-1:])


@pytest.mark.parametrize("levels", [(-1.0, 1.0), (-1.0, 0.0), (-1.0, 0.0, 1.0), (-0.9, 0.2, 0.7)])
def test_given_levels_are_exact_and_the_nearest(levels: tuple[float, ...]) -> None:
    numbers = random_tensor(1, 5000).float()
    unit = torch.full((1, 1), 1.3)
    found = Levels(levels=levels).rounded(numbers, unit)
    places = torch.tensor(levels) * 1.3
    assert torch.equal(found.unique(), places)
    distance = (numbers.clamp(-1.3, 1.3)[..., None] - places).abs().amin(-1)
    assert torch.allclose((found - numbers.clamp(-1.3, 1.3)).abs(), distance, atol=1e-6)


def test_halves_are_rounded_away_from_zero() -> None:
    unit = torch.ones(1, 1)
    halves = torch.tensor([[-0.75, -0.25, 0.25, 0.75]])
    wanted = torch.tensor([[-1.0, -0.5, 0.5, 1.0]])
    given = Levels(levels=(-1.0, -0.5, 0.0, 0.5, 1.0))
    assert torch.equal(given.rounded(halves, unit), wanted)
    thirds = torch.tensor([[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]])
    found = Levels(bits=3).rounded(thirds, 3 * unit)
    assert torch.equal(found, torch.tensor([[-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]]))


@pytest.mark.parametrize("rule", ["rms", "max", "absolute", "couplings"])
def test_the_range_of_each_rule(rule: str) -> None:
    of = parameters()
    part = Levels(levels=(-1.0, 1.0), part="biases", range=0.5, rule=rule)
    found = made(Hardware(bias_levels=part), of=of).biases
    couplings = of.couplings[of.couplings != 0]
    size = {
        "rms": of.biases.square().mean().sqrt(),
        "max": of.biases.abs().max(),
        "absolute": torch.ones((), dtype=torch.float64),
        "couplings": couplings.square().mean().sqrt(),
    }[rule]
    assert torch.allclose(found.abs(), (0.5 * size).expand_as(found))
    assert torch.equal(found.sign(), of.biases.sign())


def test_levels_of_fields_round_the_fields_of_each_input() -> None:
    levels = Levels(bits=3, part="fields", rule="couplings", range=2.0)
    fields = model_on(Hardware(field_levels=levels)).fields
    assert len(fields.unique()) <= 7
    ideal = model_on(Hardware()).fields
    unit = 2 * parameters().couplings[parameters().couplings != 0].square().mean().sqrt()
    apart = (fields - ideal.clamp(-float(unit), float(unit))).abs()
    assert float(apart.max()) <= float(unit) / 3 * 0.5001


def test_a_range_in_units_of_zero_couplings_changes_nothing() -> None:
    of = replace(parameters(), couplings=torch.zeros(1, N, N, dtype=torch.float64))
    levels = Levels(bits=3, part="fields", rule="couplings")
    found = model_on(Hardware(field_levels=levels), of=of).fields
    assert torch.equal(found, of.phase_model(inputs()).fields)
    assert not made(Hardware(coupling_levels=Levels(bits=3)), of=of).couplings.any()


# Oscillators


SPINNING = {"frequencies": random_tensor(N, seed=8), "injection": random_tensor(N, seed=9)}


@pytest.mark.parametrize("terms", [{}, SPINNING], ids=["plain", "terms"])
def test_a_dead_oscillator_stays_at_its_start_and_acts_on_no_other(
    terms: dict[str, Tensor],
) -> None:
    of = parameters(**terms)
    hardware = Hardware(
        mismatch=Mismatch(fields=0.2),
        dead=Dead(oscillators=0.4),
        frequency_spread=FrequencySpread(3.0),
    )
    dead = ~on_chips(of, hardware, [1]).moving[0]
    assert 0 < int(dead.sum()) < N
    phases = phases_on(hardware, 1, of=of)
    assert torch.allclose(phases[:, dead].cos(), torch.zeros((), dtype=torch.float64))
    model = model_on(hardware, 1, of=of)
    pushed = replace(model, start=math.pi / 2 + dead.double().expand_as(model.fields))
    moved = reference.rollout(pushed, DYNAMICS)[0]
    assert torch.equal(moved[:, ~dead], phases[:, ~dead])


@pytest.mark.parametrize("terms", [{}, SPINNING], ids=["plain", "terms"])
def test_a_stuck_oscillator_keeps_its_phase_and_acts_on_others(terms: dict[str, Tensor]) -> None:
    of = parameters(**terms)
    hardware = Hardware(stuck=Stuck(0.4), frequency_spread=FrequencySpread(3.0))
    found = on_chips(of, hardware, [1])
    stuck = ~found.moving[0]
    assert 0 < int(stuck.sum()) < N
    phases = phases_on(hardware, 1, of=of)
    places = found.parameters.start_phases[0]
    assert torch.equal(phases[:, stuck], places[stuck].expand_as(phases[:, stuck]))
    assert torch.equal(places[~stuck], torch.full_like(places[~stuck], math.pi / 2))
    model = model_on(hardware, 1, of=of)
    elsewhere = replace(model, start=model.start + stuck)
    moved = reference.rollout(elsewhere, DYNAMICS)[0]
    assert not torch.allclose(moved[:, ~stuck], phases[:, ~stuck], atol=1e-3)


def test_free_oscillators_drift_apart_by_sd_times_t() -> None:
    of = parameters().map(torch.zeros_like)
    found = on_chips(of, Hardware(frequency_spread=FrequencySpread(2.0)), range(500))
    phases = reference.rollout(found.phase_model(inputs(1)), DYNAMICS) - math.pi / 2
    assert torch.allclose(phases[:, 0], found.parameters.frequencies * DYNAMICS.observation_time)
    assert float(phases.std()) == pytest.approx(2.0 * 0.4, rel=0.03)


def test_spread_and_lag_are_added_to_the_networks_own() -> None:
    own = {
        "frequencies": random_tensor(N, seed=8),
        "lag": torch.tensor(0.3),
        "harmonic": torch.tensor([0.1, 0.4]),
    }
    spread, lagged = FrequencySpread(2.0), CouplingFunction(0.2, second=0.5, second_even=-0.1)
    plain = made(Hardware(frequency_spread=spread))
    both = made(Hardware(frequency_spread=spread, coupling_function=lagged), of=parameters(**own))
    assert torch.allclose(both.frequencies, plain.frequencies + own["frequencies"])
    assert float(both.lag[0]) == pytest.approx(0.5)
    assert both.harmonic[0].tolist() == pytest.approx([0.6, 0.3])


@pytest.mark.parametrize("lag", [0.0, 0.4])
@pytest.mark.parametrize(("c", "d"), [(0.0, 0.0), (0.3, 0.0), (0.0, -0.2), (0.3, -0.2)])
def test_the_drift_has_the_coupling_function(lag: float, c: float, d: float) -> None:
    of = parameters()
    model = model_on(Hardware(coupling_function=CouplingFunction(lag, c, d)), of=of)
    assert (model.lag is None, model.harmonic is None) == (lag == 0, c == d == 0)
    phases = random_tensor(5, N, seed=5)
    apart = phases[:, :, None] - phases[:, None, :]
    g = torch.sin(apart + lag) + c * torch.sin(2 * apart) + d * torch.cos(2 * apart)
    torque = (of.couplings * g).sum(-1)
    wanted = -(model.fields[0] * phases.sin() + torque)
    assert torch.allclose(drift(phases[None], model, 1.0)[0], wanted)


def test_a_delayed_chip_is_a_delayed_rollout() -> None:
    of = parameters()
    ideal = of.phase_model(inputs())
    phases = phases_on(Hardware(delay=Delay(0.1)), of=of)
    assert torch.equal(phases, reference.rollout(replace(ideal, delay=0.1), DYNAMICS)[0])
    # With a delay beyond t_f couplings see the start alone, which is one more field.
    towards_start = of.couplings.sum(-1)[:, None]
    alone = replace(
        ideal,
        couplings=torch.zeros_like(of.couplings),
        other_terms=(lambda now: towards_start * torch.sin(now - math.pi / 2),),
    )
    late = phases_on(Hardware(delay=Delay(9.0)), of=of)
    assert torch.allclose(late, reference.rollout(alone, DYNAMICS)[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_thermal_noise_equals_that_of_simulate(dtype: torch.dtype) -> None:
    network = random_network(6, 9, 3, dtype=dtype, observation_time=0.4, steps=40)
    hardware = Hardware(phase_noise=PhaseNoise(0.3))
    found = scores(hardware, 5, of=parameters(dtype), noise_seed=7)
    (seed,) = noise_seeds(7, [5])
    wanted = network.simulate(inputs(dtype=dtype), temperature=0.3, seed=seed)
    phases = wanted.final.detach()
    assert torch.allclose(found[0], phases[:, -OUTPUTS:].cos(), rtol=0, atol=1e-5)


# Readout


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8])
def test_phases_are_read_with_few_bits_and_ties_are_exact(bits: int, dtype: torch.dtype) -> None:
    """2^b places have 2^(b-1) + 1 cosines; a phase and its mirror image are read alike."""
    phases = torch.linspace(-9.0, 9.0, 20001, dtype=dtype)[None, :, None]
    draws = ChipDraws([0], phases)
    found = Readout(bits=bits).scores(phases, None, 1.0, draws, draws)
    assert len(found.unique()) == 2 ** (bits - 1) + 1
    assert torch.equal(found, found.flip(1))
    exact = (torch.round(phases.double() * 2**bits / (2 * math.pi)) * 2 * math.pi / 2**bits).cos()
    close = (found - exact).abs() < 1e-6
    assert float(close.double().mean()) > 0.999  # all but halves, which fall either way
    assert float((found - phases.cos()).abs().max()) <= 2 * math.pi / 2**bits


def test_ties_give_the_first_class() -> None:
    phases = torch.tensor([[[0.1, -0.1, 2.0]]])
    found = Readout(bits=3).scores(phases, None, 1.0, None, None)
    assert found[0, 0, 0] == found[0, 0, 1]
    assert int(found.argmax(-1)) == 0


def test_comparators_have_an_offset_of_the_chip_and_noise_of_the_run() -> None:
    ideal = scores(Hardware())
    offsets = scores(Hardware(readout=Readout(offset=0.1)), *range(3000)) - ideal
    assert torch.allclose(offsets, offsets[:, :1].expand_as(offsets))
    assert float(offsets[:, 0].std()) == pytest.approx(0.1, rel=0.03)
    noisy = Hardware(readout=Readout(noise=0.2))
    runs = torch.cat([scores(noisy, noise_seed=seed) - ideal for seed in range(300)])
    assert float(runs.std()) == pytest.approx(0.2, rel=0.03)


@pytest.mark.parametrize("what", ["spread", "jitter"])
def test_a_late_reading_is_a_longer_run_to_first_order(what: str) -> None:
    """What is left falls with the square of the delay."""
    of, steps = parameters(), 1000  # so fine that Euler's own error does not show
    errors = []
    for size in (0.04, 0.02):
        hardware = Hardware(readout=Readout(**{what: size}))
        dynamics = Dynamics(1.0, 0.4, steps)
        found = scores_on_chips(of, hardware, [3], inputs(), dynamics, noise_seed=3)[0, 0]
        late = (
            ChipDraws([3], found).normal("tfsp", 1)[0]
            if what == "spread"
            else ChipDraws(noise_seeds(3, [3]), found).normal("tfji", 5, 1)[0, :, 0]
        )
        worst = 0.0
        for row, delay in enumerate(late.expand(5).tolist()):
            longer = Dynamics(1.0, 0.4 * (1 + size * delay), steps)
            model = of.phase_model(inputs()[row : row + 1])
            phases = reference.rollout(model, longer)[0, 0, -OUTPUTS:]
            worst = max(worst, float((found[row] - phases.cos()).abs().max()))
        errors.append(worst)
    assert errors[0] < 0.05
    assert errors[1] < 0.35 * errors[0]
