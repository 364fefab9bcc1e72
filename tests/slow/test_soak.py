"""A little of `make soak`: real commands, killed at random moments; and that a soak can fail."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from run_contents import contents, differences, last_write
from safetensors.torch import save_file
from soak import SCENARIOS, Scenario, shares, soak

from entrain_paper.report import documents

ROOT = Path(__file__).parents[2]
TABLE = Scenario("a table", "train TABLE --out out --network 8 --epochs 8", "train --resume out")
SEARCH = Scenario(
    "search",
    "search TABLE --trials 6 --side-by-side 2 --epochs 2 --hidden 8 --out out/found.json",
)


@pytest.mark.parametrize(
    "scenario", [TABLE, pytest.param(SEARCH, marks=pytest.mark.slow)], ids=["a table", "a search"]
)
def test_killed_commands_end_with_the_same_bits(scenario: Scenario, tmp_path: Path) -> None:
    if scenario is SEARCH:
        pytest.importorskip("optuna", reason="optuna is not installed")
    result = soak(scenario, 2, random.Random(8), tmp_path / "soak")
    assert result.mismatches == []
    assert len(result.kills) == result.resumes == 2


def a_run(folder: Path, *, seconds: float, digest: str, weight: float = 1.0) -> dict[str, str]:
    folder.mkdir()
    header = {"epoch": 3, "seconds": seconds}
    tensors = {"couplings": torch.tensor([0.0, weight])}
    save_file(tensors, folder / "a.safetensors", {"entrain": json.dumps(header), "digest": digest})
    values = {"top1": 90.0, "stages": [{"seconds": seconds}], "digest": digest}
    (folder / "a.json").write_text(json.dumps(values))
    (folder / "a.lock").touch()
    return contents(folder)


def test_times_may_differ_and_nothing_else(tmp_path: Path) -> None:
    one = a_run(tmp_path / "1", seconds=1.0, digest="x")
    assert one.keys() == {"a.json", "a.safetensors"}
    assert differences(one, a_run(tmp_path / "2", seconds=2.0, digest="y")) == []
    next_float = float(torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)))
    other = a_run(tmp_path / "3", seconds=1.0, digest="x", weight=next_float)
    assert differences(one, other) == ["a.safetensors differs"]
    (tmp_path / "2" / ".a.json.x1.tmp").touch()  # left by a killed write
    (tmp_path / "2" / "a.safetensors").unlink()
    assert differences(one, contents(tmp_path / "2")) == [
        ".a.json.x1.tmp is too much",
        "a.safetensors is missing",
    ]


def test_the_minutes_of_a_report_may_differ_and_nothing_else_of_it(tmp_path: Path) -> None:
    result = json.loads((ROOT / "results" / "teachers.json").read_text())
    slower = result | {"seconds": result["seconds"] + 6000}
    for name, made in (("1", result), ("2", slower), ("3", result | {"device": "Another"})):
        (tmp_path / name).mkdir()
        (text,) = (t for n, t in documents({"teachers": made}, []).items() if "method" in n)
        (tmp_path / name / "method.md").write_text(text)
    one, two, three = (contents(tmp_path / name) for name in "123")
    assert differences(one, two) == []
    assert differences(one, three) == ["method.md differs"]


def test_a_digest_counts_where_no_time_is_stated(tmp_path: Path) -> None:
    for name, digest in (("1", "x"), ("2", "y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "found.json").write_text(json.dumps({"top1": 1, "digest": digest}))
    assert differences(contents(tmp_path / "1"), contents(tmp_path / "2")) == ["found.json differs"]


def test_where_a_kill_hit_is_read_from_the_files(tmp_path: Path) -> None:
    assert last_write(tmp_path, 0.0) == "before its first write"
    (tmp_path / "state").mkdir()
    state = tmp_path / "state" / "path-0123456789abcdef.safetensors"
    save_file({"x": torch.ones(1)}, state, {"entrain": json.dumps({"epoch": 7})})
    assert last_write(tmp_path, 0.0) == "after path.safetensors, epoch 7"
    assert last_write(tmp_path, state.stat().st_mtime + 1) == "before its first write"
    state.rename(state.with_name(".results.json.a_b1.tmp"))
    assert last_write(tmp_path, 0.0) == "writing results.json"


def test_every_scenario_gets_its_share_of_a_hundred_kills() -> None:
    parts = shares(list(SCENARIOS), 100)
    assert sum(parts) == 100
    assert min(parts) >= 3
    commands = {each.command.split()[0] for each in SCENARIOS}
    assert commands == {"train", "reproduce", "bakeoff", "search", "calibrate", "export"}
