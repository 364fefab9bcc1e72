"""The sampler passes dimod's own tests of samplers."""

from __future__ import annotations

import unittest

import numpy as np
import pytest

dimod = pytest.importorskip("dimod", reason="dimod (extra ising) is not installed")
testing = pytest.importorskip("dimod.testing")

from entrain.ising import Annealing, MaxCut  # noqa: E402
from entrain.ising.sampler import OscillatorSampler, from_bqm, to_bqm  # noqa: E402


def test_the_sampler_has_the_interface_of_dimod() -> None:
    testing.assert_sampler_api(OscillatorSampler())


@testing.load_sampler_bqm_tests(lambda: OscillatorSampler(device="cpu"))
class TestSampler(unittest.TestCase):
    """Tests that dimod generates, as methods of this class."""


def test_energies_are_those_of_the_model() -> None:
    generator = np.random.default_rng(0)
    for vartype in ("SPIN", "BINARY"):
        bqm = dimod.generators.gnm_random_bqm(12, 30, vartype, random_state=1)
        problem = from_bqm(bqm)
        states = generator.choice([-1, 1] if vartype == "SPIN" else [0, 1], size=(50, 12))
        energies = bqm.energies((states, list(bqm.variables)))
        assert problem.values(states) == pytest.approx(energies)
        back = to_bqm(problem)
        assert back.energies((states, list(bqm.variables))) == pytest.approx(energies)


def test_the_energy_of_a_cut_is_minus_its_weight() -> None:
    problem = MaxCut([[0, 2, 3], [2, 0, 1], [3, 1, 0]])
    states = np.array([[1, 1, -1], [1, -1, -1], [1, 1, 1]])
    bqm = to_bqm(problem)
    assert (-bqm.energies((states, [0, 1, 2]))).tolist() == problem.values(states).tolist()


def test_samples_of_a_small_problem_contain_the_ground_state() -> None:
    bqm = dimod.generators.ran_r(3, 12, seed=2)
    best = dimod.ExactSolver().sample(bqm).first.energy
    samples = OscillatorSampler().sample(bqm, num_reads=40, seed=0)
    assert len(samples) == 40
    assert samples.first.energy == best
    again = OscillatorSampler().sample(bqm, num_reads=40, seed=0, annealing=Annealing())
    assert (samples.record.sample == again.record.sample).all()


def test_unknown_parameters_warn() -> None:
    with pytest.warns(UserWarning, match="beta_range"):
        OscillatorSampler().sample(
            dimod.BinaryQuadraticModel({}, {"ab": -1}, 0, "SPIN"), num_reads=2, beta_range=(1, 2)
        )
