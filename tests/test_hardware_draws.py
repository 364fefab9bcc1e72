"""A chip is a pure function of its seed, and many chips spread as their kind says."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from chips import (
    DYNAMICS,
    EVERYTHING,
    OUTPUTS,
    N,
    inputs,
    made,
    parameters,
    scores,
)
from command_line import threads
from entrain.evaluation.chips import scores_on_chips
from entrain.hardware import (
    Asymmetry,
    ChipDraws,
    Dead,
    Hardware,
    Levels,
    Mismatch,
    Offset,
    PhaseNoise,
    Readout,
    Stuck,
    noise_seeds,
    on_chips,
    preset,
    realise,
)
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")


# A chip is a pure function of its seed


def test_a_chip_does_not_depend_on_chips_beside_it() -> None:
    many = made(EVERYTHING, *range(1000)).tensors()
    for seed in (0, 7, 999):
        alone = made(EVERYTHING, seed).tensors()
        assert alone.keys() == many.keys()
        assert all(torch.equal(tensor[0], many[name][seed]) for name, tensor in alone.items())
    lanes = many["couplings"].reshape(1000, -1)
    assert len(torch.unique(lanes, dim=0)) == 1000


def test_scores_do_not_depend_on_chips_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on other chips, on other networks, nor on how chips and samples are cut into parts."""
    of, other = parameters(), parameters(seed=1)
    both = of.map(lambda tensor: tensor)
    both = replace(
        of, **{name: torch.cat([t, other.tensors()[name]]) for name, t in both.tensors().items()}
    )
    whole = scores_on_chips(both, EVERYTHING, range(4), inputs(), DYNAMICS)
    assert whole.shape == (2, 4, 5, OUTPUTS)
    for run, one in enumerate((of, other)):
        for chip in range(4):
            alone = scores_on_chips(one, EVERYTHING, [chip], inputs(), DYNAMICS)[0, 0]
            assert torch.allclose(whole[run, chip], alone, rtol=0, atol=1e-12)
    for at_a_time in (1, 6):
        monkeypatch.setattr("entrain.evaluation.chips._AT_A_TIME", at_a_time)
        parts = scores_on_chips(both, EVERYTHING, range(4), inputs(), DYNAMICS)
        assert torch.allclose(parts, whole, rtol=0, atol=1e-12)
    monkeypatch.setattr("entrain.evaluation.chips._NUMBERS", 1)
    parts = scores_on_chips(both, EVERYTHING, range(4), inputs(), DYNAMICS)
    assert torch.allclose(parts, whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2])
def test_the_range_of_a_chip_does_not_depend_on_chips_beside_it(count: int) -> None:
    """PyTorch shares the sum of a single row out to threads, which may round otherwise."""
    numbers = random_tensor(5, 64, 784, seed=2).float()
    with threads(count):
        levels = Levels(bits=6, part="input_weights", range=4.0)
        whole = levels._unit(numbers)
        alone = torch.cat([levels._unit(one) for one in numbers.split(1)])
    assert torch.equal(whole, alone)


NOISY = Hardware(phase_noise=PhaseNoise(0.2), readout=Readout(noise=0.1, jitter=0.1))


def test_every_chip_has_its_own_draw_of_noise() -> None:
    first, second = scores(NOISY, 0, 1)
    assert not torch.allclose(first, second, atol=1e-3)
    assert not torch.allclose(first, scores(NOISY, 0, noise_seed=1)[0], atol=1e-3)
    for part in (NOISY.only("phase_noise"), NOISY.only("readout")):
        assert not torch.allclose(*scores(part, 0, 1), atol=1e-3)


def test_noise_of_a_chip_does_not_depend_on_chips_beside() -> None:
    together = scores(NOISY, 9, 2, 5, noise_seed=3)
    assert torch.equal(together[1], scores(NOISY, 2, noise_seed=3)[0])
    assert torch.equal(together[:2], scores(NOISY, 9, 2, noise_seed=3))


def test_seeds_of_noise_are_words_of_philox() -> None:
    tag = int.from_bytes(b"infr", "big")
    seeds = [0, 7, 2**32 - 1]
    assert noise_seeds(5, seeds) == [philox([seed, 0, 0, 0], [5, tag])[0] for seed in seeds]
    assert len(set(noise_seeds(0, range(1000)))) == 1000


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox 4x32-10 of Salmon et al. 2011 in Python's whole numbers."""
    c, k = counter, key
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            (second >> 32) ^ c[1] ^ k[0],
            second % 2**32,
            (first >> 32) ^ c[3] ^ k[1],
            first % 2**32,
        ]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def first_normal(i: int, j: int, key: list[int]) -> float:
    words = philox([i, j, 0, 0], key)
    radius = math.sqrt(-2 * math.log((words[0] + 0.5) / 2**32))
    return radius * math.cos(2 * math.pi * (words[1] + 0.5) / 2**32)


@pytest.mark.parametrize("seed", [0, 5, 2**32 - 1])
def test_mismatch_equals_the_playground(seed: int) -> None:
    """Key (seed, "mism"), counter (i, j, 0, 0) for i < j, as playground/src/core/hardware.ts."""
    assert philox([0, 0, 0, 0], [0, 0])[0] == 0x6627E8D5  # of the authors' test vectors
    couplings = parameters().couplings[0]
    found = made(Hardware(mismatch=Mismatch(couplings=0.1)), seed).couplings[0]
    for i in range(N):
        for j in range(i + 1, N):
            wanted = float(couplings[i, j]) * (1 + 0.1 * first_normal(i, j, [seed, 0x6D69736D]))
            assert float(found[i, j]) == pytest.approx(wanted, rel=1e-12)
            assert found[i, j] == found[j, i]


def test_uniform_variates_are_the_third_word() -> None:
    found = ChipDraws([9], torch.zeros((), dtype=torch.float64)).uniform("dead", 3, 2)[0]
    tag = int.from_bytes(b"dead", "big")
    for i in range(3):
        for j in range(2):
            word = philox([i, j, 0, 0], [9, tag])[2]
            assert float(found[i, j]) == pytest.approx((word + 0.5) / 2**32, rel=1e-12)


# Statistics over chips


SEEDS = range(2000)


def relative(changed: Tensor, ideal: Tensor) -> Tensor:
    used = ideal[0] != 0
    return (changed[:, used] - ideal[0][used]) / ideal[0][used]


@pytest.mark.parametrize("part", ["couplings", "input_weights", "biases"])
def test_mismatch_has_mean_one_and_its_deviation(part: str) -> None:
    of = parameters()
    found = relative(
        getattr(made(Hardware(mismatch=Mismatch(**{part: 0.1})), *SEEDS), part), getattr(of, part)
    )
    count = found.shape[0] * (found.shape[1] / (2 if part == "couplings" else 1))
    assert abs(float(found.mean())) < 4 * 0.1 / math.sqrt(count)
    assert float(found.std()) == pytest.approx(0.1, rel=4 / math.sqrt(2 * count))
    each = found.std(0)  # of one part over chips
    assert float(each.min()) > 0.09
    assert float(each.max()) < 0.11


def test_mismatch_of_fields_belongs_to_the_oscillator() -> None:
    of = parameters()
    ideal = of.phase_model(inputs()).fields[0]
    found = on_chips(of, Hardware(mismatch=Mismatch(fields=0.2)), SEEDS).phase_model(inputs())
    gains = found.fields / ideal
    assert torch.allclose(gains, gains[:, :1].expand_as(gains))
    assert float(gains[:, 0].std()) == pytest.approx(0.2, rel=0.03)


def test_offsets_are_in_units_of_the_root_mean_square() -> None:
    of = parameters()
    hardware = Hardware(offset=Offset(couplings=0.1, input_weights=0.2, fields=0.3))
    found = on_chips(of, hardware, SEEDS)
    unit = of.couplings[of.couplings != 0].square().mean().sqrt()
    for part, size, rms in (
        ("couplings", 0.1, unit),
        ("input_weights", 0.2, of.input_weights.square().mean().sqrt()),
    ):
        ideal, changed = getattr(of, part), getattr(found.parameters, part)
        added = (changed - ideal)[:, ideal[0] != 0]
        assert float(added.std()) == pytest.approx(float(size * rms), rel=0.02)
        assert not changed[:, ideal[0] == 0].any()  # a coupler that is not there has no offset
    clean = replace(found, field_changes=()).phase_model(inputs()).fields
    shift = found.phase_model(inputs()).fields - clean
    assert float(shift[:, 0].std()) == pytest.approx(float(0.3 * unit), rel=0.03)


def test_shares_of_dead_and_stuck_parts() -> None:
    of = parameters()
    used = of.couplings[0].triu(1) != 0
    alive = made(Hardware(dead=Dead(couplers=0.07)), *SEEDS).couplings
    assert torch.equal(alive, alive.mT)
    assert float((alive[:, used] == 0).double().mean()) == pytest.approx(0.07, abs=0.003)
    still = on_chips(of, Hardware(dead=Dead(oscillators=0.2)), SEEDS).moving
    assert float((~still).double().mean()) == pytest.approx(0.2, abs=0.01)
    found = on_chips(of, Hardware(stuck=Stuck(0.3)), SEEDS)
    assert float((~found.moving).double().mean()) == pytest.approx(0.3, abs=0.012)
    places = found.parameters.start_phases[~found.moving]
    assert float(places.min()) >= -math.pi
    assert float(places.max()) <= math.pi
    assert float(places.std()) == pytest.approx(2 * math.pi / math.sqrt(12), rel=0.02)


def test_mismatch_is_symmetric_and_asymmetry_is_not() -> None:
    for kind in (Hardware(mismatch=Mismatch(couplings=0.3)), Hardware(dead=Dead(0.1, 0.1))):
        couplings = made(kind, *range(5)).couplings
        assert torch.equal(couplings, couplings.mT)
    couplings = made(Hardware(asymmetry=Asymmetry(0.3)), *SEEDS).couplings
    gains = relative(couplings, parameters().couplings)
    assert float(gains.std()) == pytest.approx(0.3, rel=0.02)
    used = parameters().couplings[0].triu(1) != 0
    ratio = couplings / parameters().couplings
    pairs = torch.stack([ratio[:, used].flatten(), ratio.mT[:, used].flatten()])
    assert abs(float(torch.corrcoef(pairs)[0, 1])) < 0.02


def test_a_chip_equals_the_same_seed_among_many() -> None:
    kind, of = preset("typical"), parameters()
    one, several = realise(of, kind.sample(4)), on_chips(of, kind, [4])
    assert torch.equal(one.parameters.couplings, several.parameters.couplings)
    assert torch.equal(one.parameters.input_weights, several.parameters.input_weights)
    other = realise(of, kind.sample(5)).parameters.couplings
    assert not torch.equal(one.parameters.couplings, other)
