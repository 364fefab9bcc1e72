"""Problems on chips: every effect acts, graphs are embedded or refused, chips are independent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pytest
import torch

from entrain import InputError, solve
from entrain.cluster import LocalEngine
from entrain.hardware import (
    Dead,
    Hardware,
    Levels,
    Measured,
    Mismatch,
    PhaseNoise,
    Readout,
    Stuck,
    Wiring,
    presets,
)
from entrain.hardware.strengths import LADDERS
from entrain.ising import Annealing, Colouring, Ising, MaxCut, chip_yield
from entrain.ising.embedding import embed
from entrain.ising.graph import graph_of
from entrain.ising.machine import IdealMachine
from entrain.ising.on_chip import ChipMachine, ChipProgram, place, programmed
from entrain.ising.problem_yield import chip_yields, ideal_runs
from ising_examples import random_graph

CPU = torch.device("cpu")
QUICK = Annealing(steps=300, temperature=0.0, readings=2)
CUBIC = MaxCut(networkx.random_regular_graph(3, 16, seed=1))


def machine(problem: Any, hardware: Hardware, seed: int = 0) -> ChipMachine:
    return ChipMachine(ChipProgram.of(problem, hardware), seed, CPU)


def test_a_chip_without_effects_is_the_ideal_machine() -> None:
    problem = Ising(random_graph(12), np.arange(12) - 5)
    ideal, chip = IdealMachine(problem, CPU), machine(problem, Hardware())
    assert torch.equal(ideal.oscillators.couplings, chip.oscillators.couplings)
    assert torch.equal(ideal.oscillators.biases, chip.oscillators.biases)
    assert ideal.stiffness == chip.stiffness
    off = machine(problem, Hardware(mismatch=Mismatch(), readout=Readout(), dead=Dead()))
    assert torch.equal(off.oscillators.couplings, chip.oscillators.couplings)


@pytest.mark.parametrize("name", LADDERS)
def test_every_effect_runs(name: str) -> None:
    strongest = LADDERS[name][-1].hardware
    steps = 60 if strongest.delay is not None else 300  # by PyTorch operations
    solution = solve(CUBIC, restarts=4, annealing=replace(QUICK, steps=steps), chip=strongest)
    assert CUBIC.values(solution.states)[0] == solution.value
    assert solution.chip is not None
    assert solution.chip["hardware"] == strongest.to_json()


def test_presets_that_are_large_enough_solve_a_small_problem() -> None:
    ladder = MaxCut(networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(2, 4)))
    for name in presets():
        solution = solve(ladder, restarts=20, annealing=QUICK, chip=name)
        assert solution.value >= 8, name  # of 10 edges


def test_mismatch_multiplies_every_coupler_once() -> None:
    problem = MaxCut(random_graph(10))
    hardware = Hardware(mismatch=Mismatch(couplings=0.1))
    ideal = machine(problem, Hardware()).oscillators.couplings
    one, same, other = (machine(problem, hardware, s).oscillators.couplings for s in (3, 3, 4))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert torch.equal(one, one.T)
    gains = (one / ideal)[ideal != 0] - 1
    assert 0.05 < float(gains.std()) < 0.15


def test_dead_and_stuck_oscillators_stand_still() -> None:
    problem = MaxCut(random_graph(20))
    for hardware in (
        Hardware(dead=Dead(oscillators=0.4)),
        Hardware(stuck=Stuck(oscillators=0.4)),
    ):
        chip = machine(problem, hardware)
        start = chip.starts(3, 0, 0)
        run = chip.oscillators.simulate(time=5.0, steps=100, starts=start, restarts=3)
        still = (run.final[:, 0] - start[:, 0]).abs().max(0).values < 1e-6
        assert 2 <= int(still.sum()) <= 14
        assert float((run.final[:, 0] - start[:, 0]).abs().max()) > 0.1


def test_whole_weights_that_fit_the_levels_are_programmed_exactly() -> None:
    levels = Levels(bits=5, range=3.0)  # -15 to 15
    for largest in (1, 4, 7, 15):
        weights = np.array([1.0, -2.0, 3.0, largest]) * 0.37
        weights = np.clip(weights, -0.37 * largest, 0.37 * largest)
        fitted = programmed(levels, weights)
        tensor = torch.from_numpy(weights)
        rounded = fitted.rounded(tensor, tensor.new_tensor(fitted.range))
        assert torch.allclose(rounded, tensor, atol=1e-12)
    absolute = Levels(bits=5, range=0.5, rule="absolute")
    assert programmed(absolute, np.array([1.0])) == absolute


def test_an_embedding_has_connected_disjoint_joined_chains() -> None:
    kings = Wiring("kings").graph(400).numpy()
    chip = networkx.from_numpy_array(kings)
    for graph in (
        networkx.complete_graph(7),
        networkx.random_regular_graph(3, 24, seed=0),
        networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(4, 4)),
    ):
        chains = embed(graph_of(graph), kings)
        sites = [site for chain in chains for site in chain]
        assert len(sites) == len(set(sites))
        assert all(networkx.is_connected(chip.subgraph(chain)) for chain in chains)
        chain_of = dict(
            zip(graph, chains, strict=True)
        )  # nodes may have another order than 0, 1, ...
        for i, j in graph.edges:
            assert kings[np.ix_(chain_of[i], chain_of[j])].any()


def test_a_problem_on_the_couplers_of_the_chip_needs_no_chains() -> None:
    kings = Wiring("kings").graph(25)
    problem = MaxCut(kings.double().numpy())
    sites, chains = place(problem, Hardware(wiring=Wiring("kings"), oscillators=25))
    assert chains == tuple((i,) for i in range(25))
    assert sites.tolist() == list(range(25))


def test_a_chain_holds_together_and_is_read_by_majority() -> None:
    problem = MaxCut(networkx.complete_graph(6))
    hardware = Hardware(wiring=Wiring("kings"), oscillators=100)
    solution = solve(problem, restarts=20, annealing=QUICK, chip=hardware)
    assert solution.value == 9
    chip = machine(problem, hardware)
    assert len(chip.oscillators.read) > 6
    signs = np.array([[1, 1, -1, -1], [-1, 1, 1, -1]])
    assert chip._vote(signs, [0, 1, 2]).tolist() == [1, 1]
    assert chip._vote(signs, [0, 3]).tolist() == [1, -1]


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "too many variables": (
        MaxCut(networkx.cycle_graph(60)),
        "lo-2023",
        "60 variables, the chip 48 oscillators",
    ),
    "too many edges": (
        MaxCut(networkx.complete_graph(9)),
        Hardware(wiring=Wiring("ring"), oscillators=12),
        "36 edges, the chip 12 couplers",
    ),
    "no embedding": (
        MaxCut(networkx.complete_graph(5)),
        Hardware(wiring=Wiring("ring"), oscillators=40),
        "no embedding was found: 5 variables with 10 edges (up to 4 a variable) on 40",
    ),
    "colours": (Colouring(networkx.cycle_graph(5)), "lo-2023", "has 3 colours"),
    "measured": (
        CUBIC,
        Hardware(measured=Measured(frequencies=(0.1, 0.2))),
        "16 variables, the chip 2",
    ),
    "unknown": (CUBIC, "lo-2032", "did you mean 'lo-2023'"),
    "a number": (CUBIC, 3, "chip_seed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_a_chip_is_refused(name: str) -> None:
    problem, chip, message = REFUSED[name]
    with pytest.raises(InputError) as caught:
        solve(problem, chip=chip)
    assert message in str(caught.value)


def test_a_chip_is_read_by_its_comparators() -> None:
    with pytest.raises(InputError, match="threshold"):
        solve(CUBIC, chip="lo-2023", reading="line")
    means = [
        np.mean(solve(CUBIC, restarts=64, annealing=QUICK, chip=hardware).values)
        for hardware in (
            Hardware(),
            Hardware(readout=Readout(noise=3.0)),
            Hardware(readout=Readout(offset=3.0)),
        )
    ]
    assert means[1] < means[0] - 1
    assert means[2] < means[0] - 1


def test_the_noise_of_a_chip_is_added_to_the_ramp() -> None:
    chip = machine(CUBIC, Hardware(phase_noise=PhaseNoise(0.3)))
    ramps = Annealing(steps=10)
    assert torch.equal(chip.temperatures(ramps), ramps.temperatures() + 0.3)
    noisy, quiet = (
        np.mean(solve(CUBIC, restarts=32, annealing=QUICK, chip=hardware).values)
        for hardware in (Hardware(phase_noise=PhaseNoise(2.0)), Hardware())
    )
    assert noisy < quiet


def test_a_chip_has_the_same_runs_alone_and_beside_others() -> None:
    hardware = Hardware(mismatch=Mismatch(couplings=0.3))
    options: dict[str, Any] = {"restarts": 6, "annealing": QUICK}
    many = chip_yield(CUBIC, hardware, chips=12, **options)
    few = chip_yield(CUBIC, hardware, chips=3, first_seed=9, engine=LocalEngine(), **options)
    assert many.runs[9:12] == few.runs
    alone = solve(CUBIC, chip=hardware, chip_seed=9, **options)
    assert alone.values == few.runs[0]
    assert len(set(many.runs)) > 1


def test_a_yield_counts_the_chips_that_reach_the_target() -> None:
    hardware = Hardware(mismatch=Mismatch(couplings=0.5))
    measured = chip_yield(CUBIC, hardware, chips=20, restarts=5, annealing=QUICK, target=21)
    runs = np.array(measured.runs)
    assert runs.shape == (20, 5)
    assert measured.best.tolist() == runs.max(1).tolist()
    assert measured.single == pytest.approx(runs.mean(1))
    assert measured.above == np.mean(runs.max(1) >= 21)
    summary = measured.summary()
    assert summary["best"]["worst"] == runs.max(1).min()
    assert summary["best"]["p5"] <= summary["best"]["p50"] <= summary["best"]["p95"]
    low, high = summary["single_run"]["interval"]
    assert low <= runs.mean() <= high
    assert summary["success_probability"] == pytest.approx(np.mean(runs >= 21))


def test_stronger_mismatch_costs_more() -> None:
    problem = MaxCut(random_graph(24, 0.5, seed=4))
    variants = [Hardware(mismatch=Mismatch(couplings=sd)) for sd in (0.01, 1.0)]
    yields = chip_yields(problem, variants, chips=10, restarts=10, annealing=QUICK)
    weak, strong = (yields[hardware].single.mean() for hardware in variants)
    ideal = np.mean(ideal_runs(problem, QUICK, 100))
    assert strong < weak - 2
    assert weak == pytest.approx(ideal, abs=2)
