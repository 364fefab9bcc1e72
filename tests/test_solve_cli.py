"""`entrain solve`, and `entrain yield` of a problem."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import networkx
import pytest
from PIL import Image

from command_line import Invoke, Refuse, printed
from entrain.ising import MaxCut, Qubo, read_problem, write_qubo, write_rudy
from entrain.ising.graph import graph_of
from ising_examples import random_graph


@pytest.fixture
def cubic(tmp_path: Path) -> Path:
    path = tmp_path / "cubic.txt"
    write_rudy(path, graph_of(networkx.random_regular_graph(3, 20, seed=1)))
    return path


def test_solve_prints_the_best_and_the_distribution(cubic: Path, invoke: Invoke) -> None:
    result = printed(invoke, "solve", cubic, "--restarts", 12, "--steps", 300)
    assert len(result["values"]) == result["runs"] == 12
    assert result["best"] == max(result["values"])
    assert read_problem(cubic).values(result["states"])[0] == result["best"]
    assert result["time_to_solution"]["probability"] == result["success_probability"] > 0
    shown = invoke("solve", cubic, "--restarts", 12, "--steps", 300)
    assert shown.exit_code == 0
    assert "best cut" in shown.stdout
    assert "seconds to 99 %" in shown.stdout


def test_solve_draws_its_figure_and_continues_its_folder(
    cubic: Path, invoke: Invoke, tmp_path: Path
) -> None:
    figure, folder = tmp_path / "figure.png", tmp_path / "result"
    options = ("--steps", 200, "--out", folder)
    first = printed(
        invoke, "solve", cubic, "--restarts", 4, *options, "--figure", figure, "--target", 26
    )
    assert first["figure"] == str(figure)
    with Image.open(figure) as image:
        assert image.width > 1000
    more = printed(invoke, "solve", cubic, "--restarts", 9, *options)
    assert more["values"][:4] == first["values"]
    assert len(more["values"]) == 9
    stored = json.loads((folder / "solution.json").read_text())
    assert stored["result"]["values"] == more["values"]


def test_kinds_of_problems_and_chips(tmp_path: Path, cubic: Path, invoke: Invoke) -> None:
    path = tmp_path / "problem.qubo"
    write_qubo(path, Qubo(random_graph(8), range(8)))
    quick = ("--restarts", 8, "--steps", 200)
    assert printed(invoke, "solve", path, *quick)["problem"] == "qubo"
    assert printed(invoke, "solve", cubic, "--kind", "ising", *quick)["goal"] == "minimum"
    colours = printed(invoke, "solve", cubic, "--colours", 3, "--restarts", 20)
    assert (colours["problem"], colours["best"]) == ("colouring", 0)
    chip = printed(invoke, "solve", cubic, "--chip", "lo-2023", "--chip-seed", 3, *quick)
    assert chip["chip"]["seed"] == 3
    assert chip["chip"]["hardware"]["name"] == "lo-2023"
    assert chip["annealing"]["temperature"] == 0
    other = ("--injection", 0.5, "--temperature", 0.1, "--descent", "--reading", "line")
    assert printed(invoke, "solve", cubic, *other, *quick)["annealing"]["injection"] == 0.5


def test_yield_of_a_problem(cubic: Path, invoke: Invoke, tmp_path: Path) -> None:
    figure = tmp_path / "yield.png"
    options = ("--chips", 4, "--restarts", 3, "--steps", 200, "--effects")
    result = printed(invoke, "yield", cubic, "--hardware", "lo-2023", *options, "--figure", figure)
    assert result["chips"] == len(result["best_of_chips"]) == 4
    assert set(result["effects"]) == {"coupling_levels", "mismatch"}
    assert result["single_run"]["mean"] <= result["best"]["mean"] <= result["target"]
    assert figure.stat().st_size > 5_000
    shown = invoke("yield", cubic, "--hardware", "lo-2023", *options)
    assert "worst chip" in shown.stdout
    assert "Cost of each effect" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", "missing.txt"), "no such problem file"),
        (("solve", "GRAPH", "--kind", "tsp"), "unknown kind of problem 'tsp'"),
        (("solve", "GRAPH", "--restarts", 0), "--restarts must be a whole number"),
        (("solve", "GRAPH", "--time-limit", -1), "--time-limit must be finite"),
        (("solve", "GRAPH", "--temperature", -1), "--temperature must be"),
        (("solve", "GRAPH", "--chip", "lo-2032"), "did you mean 'lo-2023'"),
        (("solve", "GRAPH", "--colours", 9), "--colours must be from 2 to 8"),
        (("solve", "GRAPH", "--figure", "x.txt"), "a figure ends in"),
        (("yield", "GRAPH"), "--hardware is needed"),
        (("yield", "GRAPH", "--hardware", "lo-2023", "--restarts", 500), "--restarts must be"),
        (("yield", "GRAPH", "--hardware", "lo-2023", "--examples", 3), "an option of a model"),
        (("yield", "mnist-74", "--steps", 3), "--steps is an option of a problem file"),
    ],
)
def test_bad_options_are_refused(
    cubic: Path, refuse: Refuse, arguments: tuple[object, ...], message: str
) -> None:
    words = [cubic if word == "GRAPH" else word for word in arguments]
    assert message in refuse(*words, "--json")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_the_best(cubic: Path, tmp_path: Path) -> None:
    graph, folder = tmp_path / "large.txt", tmp_path / "result"
    write_rudy(graph, graph_of(networkx.random_regular_graph(3, 400, seed=1)))
    command = [sys.executable, "-m", "entrain", "solve", str(graph), "--json"]
    command += ["--restarts", "100000", "--steps", "400", "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        stored = folder / "solution.json"
        while not stored.exists() and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    result = json.loads(output)
    assert result["reason"] == "interrupted"
    assert MaxCut(read_problem(graph).graph).values(result["states"])[0] == result["best"]
    assert json.loads(stored.read_text())["best"] == result["best"]
