"""The search for DIRECT's settings: side by side, on validation alone, resumable."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from command_line import Invoke, Refuse, environment, printed
from entrain import load
from entrain.data import Split, load_dataset
from entrain.physics import NetworkSpec
from entrain.rules import Direct
from entrain.rules.training_data import TrainingData
from entrain.training import Stage, train_stage
from entrain.training.search import SPACE, search
from entrain.utils.errors import InputError

pytest.importorskip("optuna", reason="optuna is not installed")

PROTOCOL = Direct(epochs=2, batch_size=128, coarse_steps=10, fine_epochs=0)


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits")


def test_trials_are_inside_the_space_and_sorted(digits) -> None:
    told = []
    found = search(
        digits,
        PROTOCOL,
        trials=5,
        side_by_side=2,
        hidden=8,
        on_trials=lambda trials: told.append(len(trials)),
    )
    assert told == [2, 4, 5]
    tops = [trial.top1 for trial in found]
    assert tops == sorted(tops, reverse=True)
    for trial in found:
        assert set(trial.settings) == set(SPACE)
        for name, value in trial.settings.items():
            low, high = SPACE[name]
            assert low <= value <= high


def test_a_trial_beside_others_is_the_trial_alone(digits) -> None:
    found = search(digits, PROTOCOL, trials=3, side_by_side=3, hidden=8)
    data = TrainingData(digits, torch.device("cpu"))
    for trial in found:
        values = {**PROTOCOL.__dict__, **trial.settings}
        stage = Stage(Direct(**values), "digits", NetworkSpec(hidden=8))
        alone = train_stage(stage, data, {}).selected("top1", 0)
        assert alone == pytest.approx(trial.top1, abs=1.0)


def test_a_search_resumes_from_its_journal(digits, tmp_path: Path) -> None:
    journal = tmp_path / "s.journal"
    first = search(digits, PROTOCOL, trials=2, hidden=8, journal=journal)
    again = search(digits, PROTOCOL, trials=2, hidden=8, journal=journal)
    assert again == first
    more = search(digits, PROTOCOL, trials=4, hidden=8, journal=journal)
    assert len(more) == 4
    assert all(trial in more for trial in first)
    assert len({tuple(trial.settings.values()) for trial in more}) == 4


def test_a_stopped_search_ends_with_the_same_trials(digits, tmp_path: Path) -> None:
    # Beyond the sampler's ten random trials, where it asks for what the scores suggest.
    options = {"trials": 15, "side_by_side": 3, "hidden": 4}
    protocol = replace(PROTOCOL, epochs=1)
    undisturbed = search(digits, protocol, **options)

    class Stopped(Exception):
        pass

    def stop(after: int, trials) -> None:
        if len(trials) == after:
            raise Stopped

    journal = tmp_path / "s.journal"
    for after in (3, 12):
        with pytest.raises(Stopped):
            search(digits, protocol, **options, journal=journal, on_trials=partial(stop, after))
    assert search(digits, protocol, **options, journal=journal) == undisturbed
    kept = journal.read_bytes()
    assert search(digits, protocol, **options, journal=journal) == undisturbed
    assert journal.read_bytes() == kept


@pytest.mark.parametrize(
    "content",
    [
        '{"op_code":0}\n{"op_code":1}\n',
        "[]",
        '{"searches": {"digits x": [{"top1": 1}]}}',
        '{"searches": {"digits x": [{"top1": NaN, "settings": {}}]}}',
    ],
)
def test_other_files_are_refused_as_journals_and_kept(digits, tmp_path: Path, content: str) -> None:
    journal = tmp_path / "s.journal"
    journal.write_text(content)
    with pytest.raises(InputError, match="not a journal of a search"):
        search(digits, PROTOCOL, trials=1, hidden=8, journal=journal)
    assert journal.read_text() == content


def test_a_second_search_with_one_journal_is_refused(tmp_path: Path, invoke: Invoke) -> None:
    options = ["--epochs=1", "--hidden=4", "--trials=40", "--side-by-side=2", "--device=cpu"]
    file = tmp_path / "found.json"
    command = [sys.executable, "-m", "entrain", "search", "digits", *options, "--out", str(file)]
    first = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while not file.with_suffix(".journal").exists():
        assert first.poll() is None, first.communicate(timeout=60)
        assert time.monotonic() < end
        time.sleep(0.002)
    os.kill(first.pid, signal.SIGSTOP)  # alive, and sure not to finish
    try:
        second = invoke("search", "digits", *options, "--out", file)
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert second.exit_code == 2
    assert "another process is searching with this journal" in " ".join(second.stderr.split())
    _, errors = first.communicate(timeout=600)
    assert first.returncode == 0, errors
    found = json.loads(file.read_text())
    assert len(found["trials"]) == 40
    again = printed(invoke, "search", "digits", *options, "--out", file)  # takes what is there
    assert again["trials"] == found["trials"]


def test_other_examples_of_the_same_name_are_another_search(digits, tmp_path: Path) -> None:
    journal = tmp_path / "s.journal"
    first = search(digits, PROTOCOL, trials=1, hidden=8, journal=journal)
    fewer = Split(digits.train.features[:600], digits.train.labels[:600])
    for data, seed in ((replace(digits, train=fewer), 0), (digits, 1)):
        other = search(data, PROTOCOL, trials=1, hidden=8, seed=seed, journal=journal)
        assert other != first
    assert search(digits, PROTOCOL, trials=1, hidden=8, journal=journal) == first


def test_a_search_does_not_use_test_examples(digits) -> None:
    found, blind = (
        search(data, PROTOCOL, trials=2, hidden=8)
        for data in (digits, replace(digits, test=Split(digits.test.features[:1], np.array([0]))))
    )
    assert found == blind


def test_the_command_writes_what_train_takes(
    tmp_path: Path, invoke: Invoke, refuse: Refuse
) -> None:
    file = tmp_path / "found.json"
    options = ["--epochs=2", "--hidden=8", "--trials=2", "--device=cpu", "--out", file]
    found = printed(invoke, "search", "digits", *options)
    assert json.loads(file.read_text())["settings"] == found["settings"]
    before = file.read_bytes()
    assert "is not a search with" in refuse("search", "digits", *options, "--hidden=4")
    assert file.read_bytes() == before
    small = ["--network=4,2,2", "--epochs=1", "--set=steps=20", "--device=cpu"]
    arguments = ["--protocol", "DIRECT", "--settings", file, "--out", tmp_path / "run", *small]
    printed(invoke, "train", "digits", *arguments)
    (protocol,) = json.loads((tmp_path / "run" / "run.json").read_text())["recipe"]["protocols"]
    for name, value in found["settings"].items():
        assert protocol[name] == pytest.approx(value)
    file.write_text("{}")
    assert "not a file of entrain search" in refuse("search", "digits", *options)
    assert file.read_text() == "{}"  # a file of the user is never replaced
    arguments[5] = tmp_path / "other"
    assert "not a file of entrain search" in refuse("train", "digits", *arguments)
    assert "add --protocol DIRECT" in refuse("train", "digits", "--settings", file)
    assert "--trials" in refuse("search", "digits", "--trials", 0)


def test_the_command_it_prints_trains_the_same_data(tmp_path: Path, invoke: Invoke) -> None:
    table = tmp_path / "my data.csv"
    rows = [f"{i % 2},{i % 2 + 0.1 * (i % 5)},{i % 3}" for i in range(60)]
    table.write_text("\n".join(["kind,a,b", *rows]))
    options = ["--label=kind", "--epochs=1", "--hidden=8", "--trials=1", "--device=cpu"]
    done = invoke("search", table, *options, "--out", tmp_path / "found.json")
    assert done.exit_code == 0, done.stderr
    command = shlex.split(done.stdout.splitlines()[-1])
    more = ["--out", tmp_path / "run", "--epochs=1", "--set=steps=20", "--device=cpu"]
    printed(invoke, *command[1:], *more)
    assert load(tmp_path / "run").class_names == ("0", "1")
    recipe = json.loads((tmp_path / "run" / "run.json").read_text())["recipe"]
    assert recipe["network"]["hidden"] == 8
