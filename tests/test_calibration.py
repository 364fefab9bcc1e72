"""Calibration of simulated chips from their phases, and its standard errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from devices import CHIP, KIND, coupling_error, measured, small_model, true
from entrain.calibration import Calibration, Prior, Traces, calibrate, plan, simulated
from entrain.calibration.calibrate import nominal
from entrain.calibration.likelihood import Trajectories
from entrain.calibration.traces import weights
from entrain.calibration.unknowns import Unknowns
from entrain.models.model import Model
from entrain.physics import Dynamics
from entrain.utils.errors import InputError


@pytest.fixture(scope="module")
def model() -> Model:
    return small_model()


def test_weak_form_is_exact_for_noiseless_traces_of_every_step(model: Model) -> None:
    """Exactly, but for a lag, which the weak form has to first order only."""
    chip = replace(KIND, coupling_function=None).sample(CHIP.seed)
    given = simulated(model, chip, plan(model, runs=40, times=model.network.dynamics.steps))
    found = calibrate(model, given, iterations=1)
    weak = found.unknowns.programmed * found.unknowns.gains(found.weak)
    assert coupling_error(found.unknowns.programmed, model) > 0.05
    assert coupling_error(weak, model) < 0.002


@pytest.fixture(scope="module")
def noisy(model: Model) -> Calibration:
    return calibrate(model, measured(model, noise=0.02))


def test_standard_errors_match_the_errors(model: Model, noisy: Calibration) -> None:
    wanted, u = true(model), noisy.unknowns
    gains = np.ones_like(u.programmed)
    used = u.programmed != 0
    gains[used] = wanted["couplings"][used] / u.programmed[used]
    upper, lower = gains[*u.pairs.T], gains.T[*u.pairs.T]
    for name, truth in (
        ("couplings", (upper + lower) / 2 - 1),
        ("frequencies", wanted["frequencies"]),
    ):
        estimate, error = noisy.part(name)
        assert 0.5 < np.sqrt(np.square((estimate - truth) / error).mean()) < 1.7, name
    assert noisy.noise == pytest.approx(0.02, rel=0.1)


def test_likelihood_is_more_accurate_than_the_weak_form(model: Model, noisy: Calibration) -> None:
    weak = noisy.unknowns.programmed * noisy.unknowns.gains(noisy.weak)
    assert coupling_error(noisy.couplings, model) < 0.8 * coupling_error(weak, model)


@pytest.mark.slow
def test_unknown_noise_is_estimated(model: Model, noisy: Calibration) -> None:
    given = measured(model, noise=0.02)
    found = calibrate(model, replace(given, noise=None))
    assert found.noise == pytest.approx(0.02, rel=0.1)
    assert coupling_error(found.couplings, model) < 1.5 * coupling_error(noisy.couplings, model)


def test_unread_oscillator_is_estimated_from_its_neighbours(model: Model) -> None:
    given = measured(model, noise=0.002)
    assert given.phases is not None
    phases = given.phases.copy()
    phases[:, :, 3] = np.nan
    found = calibrate(model, replace(given, phases=phases), iterations=100)
    others = np.delete(np.arange(len(found.couplings)), 3)
    wanted = true(model)["couplings"]
    wrong = (found.couplings - wanted)[np.ix_(others, others)]
    assert np.sqrt(np.square(wrong).mean()) < 0.05 * np.sqrt(np.square(wanted).mean())
    before = coupling_error(found.unknowns.programmed, model)
    assert coupling_error(found.couplings, model) < 0.8 * before
    own, spread = found.part("frequencies")
    assert abs(own[3] - true(model)["frequencies"][3]) < 2 * spread[3]
    assert spread[3] > 10 * np.delete(spread, 3).max()  # and it says how little is known of it


def test_missing_readings_and_wrapped_phases(model: Model) -> None:
    given = measured(model, noise=0.002)
    assert given.phases is not None
    holes = np.random.default_rng(0).random(given.phases.shape) < 0.05
    turned = np.angle(np.exp(1j * given.phases))
    for modulo in (turned, np.mod(given.phases, 2 * np.pi)):
        found = calibrate(model, replace(given, phases=np.where(holes, np.nan, modulo)))
        assert coupling_error(found.couplings, model) < 0.03
        assert found.doubt is None


def test_impossible_readings_raise_and_unlikely_ones_warn(model: Model) -> None:
    given = measured(model, noise=0.01)
    assert given.phases is not None
    degrees = replace(given, phases=np.degrees(given.phases))
    with pytest.raises(InputError, match=r"no chip fits the traces: .*Are phases in rad"):
        calibrate(model, degrees, iterations=10)
    with pytest.warns(RuntimeWarning, match="their noise is given as 0.001 rad"):
        found = calibrate(model, replace(given, noise=0.001))
    assert found.doubt is not None
    honest = calibrate(model, given)
    assert found.part("couplings")[1].mean() > 0.5 * honest.part("couplings")[1].mean()


def test_quantised_phases_act_like_noise(model: Model) -> None:
    given = measured(model)
    assert given.phases is not None
    step = 2 * np.pi / 2**6
    rounded = replace(given, phases=np.round(given.phases / step) * step, noise=None)
    found = calibrate(model, rounded)
    assert coupling_error(found.couplings, model) < 0.5 * coupling_error(
        found.unknowns.programmed, model
    )
    assert found.noise == pytest.approx(step / np.sqrt(12), rel=0.25)


def test_undetermined_unknowns_are_reported(model: Model) -> None:
    silent = plan(model, runs=20)
    fields = silent.fields.copy()
    fields[:, 2] = 0.0
    given = simulated(model, CHIP, Traces(silent.times, fields), noise=0.01)
    found = calibrate(model, given, iterations=10)
    assert found.not_shown["fields"] == [2]
    assert found.part("fields")[1][2] == pytest.approx(Prior().fields, rel=0.01)


def test_prior_of_zero_fixes_unknowns(model: Model) -> None:
    prior = Prior(asymmetry=0.0, offsets=0.0, frequencies=0.0, lag=0.0)
    found = calibrate(model, measured(model), prior=prior, iterations=3)
    assert set(found.unknowns.parts) == {"couplings", "fields"}
    effect = found.hardware.measured
    assert effect is not None
    assert effect.offsets is None
    assert effect.frequencies is None
    assert effect.lag == 0.0
    gains = np.array(effect.couplings)
    assert np.array_equal(gains, gains.T)


def test_likelihood_gradient_matches_finite_differences(model: Model) -> None:
    given = measured(model, runs=5, noise=0.1)
    _, base = nominal(model, torch.from_numpy(given.fields))
    unknowns = Unknowns(base.couplings[0].numpy(), Prior())
    dynamics = model.network.dynamics
    assert given.phases is not None
    target = Trajectories(
        unknowns,
        base.map(torch.Tensor.float),
        dynamics,
        given.phases,
        weights(given.times, dynamics),
    )
    draws = np.random.default_rng(0)
    x = 0.05 * unknowns.spread * draws.standard_normal(len(unknowns))
    _, gradient = target.minus_log(x, 0.1)
    for part in unknowns.parts.values():
        way = np.zeros(len(unknowns))
        way[part] = unknowns.spread[part] * draws.standard_normal(len(way[part]))
        size = 1e-2 / np.sqrt(len(way[part]))
        up, down = (target.minus_log(x + sign * size * way, 0.1)[0] for sign in (1, -1))
        assert (up - down) / (2 * size) == pytest.approx(float(gradient @ way), rel=0.02, abs=0.5)


def test_readings_are_interpolated_linearly() -> None:
    read = weights(np.array([0.05, 0.1, 0.4]), Dynamics(1.0, 0.4, 4))
    assert np.allclose(read @ np.arange(5.0), [0.5, 1.0, 4.0])
    assert np.allclose(read.sum(1), 1.0)
