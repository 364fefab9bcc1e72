"""Ising machines with second-harmonic injection in ngspice; skipped if it is not installed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pytest

from circuits import column, small
from command_line import Invoke, printed
from entrain.export import Spice, design_of_problem, verify, write_export
from entrain.export.ngspice import simulate
from entrain.hardware import Components
from entrain.ising import Ising, MaxCut, Qubo, write_rudy
from entrain.ising.graph import graph_of
from entrain.physics import Dynamics
from ising_examples import optimum, random_graph

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.skipif(
        shutil.which("ngspice") is None, reason="ngspice not installed (apt-get install ngspice)"
    ),
]


@pytest.mark.parametrize("oscillator", ["levelled", "cubic"])
@pytest.mark.parametrize("strength", [0.5, -0.5])
def test_injection_turns_lc_oscillators_at_its_averaged_rate(
    oscillator: str, strength: float
) -> None:
    """d theta / dt = -2 s sin(2 theta): tan(theta) = tan(theta(0)) exp(-4 s t)."""
    starts = (1.0, 2.5)
    design = small(n=2, images=1, start=column(*starts), injection=column(strength, strength / 2))
    quiet = design.phase_model.map(lambda tensor: tensor)
    quiet.couplings.zero_()
    quiet.fields.zero_()
    design = replace(design, phase_model=quiet, dynamics=Dynamics(1.0, 1.0, 100))
    times = np.linspace(0.0, 1.0, 11)
    exact = np.stack(
        [
            np.unwrap(np.arctan2(np.sin(start) * np.exp(-4 * s * times), np.cos(start)))
            for start, s in zip(starts, (strength, strength / 2), strict=True)
        ],
        1,
    )
    off = []
    for cycles in (20.0, 80.0):
        spice = Spice("lc", cycles=cycles, oscillator=oscillator)  # type: ignore[arg-type]
        off.append(np.abs(simulate(design, spice, times=10)[:, 0] - exact).max())
    assert off[1] < 0.6 * off[0] < 0.03
    assert np.abs(exact[-1] - exact[0]).max() > 0.4


@pytest.mark.parametrize("nodes", [8, 12])
def test_equations_of_a_machine_in_ngspice_are_those_of_the_solver(
    nodes: int, tmp_path: Path
) -> None:
    for name, problem, states in (
        ("cut", MaxCut(random_graph(nodes, 0.5)), (-1, 1)),
        ("ising", Ising(random_graph(nodes, 0.4, 1), np.arange(nodes) - 4, 2), (-1, 1)),
        ("qubo", Qubo(random_graph(nodes, 0.4, 2), np.arange(nodes) - 4), (0, 1)),
    ):
        design = design_of_problem(problem, restarts=3, seed=1)
        write_export(tmp_path / name, design, Spice())
        found = verify(tmp_path / name)
        assert found.agree == found.right == found.images == 3
        assert found.details["max_phase_difference"] < 1e-3
        assert min(problem.costs(np.array(found.verdicts))) == problem.costs(
            np.array([optimum(problem, states)])
        )


def test_lc_machine_finds_the_cuts_of_the_phase_model(tmp_path: Path) -> None:
    """Phases at the end within 0.03 rad, at 10 cycles in a unit of time."""
    problem = MaxCut(random_graph(8, 0.5))
    design = design_of_problem(problem, restarts=3, seed=2)
    write_export(tmp_path / "lc", design, Spice("lc", cycles=400.0))
    found = verify(tmp_path / "lc")
    assert found.agree == found.right == 3
    assert found.details["max_phase_difference"] < 0.03
    assert max(found.verdicts) == optimum(problem, (-1, 1))


def test_components_with_tolerances_move_the_phases_and_keep_the_cut() -> None:
    problem = MaxCut(networkx.cycle_graph(8))
    design = design_of_problem(problem, restarts=1, time=20.0)
    spread = Components(tuning=1e-4, transconductance=0.05, injection=0.05)
    ideal = Spice("lc", cycles=200.0)
    ends = [simulate(design, s, times=1)[-1] for s in (ideal, replace(ideal, spread=spread))]
    assert design.machine is not None
    assert np.array_equal(*(design.machine.states(end) for end in ends))
    assert 1e-4 < np.abs(ends[0] - ends[1]).max() < 0.2


def test_export_and_verify_of_a_problem_file(tmp_path: Path, invoke: Invoke) -> None:
    graph, folder = tmp_path / "graph.txt", tmp_path / "machine"
    write_rudy(graph, graph_of(networkx.random_regular_graph(3, 10, seed=1)))
    exported = printed(invoke, "export", graph, "--to", "spice", "--restarts", 3, "--out", folder)
    assert (exported["runs"], exported["oscillators"]) == (3, 10)
    found = printed(invoke, "verify", folder)
    assert found["agree"] == found["right"] == found["images"] == 3
    stored = json.loads((folder / "verify.json").read_text())
    assert stored["verdicts"] == stored["labels"] == found["labels"]
    assert (folder / "verify.png").stat().st_size > 5_000
    shown = invoke("verify", folder, "--images", 1).stdout
    assert "runs with the states of Python" in shown
    assert "1 of 1" in shown
