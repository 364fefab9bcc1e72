"""`entrain reproduce` at its smallest size: everything, killed, and by two processes at once."""

from __future__ import annotations

import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import Invoke, Refuse, cli, environment, in_a_terminal, printed
from entrain_paper.experiments import (
    EXPERIMENTS,
    TINY,
    Measurement,
    chip_evaluation,
)
from entrain_paper.figures import FIGURES
from entrain_paper.report import DEVIATIONS
from entrain_paper.report.pages import PAGE_OF
from entrain_paper.reproduction import Queue, ResultsFolder
from stage_origins import assert_trained, trained_elsewhere

SOME = ("multiseed", "endpoint-weight")

pytestmark = [
    pytest.mark.timeout(2400),  # the first test waits for all experiments
    pytest.mark.usefixtures("one_thread"),
]

# Networks this small are no sooner trained by two threads, which take the cores from other tests.
# All processes have as many, so that sums are equal to the last digit.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def options(out: Path) -> list[str]:
    return ["--size", "tiny", "--out", str(out), "--device", "cpu"]


def values(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text())["values"]


def times(folder: Path) -> dict[str, int]:
    return {p.name: p.stat().st_mtime_ns for p in (folder / "stages").glob("*.safetensors")}


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """The folder of all experiments, made by the real command, and its seconds."""
    folder, began = tmp_path_factory.mktemp("reproduction") / "results", time.monotonic()
    done = cli("reproduce", "all", *options(folder), env=ONE_THREAD, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert "NOT the paper's protocol" in done.stderr
    assert "report" in done.stdout
    return folder, time.monotonic() - began


@pytest.fixture(scope="session")
def everything(command: tuple[Path, float]) -> Path:
    """All experiments."""
    return command[0]


def test_the_command_takes_longer_than_its_stages_and_measurements(
    command: tuple[Path, float],
) -> None:
    folder, whole = command
    results = [json.loads((folder / f"{name}.json").read_text()) for name in EXPERIMENTS]
    measured = [result["seconds"] for result in results]
    trained = {stage["key"]: stage["seconds"] for r in results for stage in r["stages"]}
    assert len(trained) == len(times(folder))
    assert min(*measured, *trained.values()) > 0
    assert sum(measured) + sum(trained.values()) < whole


def test_every_result_has_its_setting_versions_and_stages(everything: Path) -> None:
    for name in EXPERIMENTS:
        result = json.loads((everything / f"{name}.json").read_text())
        assert result["experiment"] == name
        assert result["setting"]["name"] == "tiny"
        assert result["key"] == Measurement(EXPERIMENTS[name], TINY).key
        assert {"python", "torch", "numpy", "entrain"} <= set(result["versions"])
        needed = {stage.key: stage for stage in Measurement(EXPERIMENTS[name], TINY).needs}
        specs = {stage["key"]: stage["spec"] for stage in result["stages"]}
        for key, stage in needed.items():
            assert specs[key]["seed"] == stage.seed
            assert specs[key]["runs"] == list(stage.runs)
            assert specs[key]["rule"]["epochs"] == stage.epochs
    rows = values(everything, "multiseed")["rows"]
    assert len(rows) == 6
    for row in rows:
        tops = [run["top1"] for run in row["runs"]]
        assert len(tops) == TINY.runs
        assert row["mean"]["top1"] == pytest.approx(sum(tops) / len(tops))
        assert all(10 <= top <= 100 for top in tops)


def test_a_result_has_the_device_of_each_of_its_stages(tmp_path: Path, invoke: Invoke) -> None:
    def measure() -> dict[str, Any]:
        done = invoke("reproduce", "teachers", *options(tmp_path))
        assert done.exit_code == 0, done.stderr
        return json.loads((tmp_path / "teachers.json").read_text())

    moved, stayed = (TINY.teacher(name) for name in ("MNIST", "Fashion-MNIST"))
    result = measure()
    assert [entry["device"] for entry in result["stages"]] == [result["device"]] * 2
    assert not any("versions" in entry for entry in result["stages"])
    trained_elsewhere(ResultsFolder(tmp_path), moved)
    (tmp_path / "teachers.json").unlink()
    assert_trained(measure(), moved, stayed)


def test_effects_are_differences_and_a_smaller_error_is_a_gain(
    everything: Path,
) -> None:
    rows = {(r["dataset"], r["method"]): r for r in values(everything, "multiseed")["rows"]}
    effects = values(everything, "paired-effects")["rows"]
    assert "rmse_reduction" in {effect["metric"] for effect in effects}
    for effect in effects:
        a, b = (rows[effect["dataset"], effect[side]] for side in ("a", "b"))
        if effect["metric"] == "rmse_reduction":
            expected = b["mean"]["endpoint_rmse"] - a["mean"]["endpoint_rmse"]
        else:
            expected = a["mean"][effect["metric"]] - b["mean"][effect["metric"]]
        assert effect["mean"] == pytest.approx(expected, abs=1e-9)
        low, high = effect["t_interval"]
        assert low <= effect["mean"] <= high
        assert effect["positive"] + effect["zero"] + effect["negative"] == TINY.runs


def test_yield_statistics_are_those_of_the_listed_chips(everything: Path) -> None:
    for row in values(everything, "typical-yield")["rows"]:
        chips = row["accuracies"]
        assert len(chips) == row["chips"] == chip_evaluation.sizes(TINY).many_chips
        assert row["mean"] == pytest.approx(statistics.mean(chips))
        assert row["sd"] == pytest.approx(statistics.stdev(chips))
        assert row["worst"] == min(chips)
        assert row["worst"] <= row["p1"] <= row["p5"] <= row["p50"] <= max(chips)
        for level, share in row["above"].items():
            reached = sum(chip >= float(level) for chip in chips)
            assert share == pytest.approx(100 * reached / len(chips))


def test_a_terminal_shows_progress_and_remaining_time(tmp_path: Path) -> None:
    text = in_a_terminal("reproduce", "teachers", "preprocessing", *options(tmp_path / "out"))
    assert "all jobs" in text
    assert "4/4 done" in text
    assert "mnist-small teacher 8-4-4" in text
    assert re.search(r"all jobs[^\n]* [0-3]/4 done[^\n]*m\d\d:\d\d", text)  # the time left


def test_the_report_has_every_experiment_and_names_the_small_setting(everything: Path) -> None:
    assert "This is not the paper's protocol" in (everything / "REPRODUCTION.md").read_text()
    for name in EXPERIMENTS:
        assert f"Experiment `{name}`" in (everything / PAGE_OF[name].path).read_text()
    drawn = {path.stem for path in (everything / "figures").glob("*.png")}
    assert drawn == {*FIGURES, DEVIATIONS}


def test_finished_jobs_are_not_repeated(everything: Path, invoke: Invoke) -> None:
    before = times(everything)
    done = invoke("reproduce", "all", *options(everything))
    assert done.exit_code == 0, done.stderr
    assert "nothing to do" in done.stdout
    assert times(everything) == before
    (everything / "teachers.json").unlink()
    done = invoke("reproduce", "teachers", *options(everything))
    assert done.exit_code == 0, done.stderr
    assert "measure teachers" in done.stderr
    assert "small teacher" not in done.stderr  # measured again, not trained again
    assert times(everything) == before


def test_a_claim_removes_temporary_files_of_its_job_only(tmp_path: Path) -> None:
    folder = ResultsFolder(tmp_path)
    folder.create()
    ours, other = (TINY.teacher(name) for name in ("MNIST", "Fashion-MNIST"))
    left = [
        folder.stages / f".{stage.key}.safetensors.0123abcd.entrain-tmp" for stage in (ours, other)
    ]
    for path in left:
        path.touch()
    with folder.claim(ours) as held:
        assert held
        assert [path.exists() for path in left] == [False, True]  # another may be writing it


def test_a_report_removes_temporary_files_of_reports_only(tmp_path: Path, invoke: Invoke) -> None:
    shutil.copy(Path(__file__).parents[2] / "results" / "teachers.json", tmp_path)
    (tmp_path / "figures").mkdir()
    (tmp_path / "reproduction").mkdir()
    left = [
        tmp_path / ".REPRODUCTION.md.0123abcd.entrain-tmp",
        tmp_path / "figures" / ".seeds.png.0123abcd.entrain-tmp",
        tmp_path / "reproduction" / ".teachers.md.0123abcd.entrain-tmp",
    ]
    other = (
        tmp_path / ".teachers.json.0123abcd.entrain-tmp"
    )  # of a measurement, which may be going on
    for path in (*left, other):
        path.touch()
    assert invoke("report", tmp_path).exit_code == 0
    assert [path.exists() for path in (*left, other)] == [False, False, False, True]


def test_a_result_of_another_setting_is_not_overwritten(everything: Path, refuse: Refuse) -> None:
    before = (everything / "multiseed.json").read_bytes()
    message = refuse("reproduce", "multiseed", "--runs", 3, *options(everything))
    assert "holds the result of another setting (tiny, 2 runs; this one is tiny, 3" in message
    assert "choose another folder" in message
    assert (everything / "multiseed.json").read_bytes() == before


def start(out: Path, *names: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "entrain", "reproduce", *(names or SOME), *options(out)],
        env=environment(**ONE_THREAD),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(process: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
    """Wait for `condition` while the process works."""
    end = time.monotonic() + 300
    while not condition():
        assert process.poll() is None, process.communicate(timeout=60)
        assert time.monotonic() < end
        time.sleep(0.002)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_a_run_killed_three_times_gives_the_same_numbers(everything: Path, tmp_path: Path) -> None:
    for number in range(1, 4):
        process = start(tmp_path)
        finished = number * 2  # stages that must be there before the kill
        until(process, lambda finished=finished: len(times(tmp_path)) >= finished)
        before = times(tmp_path)
        kill(process)
    done = cli("reproduce", *SOME, *options(tmp_path), env=ONE_THREAD)
    assert done.returncode == 0, done.stderr
    after = times(tmp_path)
    for name in before:
        state = ResultsFolder(tmp_path).stages / name
        assert state.exists()
    unchanged = [name for name in before if after[name] == before[name]]
    assert len(unchanged) >= len(before) - 1  # one may have been in the middle
    for name in SOME:
        assert values(tmp_path, name) == values(everything, name)


def test_two_processes_share_the_jobs(everything: Path, tmp_path: Path) -> None:
    both = [start(tmp_path), start(tmp_path)]
    complaint = [process.communicate(timeout=600) for process in both]
    assert [process.returncode for process in both] == [0, 0], complaint
    titles = Counter(
        line.split("  ")[1] + line.split("  ")[0].split("/")[1]
        for _, errors in complaint
        for line in errors.splitlines()
        if "/" in line.split("  ")[0] and line.endswith(" s")
    )
    needed = Queue(
        ResultsFolder(tmp_path / "none"), [EXPERIMENTS[name] for name in SOME], TINY
    ).all.values()
    assert sum(titles.values()) == len(needed)  # every job was done once, by either process
    for name in SOME:
        assert values(tmp_path, name) == values(everything, name)


def test_a_killed_process_does_not_block_another(everything: Path, tmp_path: Path) -> None:
    first = start(tmp_path, "multiseed")
    until(first, lambda: bool(list((tmp_path / "stages").glob("*.lock"))))
    second = start(tmp_path, "multiseed")
    time.sleep(0.5)
    kill(first)
    _, errors = second.communicate(timeout=600)
    assert second.returncode == 0, errors
    assert values(tmp_path, "multiseed") == values(everything, "multiseed")


def test_a_damaged_stage_is_named_and_can_be_trained_again(
    everything: Path, tmp_path: Path, refuse: Refuse, invoke: Invoke
) -> None:
    shutil.copytree(everything / "stages", tmp_path / "stages")
    stage = TINY.teacher("MNIST")
    file = tmp_path / "stages" / f"{stage.key}.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    message = refuse("reproduce", "teachers", *options(tmp_path))
    assert str(file) in message
    assert "Delete it to train its stage again" in message
    file.unlink()
    result = invoke("reproduce", "teachers", *options(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert values(tmp_path, "teachers") == values(everything, "teachers")


def test_another_file_is_not_overwritten_by_a_result(tmp_path: Path, refuse: Refuse) -> None:
    (tmp_path / "preprocessing.json").write_text('{"mine": 1}')
    message = refuse("reproduce", "preprocessing", *options(tmp_path))
    assert "not a result of entrain reproduce" in message
    assert json.loads((tmp_path / "preprocessing.json").read_text()) == {"mine": 1}


def test_quick_uses_the_quick_setting(tmp_path: Path, invoke: Invoke) -> None:
    done = invoke("reproduce", "preprocessing", "--quick", "--runs", 1, "--out", tmp_path)
    assert done.exit_code == 0, done.stderr
    setting = json.loads((tmp_path / "preprocessing.json").read_text())["setting"]
    assert (setting["name"], setting["runs"]) == ("quick", 1)
    page = (tmp_path / "reproduction" / "preprocessing.md").read_text()
    assert page.startswith("# Datasets, Splits, and Preprocessing")


def test_errors_of_wrong_calls_name_the_remedy(tmp_path: Path, refuse: Refuse) -> None:
    assert "did you mean 'widths'" in refuse("reproduce", "width", *options(tmp_path))
    assert "--runs" in refuse("reproduce", "all", "--runs", 0)
    assert "--address belongs to --engine ray" in refuse(
        "reproduce", "teachers", "--address", "localhost:1", *options(tmp_path)
    )
    assert "unknown engine 'cloud'" in refuse(
        "reproduce", "teachers", "--engine", "cloud", *options(tmp_path)
    )
    assert "no results of entrain reproduce" in refuse("report", tmp_path / "nothing")
    file = tmp_path / "file"
    file.write_text("x")
    assert "is a file, expected a folder" in refuse("reproduce", "teachers", *options(file))


def test_the_list_names_every_experiment(invoke: Invoke) -> None:
    listed = printed(invoke, "reproduce", "--list")
    assert set(listed["experiments"]) == set(EXPERIMENTS)
    assert listed["experiments"]["multiseed"]["stages"] == 8
    assert invoke("reproduce").stdout == invoke("reproduce", "--list").stdout


def test_results_as_json(everything: Path, invoke: Invoke, tmp_path: Path) -> None:
    found = printed(invoke, "reproduce", "preprocessing", *options(everything))
    assert found["results"]["preprocessing"]["values"] == values(everything, "preprocessing")
    some = ["multiseed", "preprocessing"]
    for name in some:
        shutil.copy(everything / f"{name}.json", tmp_path)
    assert printed(invoke, "report", tmp_path)["experiments"] == some
