"""The solver finds optima, reports its runs truthfully, and continues where it was interrupted."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
import torch

import entrain
from entrain import InputError, solve
from entrain.cluster import LocalEngine
from entrain.ising import Annealing, Colouring, Ising, MaxCut, Qubo
from entrain.ising.descent import descend
from entrain.ising.graph import graph_of
from entrain.ising.machine import IdealMachine, Program, simulate_part
from entrain.ising.reading import best_line, nearest
from entrain.ising.solver import Status
from entrain.ising.statistics import repetitions, repetitions_interval
from ising_examples import optimum, random_graph

FIELDS = [3, -1, 0, 2, -2, 5, 1, 0, 0, -4]
QUICK = Annealing(steps=300, readings=3)
CPU = torch.device("cpu")


@pytest.mark.parametrize("seed", range(3))
def test_small_problems_are_solved_to_their_optimum(seed: int) -> None:
    graph = random_graph(10, 0.6, seed)
    for problem, states in (
        (MaxCut(graph), (-1, 1)),
        (Ising(graph, FIELDS, 3), (-1, 1)),
        (Qubo(graph, FIELDS), (0, 1)),
        (Colouring(random_graph(7, 0.8, seed), 3), (0, 1, 2)),
    ):
        solution = solve(problem, restarts=40, steps=500, seed=seed)
        assert solution.value == optimum(problem, states)
        assert problem.values(solution.states)[0] == solution.value
        assert len(solution.values) == 40


def test_a_ring_of_ferromagnets_under_a_field_points_along_it() -> None:
    ring = networkx.cycle_graph(12)
    networkx.set_edge_attributes(ring, -1, "weight")
    solution = solve(Ising(ring, np.full(12, -0.5)), restarts=8)
    assert solution.states.tolist() == [1] * 12


def test_a_disconnected_graph_with_lone_nodes_is_solved() -> None:
    graph = networkx.disjoint_union(networkx.cycle_graph(5), networkx.path_graph(4))
    graph.add_nodes_from(range(9, 12))
    assert solve(MaxCut(graph), restarts=20).value == 4 + 3
    assert solve(MaxCut(networkx.empty_graph(3)), restarts=4).value == 0


def test_the_scale_of_weights_changes_nothing() -> None:
    graph = random_graph(12, 0.5)
    small, large = (
        MaxCut(type(graph)(12, graph.first, graph.second, graph.weights * factor))
        for factor in (1, 2**40)
    )
    values = [solve(problem, restarts=8, annealing=QUICK).values for problem in (small, large)]
    assert np.array_equal(np.array(values[0]) * 2**40, values[1])


def test_two_oscillators_at_constant_temperature_are_boltzmann_distributed() -> None:
    """Share of equal signs of cos(theta) under exp(cos(theta_1 - theta_2 ) J / kT), J = 1."""
    kt = 0.7
    ramps = Annealing(400, 0.0, 0.0, kt, 0.0, time_step=0.1, readings=1)
    problem = Ising([[0, -1], [-1, 0]])
    machine = IdealMachine(problem, CPU)
    equal = []
    for batch in range(24):
        run = simulate_part(machine, ramps, slice(0, 400), "random", 128, batch, 0)
        equal.append((run.spins[:, 0] == run.spins[:, 1]).double().mean())
    angles = (np.arange(400) + 0.5) / 400 * 2 * np.pi
    one, two = np.meshgrid(angles, angles)
    weights = np.exp(np.cos(one - two) / kt)
    expected = (weights * ((np.cos(one) > 0) == (np.cos(two) > 0))).sum() / weights.sum()
    assert float(torch.stack(equal).mean()) == pytest.approx(expected, abs=0.025)  # 3 SD


def test_slower_ramps_are_better() -> None:
    problem = MaxCut(networkx.random_regular_graph(3, 200, seed=3))
    fast, slow = (np.mean(solve(problem, restarts=32, steps=k).values) for k in (100, 2000))
    assert slow > fast + 3


def test_the_stiffness_is_the_largest_eigenvalue_of_a_hessian() -> None:
    star = networkx.star_graph(8)
    program = Program.of(MaxCut(star))
    unit = math.sqrt(2 * 8 / 9)  # rows of 8 and of eight times 1
    hessian = np.diag([8.0, *[1.0] * 8]) - networkx.to_numpy_array(star)
    assert program.stiffness() == pytest.approx(np.linalg.eigvalsh(hessian)[-1] / unit, rel=1e-3)


def test_greedy_descent_ends_where_no_change_helps() -> None:
    generator = np.random.default_rng(0)
    for problem in (
        Ising(random_graph(9), FIELDS[:9]),
        Colouring(random_graph(9, seed=2), 4),
    ):
        program, k = Program.of(problem), problem.choices
        start = generator.integers(k, size=(20, 9)).astype(np.int8)
        end = descend(start, program.couplings, program.fields, k)
        before, after = (problem.values(problem.states_of(c)) for c in (start, end))
        assert (after <= before).all()
        for row, value in zip(end, after, strict=True):
            for node in range(9):
                for choice in range(k):
                    other = row.copy()
                    other[node] = choice
                    assert problem.values(problem.states_of(other[None]))[0] >= value


def test_descent_never_makes_a_run_worse() -> None:
    problem = MaxCut(random_graph(60, 0.2))
    plain, descended = (
        solve(problem, restarts=16, steps=20, descent=descent).values for descent in (False, True)
    )
    assert (np.array(descended) >= plain).all()
    assert np.mean(descended) > np.mean(plain)


def test_the_best_line_is_at_least_as_good_as_the_threshold() -> None:
    problem = MaxCut(random_graph(40, 0.3))
    phases = np.random.default_rng(0).uniform(-np.pi, np.pi, (30, 40)).astype(np.float32)
    choices, values = best_line(problem, phases)
    assert (values >= problem.values(problem.states_of(nearest(phases, 2)))).all()
    assert (problem.values(problem.states_of(choices)) == values).all()
    colours = nearest(np.array([[0.1, 2.0, 4.3, -2.0, 6.2]]), 3)
    assert colours.tolist() == [[0, 1, 2, 2, 0]]


def test_runs_depend_on_seed_and_number_alone() -> None:
    problem = MaxCut(random_graph(20))
    once, again, other = (
        solve(problem, restarts=12, annealing=QUICK, seed=seed) for seed in (1, 1, 2)
    )
    assert once.values == again.values
    assert once.values != other.values
    few = solve(problem, restarts=5, annealing=QUICK, seed=1)
    assert few.values == once.values[:5]
    engine = solve(problem, restarts=12, annealing=QUICK, seed=1, engine=LocalEngine())
    assert engine.values == once.values


class Elsewhere:
    """An engine that is not this process, and completes batches in reverse order."""

    def map(self, function: Any, shared: Any, tasks: Any, title: Any = str) -> Any:
        for task in reversed(tasks):
            yield task, function(shared, task, CPU)


def test_batches_on_a_cluster_give_the_runs_of_one_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("entrain.ising.batch.LARGEST", 8)
    problem = MaxCut(random_graph(20))
    here = solve(problem, restarts=20, annealing=QUICK)
    there = solve(problem, restarts=20, annealing=QUICK, engine=Elsewhere())
    assert len(here.batches) == 3
    assert there.values == here.values
    assert there.value == here.value
    with pytest.raises(InputError, match="fixed number of runs"):
        solve(problem, until=3, engine=Elsewhere())


def test_an_interrupted_search_keeps_its_best_and_resumes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("entrain.ising.batch.LARGEST", 8)
    problem, out = MaxCut(random_graph(30)), tmp_path / "result"
    updates = list[Status]()

    def interrupt(status: Status) -> None:
        updates.append(status)
        if len(updates) == 5:  # in the second of three batches
            raise KeyboardInterrupt

    stopped = solve(problem, restarts=20, annealing=QUICK, out=out, on_update=interrupt)
    assert stopped.reason == "interrupted"
    assert len(stopped.values) == 8
    stored = json.loads((out / "solution.json").read_text())
    assert stored["best"] == stopped.value
    assert problem.values(stored["states"])[0] == stored["best"]
    resumed = solve(problem, restarts=20, annealing=QUICK, out=out)
    whole = solve(problem, restarts=20, annealing=QUICK)
    assert resumed.values == whole.values
    assert resumed.value == whole.value
    more = solve(problem, restarts=28, annealing=QUICK, out=out)
    assert more.values[:20] == whole.values
    assert len(more.values) == 28


def test_a_result_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    problem, out = MaxCut(random_graph(10)), tmp_path / "result"
    solve(problem, restarts=4, annealing=QUICK, out=out)
    for other, options, words in (
        (MaxCut(random_graph(10, seed=5)), {}, "another problem"),
        (problem, {"seed": 3}, "other settings"),
        (problem, {"descent": True}, "other settings"),
    ):
        with pytest.raises(InputError, match=words):
            solve(other, restarts=4, annealing=QUICK, out=out, **options)  # type: ignore[arg-type]
    file = out / "solution.json"
    file.write_text(file.read_text().replace('"best":', '"worst":'))
    with pytest.raises(InputError, match="digest"):
        solve(problem, restarts=4, annealing=QUICK, out=out)


def test_a_time_limit_and_a_value_end_the_search() -> None:
    problem = MaxCut(random_graph(60, 0.3))
    timed = solve(problem, time_limit=1.5)
    assert timed.reason == "time"
    assert timed.seconds < 3
    steps = [result.batch.steps for result in timed.batches]
    assert steps[:2] == [250, 1000]
    aimed = solve(problem, restarts=10_000, until=timed.value)
    assert aimed.reason == "reached"
    assert aimed.value >= timed.value
    assert len(aimed.values) in (128, 256, 384)  # whole batches


def test_success_and_time_to_solution_follow_from_the_runs() -> None:
    problem = MaxCut(random_graph(30, 0.4))
    solution = solve(problem, restarts=50, annealing=QUICK)
    target = float(np.median(solution.values))
    reached = np.mean(np.array(solution.values) >= target)
    assert solution.success_probability(target) == reached
    time = solution.time_to_solution(target)
    assert time is not None
    assert time.probability == reached
    assert time.repetitions == pytest.approx(max(1, math.log(0.01) / math.log(1 - reached)))
    assert time.seconds == pytest.approx(time.repetitions * solution.seconds / 50)
    low, high = time.seconds_interval
    assert low <= time.seconds <= high
    none = solution.time_to_solution(solution.value + 1)
    assert none is not None
    assert none.seconds == math.inf
    assert solution.to_json(target)["time_to_solution"]["successes"] == 50 * reached


def test_repetitions_until_success() -> None:
    assert repetitions(0) == math.inf
    assert repetitions(1) == repetitions(0.995) == 1
    assert repetitions(0.5) == pytest.approx(math.log(100, 2))
    low, high = repetitions_interval(10, 100)
    assert low < repetitions(0.1) < high
    assert repetitions_interval(0, 100) == (math.inf, math.inf)
    # Of 300 experiments of 100 runs with p = 0.1, about 95 % of the intervals contain the truth.
    generator = np.random.default_rng(0)
    hits = [
        low <= repetitions(0.1) <= high
        for low, high in (repetitions_interval(k, 100) for k in generator.binomial(100, 0.1, 300))
    ]
    assert 0.88 < np.mean(hits) < 0.99


def test_the_trace_never_becomes_worse() -> None:
    solution = solve(MaxCut(random_graph(40)), restarts=8, annealing=replace(QUICK, readings=6))
    seconds, best, mean = zip(*solution.trace(), strict=True)
    assert len(best) == 6
    assert list(best) == sorted(best)
    assert list(seconds) == sorted(seconds)
    assert best[-1] == solution.value >= mean[-1]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "restarts": ({"restarts": 0}, "restarts must be a whole number of at least 1"),
    "steps": ({"steps": 1.5}, "steps must be a whole number"),
    "reading": ({"reading": "rows"}, "unknown reading 'rows'"),
    "time": ({"time_limit": 0.0}, "time_limit must be finite and above 0"),
    "until": ({"until": math.nan}, "until must be finite"),
    "seed": ({"seed": -1}, "seed must be a whole number"),
    "device": ({"device": "tpu"}, "device"),
}


@pytest.mark.parametrize("name", BAD)
def test_arguments_that_cannot_be_are_refused(name: str) -> None:
    options, message = BAD[name]
    with pytest.raises(InputError) as caught:
        solve(MaxCut(random_graph(5)), **options)
    assert message in str(caught.value)


def test_what_is_no_problem_is_refused() -> None:
    with pytest.raises(InputError, match="read_problem"):
        entrain.solve("G1.txt")  # type: ignore[arg-type]
    for options in ({"steps": 0}, {"injection": -1.0}, {"temperature": math.inf}):
        with pytest.raises(InputError):
            Annealing(**options)  # type: ignore[arg-type]
    assert graph_of(networkx.path_graph(3)).edges == 2
