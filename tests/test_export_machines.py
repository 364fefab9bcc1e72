"""Ising machines as netlists: what is written, read again and refused."""

from __future__ import annotations

import re
from pathlib import Path

import networkx
import numpy as np
import pytest
import torch

from command_line import Refuse
from entrain import InputError, Oscillators
from entrain.export import Plain, Spice, WordLengths, design_of_problem, read_export, write_export
from entrain.export.folder import files_of
from entrain.ising import Annealing, Colouring, Ising, MaxCut, Qubo, write_rudy
from entrain.ising.graph import graph_of
from entrain.ising.machine import IdealMachine
from ising_examples import random_graph

CUBIC = MaxCut(networkx.random_regular_graph(3, 8, seed=1))


def test_a_design_moves_as_the_machine_of_the_solver_without_noise() -> None:
    design = design_of_problem(CUBIC, restarts=3, time=10.0, seed=4)
    steps = design.dynamics.steps
    machine = IdealMachine(CUBIC, torch.device("cpu"))
    oscillators = Oscillators(
        machine.oscillators.couplings.double(), injection=1.0, dtype=torch.float64
    )
    assert design.machine is not None
    factors = 0.35 * design.machine.factors((np.arange(steps) + 0.5) / steps)
    run = oscillators.simulate(
        time=10.0,
        steps=steps,
        starts=torch.from_numpy(design.starts)[:, None],
        restarts=3,
        schedule={"injection": torch.from_numpy(factors)},
    )
    assert np.allclose(run.final[:, 0].numpy(), design.phases(), atol=1e-5)
    squares = ((np.arange(steps) + 0.5) / steps) ** 2
    assert np.abs(factors - 0.35 * squares).max() < 1e-3  # linear between the knots
    solver = machine.oscillators.simulate(time=1e-9, steps=1, starts="random", restarts=3, seed=4)
    assert np.allclose(solver.final.reshape(3, 8), design.starts, atol=1e-6)


@pytest.mark.parametrize(
    "problem",
    [
        CUBIC,
        MaxCut(graph_of(0.25 * networkx.to_numpy_array(networkx.path_graph(4)))),
        Ising(random_graph(6), [1, -2, 0, 3, 0, 1], 5),
        Qubo(random_graph(6), [0.5, -2, 0, 3, 0, 1]),
    ],
)
def test_an_exported_machine_is_read_again(problem: MaxCut | Ising | Qubo, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    design = design_of_problem(problem, restarts=2)
    write_export(folder, design, Spice())
    again, target = read_export(folder)
    assert target == Spice()
    assert again.machine is not None
    assert type(again.machine.problem) is type(problem)
    states = again.machine.states(again.phases())
    assert np.array_equal(again.machine.problem.values(states), problem.values(states))
    assert files_of(again, Spice()) == files_of(design, Spice())
    assert sorted(path.name for path in folder.iterdir()) == [
        "design.safetensors",
        "network.inc",
        "run-0000.cir",
        "run-0001.cir",
    ]


@pytest.mark.parametrize("level", ["phase", "lc"])
def test_a_netlist_has_the_ramp_of_the_injection(level: str) -> None:
    design = design_of_problem(CUBIC, time=5.0, annealing=Annealing(injection_power=1.0))
    spice = Spice(level, cycles=50.0)  # type: ignore[arg-type]
    network = files_of(design, spice)["network.inc"].decode()
    points = re.search(r"Iramp 0 ramp pwl\((.*?)\)", network, re.DOTALL)
    assert points is not None
    numbers = np.array(points[1].replace("+", " ").split(), dtype=float).reshape(-1, 2)
    assert numbers[0].tolist() == [0, 0]
    assert numbers[-1] == pytest.approx([spice.duration(), 1.0])
    assert numbers[:, 1] == pytest.approx(numbers[:, 0] / spice.duration())
    assert network.count("v(ramp)") == 8


def test_opposite_states_agree_without_fields_alone() -> None:
    states = np.array([[1, -1, 1, 1]], dtype=np.int8)
    path = networkx.path_graph(4)
    for problem, agree in ((MaxCut(path), True), (Ising(path, [1, 0, 0, 0]), False)):
        machine = design_of_problem(problem).machine
        assert machine is not None
        assert machine.agreement(states, states).all()
        assert bool(machine.agreement(states, -states).all()) is agree
        assert not machine.agreement(states, states * [[1, 1, -1, 1]]).any()


def test_what_a_netlist_cannot_hold_is_refused(tmp_path: Path) -> None:
    for problem, options, words in (
        (Colouring(networkx.cycle_graph(5)), {}, "lock to two phases"),
        (MaxCut(networkx.empty_graph(3)), {}, "no edges"),
        (CUBIC, {"restarts": 0}, "restarts must be"),
        (CUBIC, {"time": 0.0}, "time must be"),
        (CUBIC, {"annealing": Annealing(first_coupling=0.5)}, "first_coupling must be 1"),
        (MaxCut(networkx.cycle_graph(2000)), {}, "2,000 variables, an export at most 1,024"),
        (MaxCut([[0, 2**55], [2**55, 0]]), {}, "up to 2"),
    ):
        with pytest.raises(InputError, match=words):
            design_of_problem(problem, **options)  # type: ignore[arg-type]
    for target in (Plain(), WordLengths()):
        with pytest.raises(InputError, match="exported to spice alone"):
            write_export(tmp_path / "export", design_of_problem(CUBIC), target)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("GRAPH", "--to", "verilog"), "a problem is exported to spice, got --to verilog"),
        (("GRAPH", "--to", "spice", "--images", 3), "--images is an option of a model"),
        (("GRAPH", "--to", "spice", "--restarts", 0), "--restarts must be a whole number"),
        (("GRAPH", "--to", "spice", "--time", -1), "--time must be finite"),
        (("GRAPH", "--to", "spice", "--level", "lc", "--time", 5000), "takes 50,000 cycles"),
        (("GRAPH", "--to", "spice", "--kind", "colouring"), "lock to two phases"),
        (("mnist-74", "--to", "spice", "--restarts", 3), "--restarts is an option of a problem"),
    ],
)
def test_bad_options_of_an_export_are_refused(
    tmp_path: Path, refuse: Refuse, arguments: tuple[object, ...], message: str
) -> None:
    graph = tmp_path / "graph.txt"
    write_rudy(graph, CUBIC.graph)
    words = [graph if word == "GRAPH" else word for word in arguments]
    assert message in refuse("export", *words, "--out", tmp_path / "folder", "--json")
    assert not (tmp_path / "folder").exists()
