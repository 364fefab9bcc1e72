"""What a solution costs: counts of an Ising machine, sums over runs, and the command."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import entrain
from command_line import Invoke, Refuse, printed
from entrain import InputError
from entrain.cost import cost_of_solution, find_technology, technologies
from entrain.cost.solution import CYCLES_OF_A_UNIT, machine_size
from entrain.hardware import Hardware, Levels, Wiring, find
from entrain.ising import Annealing, Colouring, Ising, MaxCut, Qubo, Solution, write_rudy
from ising_examples import random_graph

CUBIC = MaxCut(networkx.random_regular_graph(3, 16, seed=1))


@pytest.fixture(scope="module")
def solution() -> Solution:
    return entrain.solve(CUBIC, restarts=64, annealing=Annealing(steps=60, readings=3))


@pytest.mark.parametrize("technology", technologies())
def test_a_solution_costs_its_runs(solution: Solution, technology: str) -> None:
    cost = cost_of_solution(solution, technology)
    runs = solution.time_to_solution()
    assert 1 < runs.repetitions < math.inf
    for total, one in ((cost.time, cost.run.time), (cost.energy, cost.run.energy)):
        assert total.typical == pytest.approx(runs.repetitions * one.typical)
        assert total.low == pytest.approx(runs.repetitions_interval[0] * one.low)
        assert total.high == pytest.approx(runs.repetitions_interval[1] * one.high)
    frequency = find_technology(technology)["run.frequency"].typical
    readout = find_technology(technology)["readout.time"].typical
    cycles = CYCLES_OF_A_UNIT.typical * runs.time_per_run
    assert cost.run.time.typical == pytest.approx(cycles / frequency + readout)
    assert cost.run.energy.typical == pytest.approx(
        sum(part.energy.typical for part in cost.run.parts)
    )
    counts = {part.name: part.count for part in cost.run.parts}
    assert counts == {"oscillators": 17, "couplers": 24, "readout": 16}


def test_twice_as_many_cycles_take_twice_the_energy(solution: Solution) -> None:
    once, twice = (
        cost_of_solution(solution, "ring-65nm", cycles_of_unit=cycles) for cycles in (10, 20)
    )
    for one, two in zip(once.run.parts[:2], twice.run.parts[:2], strict=True):
        assert two.energy.typical == pytest.approx(2 * one.energy.typical)
    assert twice.area == once.area


def test_parts_are_those_of_the_problem() -> None:
    weighted = MaxCut([[0, 6, -2, 0], [6, 0, 0, 0], [-2, 0, 0, 4], [0, 0, 4, 0]])
    size = machine_size(weighted)
    assert (size.oscillators, size.couplers, size.fields) == (4, 3, 0)
    assert size.coupling_bits == pytest.approx(math.log2(7))  # -3 to 3 times 2
    assert machine_size(MaxCut([[0, 0.3], [0.3, 0]])).coupling_bits == 8
    assert machine_size(Ising(random_graph(6), [1, 0, 0, 2, 0, 0])).fields == 2
    assert machine_size(Qubo(np.zeros((3, 3)), [1, 0, 0])).fields == 1
    assert machine_size(MaxCut(networkx.empty_graph(3))).couplers == 0


def test_a_chip_has_the_oscillators_of_its_chains() -> None:
    problem = MaxCut(networkx.complete_graph(6))
    levels = Levels(bits=3, range=3.0)
    hardware = Hardware(wiring=Wiring("kings"), oscillators=100, coupling_levels=levels)
    size = machine_size(problem, hardware)
    assert size.oscillators > 6
    assert size.couplers > 15
    assert size.coupling_bits == 3
    lo = machine_size(problem, find("lo-2023"))
    assert (lo.oscillators, lo.couplers) == (6, 15)
    assert lo.coupling_bits == pytest.approx(math.log2(29))
    quick = Annealing(steps=100, temperature=0.0)
    solved = entrain.solve(problem, restarts=8, annealing=quick, chip=hardware)
    assert cost_of_solution(solved, "lc").size == size


def test_a_value_that_no_run_reaches_has_no_finite_cost(solution: Solution) -> None:
    cost = cost_of_solution(solution, "vo2", target=25)
    assert cost.energy.typical == math.inf
    assert math.isfinite(cost.run.energy.high)


def test_what_has_no_cost_is_refused(solution: Solution) -> None:
    colours = entrain.solve(Colouring(networkx.cycle_graph(5)), restarts=4, steps=50)
    for arguments, options, words in (
        ((colours, "lc"), {}, "a colouring has no cost"),
        ((solution, "cmos"), {}, "cmos"),
        ((solution, "lc"), {"target": math.nan}, "target must be finite"),
        ((solution, "lc"), {"cycles_of_unit": 0}, "cycles_of_unit must be"),
    ):
        with pytest.raises(InputError, match=words):
            cost_of_solution(*arguments, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Solution"):
        cost_of_solution(CUBIC, "lc")  # type: ignore[arg-type]


def test_cost_of_a_problem_file(tmp_path: Path, invoke: Invoke, refuse: Refuse) -> None:
    graph = tmp_path / "graph.txt"
    write_rudy(graph, CUBIC.graph)
    quick: tuple[Any, ...] = ("cost", graph, "--restarts", 16, "--steps", 100)
    result = printed(invoke, *quick)
    assert set(result["technologies"]) == set(technologies())
    one = printed(invoke, *quick, "--technology", "ring-65nm", "--chip", "lo-2023", "--seed", 2)
    assert one["chip"]["seed"] == 2
    assert one["energy"]["typical"] == pytest.approx(
        one["repetitions"]["typical"] * one["run"]["energy"]["typical"]
    )
    shown = invoke(*quick, "--technology", "ring-65nm").stdout
    assert "energy to 99 %" in shown
    assert "17" in shown
    assert "no run of 16 reaches 25" in invoke(*quick, "--target", 25).stdout
    assert "--restarts is an option of a problem file" in refuse("cost", "mnist-74", *quick[2:])
    assert "--cycles must be" in refuse(*quick, "--cycles", -1)
    assert "options of a model" in refuse(*quick, "--inputs", "crossbar")
    assert "--restarts must be" in refuse("cost", graph, "--restarts", 0)
