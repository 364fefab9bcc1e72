"""`entrain yield PROBLEM --out FILE`: killed, resumed to the same bits, extended, refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import pytest

from command_line import Invoke, Refuse, environment, printed
from entrain import InputError
from entrain.hardware import Hardware, Mismatch
from entrain.ising import Annealing, MaxCut, chip_yield, problem_yield, write_rudy
from entrain.utils.files import strict_json, with_digest

PROBLEM = MaxCut(networkx.random_regular_graph(3, 16, seed=1))
HARDWARE = Hardware(mismatch=Mismatch(couplings=0.3))
QUICK: dict[str, Any] = {
    "restarts": 3,
    "annealing": Annealing(steps=100, temperature=0.0, readings=1),
}

# `entrain` with two chips in a block, each saved at once, killed just before it replaces the file
# for the COUNTth time.
DRIVER = """
import os, signal, sys
from entrain.cli import main
from entrain.evaluation import yield_file
from entrain.ising import problem_yield

yield_file.SECONDS_BETWEEN_SAVES = 0.0
problem_yield._AT_A_TIME = 2
count, *sys.argv[1:] = sys.argv[1:]
replace, left = os.replace, int(count)

def replace_and_die(source, target):
    global left
    left -= str(target).endswith("yield.json")
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)

os.replace = replace_and_die
main()
"""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "cubic.txt"
    write_rudy(path, PROBLEM.graph)
    return path


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of chips that are measured in this process."""
    seeds: list[int] = []
    measure = problem_yield._measure

    def counted(task: Any, block: Any, device: Any) -> Any:
        seeds.extend(block.seeds)
        return measure(task, block, device)

    monkeypatch.setattr(problem_yield, "_measure", counted)
    return seeds


def kill(count: int, *arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *map(str, (count, *arguments))],
        env=environment(),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_killed_yield_of_a_problem_resumes_to_the_same_bits(
    graph: Path, tmp_path: Path, invoke: Invoke, measured: list[int]
) -> None:
    file = tmp_path / "yield.json"
    plain = ("yield", graph, "--hardware", "lo-2023", "--chips", 7, "--restarts", 3)
    plain = (*plain, "--steps", 100)
    undisturbed = printed(invoke, *plain)
    measured.clear()
    kill(3, *plain, "--out", file)
    (kind,) = json.loads(file.read_text())["measured"]["kinds"]
    assert kind["seeds"] == [0, 1, 2, 3]
    assert len(list(tmp_path.glob(".*"))) == 1  # what was half-written
    resumed = printed(invoke, *plain, "--out", file)
    assert measured == [4, 5, 6]
    assert resumed == undisturbed | {"saved": str(file)}
    assert list(tmp_path.glob(".*")) == []
    stored = json.loads(file.read_text())
    assert {name: stored[name] for name in undisturbed} == undisturbed
    again = printed(invoke, *plain, "--out", file)
    assert measured == [4, 5, 6]
    assert again == resumed


def test_more_chips_and_variants_are_added_and_fewer_are_taken(
    tmp_path: Path, measured: list[int]
) -> None:
    file = tmp_path / "yield.json"
    few = chip_yield(PROBLEM, HARDWARE, chips=5, out=file, **QUICK)
    more = chip_yield(PROBLEM, HARDWARE, chips=12, out=file, **QUICK)
    assert measured == list(range(12))
    assert more.runs[:5] == few.runs
    assert more.runs == chip_yield(PROBLEM, HARDWARE, chips=12, **QUICK).runs
    measured.clear()
    named = replace(HARDWARE, name="another name")
    later = chip_yield(PROBLEM, named, chips=3, first_seed=4, out=file, **QUICK)
    assert measured == []
    assert later.runs == more.runs[4:7]
    variants = [HARDWARE, HARDWARE.without("mismatch")]
    yields = problem_yield.chip_yields(PROBLEM, variants, chips=4, out=file, **QUICK)
    assert measured == [0, 1, 2, 3]  # of the variant
    assert yields[HARDWARE].runs == more.runs[:4]


def test_ctrl_c_keeps_the_chips_measured_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, measure = tmp_path / "yield.json", problem_yield._measure

    def fail(task: Any, block: Any, device: Any) -> Any:
        if 4 in block.seeds:
            raise KeyboardInterrupt
        return measure(task, block, device)

    monkeypatch.setattr(problem_yield, "_AT_A_TIME", 2)
    monkeypatch.setattr(problem_yield, "_measure", fail)
    with pytest.raises(KeyboardInterrupt):
        chip_yield(PROBLEM, HARDWARE, chips=8, out=file, **QUICK)
    (kind,) = json.loads(file.read_text())["measured"]["kinds"]
    assert kind["seeds"] == [0, 1, 2, 3]


def test_a_file_of_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "yield.json"
    chip_yield(PROBLEM, HARDWARE, chips=2, out=file, **QUICK)
    before = file.read_bytes()
    other = MaxCut(networkx.cycle_graph(16))
    for words, problem, hardware, changes in (
        ("of another problem", other, HARDWARE, {}),
        ("of other hardware", PROBLEM, Hardware(mismatch=Mismatch(couplings=0.2)), {}),
        ("with other restarts, steps", PROBLEM, HARDWARE, {"restarts": 4}),
        ("with other restarts, steps", PROBLEM, HARDWARE, {"seed": 1}),
    ):
        with pytest.raises(InputError, match=f"holds the yield {words}"):
            chip_yield(problem, hardware, chips=2, out=file, **QUICK | changes)
        assert file.read_bytes() == before
    for content in ("nonsense", strict_json(with_digest({"measured": {"model": 1}}))):
        file.write_text(content)
        with pytest.raises(InputError, match="not a file of entrain yield"):
            chip_yield(PROBLEM, HARDWARE, chips=2, out=file, **QUICK)


def test_names_of_files_are_checked(graph: Path, tmp_path: Path, refuse: Refuse) -> None:
    plain = ("yield", graph, "--hardware", "lo-2023", "--out")
    assert "is a folder" in refuse(*plain, tmp_path)
    assert "ends in .json" in refuse(*plain, tmp_path / "yield.txt")
