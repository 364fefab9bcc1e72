"""A training that is killed, at any moment and as often as may be, ends with the same weights."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from command_line import QUICK, Invoke, cli, environment, in_process, recipe

EPOCHS = {"teacher": 40, "path": 20, "two-stage-end": 12}
RECIPE = recipe(*EPOCHS.values())
MODELS = ("path-0.safetensors", "two-stage-end-0.safetensors")

# `entrain` with a checkpoint after every epoch, killed when it replaces FILE for the COUNTth time,
# just before or just after.
DRIVER = """
import os, signal, sys
from entrain.training import run_folder
from entrain.cli import main

run_folder.SECONDS_BETWEEN_SAVES = 0.0
moment, name, count, *sys.argv[1:] = sys.argv[1:]
replace, left = os.replace, int(count)

def replace_and_die(source, target):
    global left
    left -= os.path.basename(target) == name
    if left == 0 and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

os.replace = replace_and_die
main()
"""


class Training:
    """A process that trains into `folder`: a new run, or the one that is there."""

    def __init__(self, folder: Path, *kill: object) -> None:
        self.folder = folder
        begun = (folder / "run.json").exists()
        task = ["--resume", folder] if begun else ["digits", "--out", folder, *RECIPE]
        arguments = [*(kill or ("never", "", -1)), "train", *task]
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, *map(str, arguments)],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for `condition` while the process trains."""
        end = time.monotonic() + 300
        while not condition():
            assert self.process.poll() is None, self.process.communicate(timeout=60)
            assert time.monotonic() < end
            time.sleep(0.002)

    def progress_in(self, stage: str) -> Callable[[], bool]:
        """Whether a checkpoint of `stage` was written since now."""
        file = self.folder / "state" / f"{stage}.safetensors"
        before = file.stat().st_ino if file.exists() else None
        return lambda: file.exists() and file.stat().st_ino != before

    def ended(self) -> tuple[int, str]:
        """Exit code and standard error."""
        _, error = self.process.communicate(timeout=60)
        return self.process.returncode, error


def unfinished_stage(folder: Path) -> str | None:
    """The stage whose checkpoint is not of its last epoch."""
    for stage, epochs in EPOCHS.items():
        file = folder / "state" / f"{stage}.safetensors"
        if not file.exists():
            return None  # between two stages
        try:
            with safe_open(file, framework="pt") as opened:
                done = f'"epoch": {epochs},' in opened.metadata()["entrain"]
        except SafetensorError as error:
            raise AssertionError(f"{file} is half-written") from error
        if not done:
            return stage
    return None


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same recipe, trained without a break by the plain command."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    done = in_process("train", "digits", "--out", folder, *RECIPE)
    assert done.exit_code == 0, done.stderr
    return folder


def same_models(one: Path, other: Path) -> None:
    for name in MODELS:
        ours, theirs = load_file(one / name), load_file(other / name)
        assert ours.keys() == theirs.keys()
        for tensor in ours:
            assert torch.equal(ours[tensor], theirs[tensor]), f"{name}: {tensor}"
        assert (one / name).read_bytes() == (other / name).read_bytes()
        assert ours["couplings"].any()


def temporary_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob(".*") if path.is_file()]


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_the_same_weights(
    undisturbed: Path, tmp_path: Path
) -> None:
    folder, moments = tmp_path / "run", random.Random(20240917)
    landed = []
    for stage, moment, count in (
        ("teacher", "before", 10),
        ("path", "before", 3),
        ("two-stage-end", "after", 2),
    ):
        at_a_write = Training(folder, moment, f"{stage}.safetensors", count)
        assert at_a_write.ended()[0] == -signal.SIGKILL
        assert unfinished_stage(folder) == stage
        half_written = temporary_files(folder)
        assert len(half_written) == (moment == "before")
        landed.append(stage)

        at_random = Training(folder)
        at_random.until(at_random.progress_in(stage))
        assert not any(path.exists() for path in half_written)
        time.sleep(moments.uniform(0.0, 0.03))
        assert at_random.process.poll() is None
        at_random.process.kill()
        assert at_random.ended()[0] == -signal.SIGKILL
        landed.append(unfinished_stage(folder) or "between stages")
    writing_models = Training(folder, "before", MODELS[1], 1)
    assert writing_models.ended()[0] == -signal.SIGKILL
    assert {path.name for path in folder.glob("*.safetensors")} == {MODELS[0]}

    last = cli("train", "--resume", folder)
    assert last.returncode == 0, last.stderr
    same_models(folder, undisturbed)
    assert temporary_files(folder) == []
    assert len(landed) == 6
    assert set(EPOCHS) <= set(landed)


def test_a_run_killed_before_its_recipe_is_written_can_be_started_again(
    tmp_path: Path, invoke: Invoke
) -> None:
    folder = tmp_path / "run"
    assert Training(folder, "before", "run.json", 1).ended()[0] == -signal.SIGKILL
    assert not (folder / "run.json").exists()
    assert len(temporary_files(folder)) == 1
    assert invoke("train", "digits", "--out", folder, *QUICK).exit_code == 0
    assert temporary_files(folder) == []


def test_of_two_processes_that_start_one_run_one_trains_and_one_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "entrain", "train", "digits", "--out", str(folder), *QUICK]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "env": environment()}
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **quiet) for _ in range(2)]
    errors = {process.communicate(timeout=300)[1]: process.returncode for process in both}
    assert sorted(errors.values()) == [0, 2], errors
    (refusal,) = (error for error, code in errors.items() if code == 2)
    assert "another process is training this run" in refusal or "holds another run" in refusal
    assert load_file(folder / MODELS[1])["couplings"].any()
    assert json.loads((folder / "results.json").read_text())["results"]


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_prints_the_resume_command_and_a_running_run_is_locked(
    undisturbed: Path, tmp_path: Path, invoke: Invoke
) -> None:
    folder = tmp_path / "run"
    training = Training(folder)
    training.until(training.progress_in("path"))
    os.kill(training.process.pid, signal.SIGSTOP)  # alive, and sure not to finish
    try:
        second = invoke("train", "--resume", folder)
        third = invoke("train", "--out", folder)
    finally:
        os.kill(training.process.pid, signal.SIGCONT)
    assert second.exit_code == 2
    assert "another process is training this run" in second.stderr
    assert third.exit_code == 2
    assert "already holds another run" in third.stderr
    os.kill(training.process.pid, signal.SIGINT)
    code, error = training.ended()
    assert code == 130
    assert f"continue with: entrain train --resume {folder}" in error
    assert "Traceback" not in error
    assert not (folder / MODELS[1]).exists()
    assert temporary_files(folder) == []

    assert invoke("train", "--resume", folder).exit_code == 0
    same_models(folder, undisturbed)
