"""Output folders, resumed runs and divergence: what cannot go on is refused and nothing is lost."""

from __future__ import annotations

import json
import os
import resource
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import entrain
from command_line import QUICK, TINY, Invoke, Refuse, Run, cli, strict
from entrain.data import fingerprint
from entrain.models.model import read_model
from entrain.rules import PROTOCOLS
from entrain.training.run_folder import RunFolder, new_folder
from entrain.utils.errors import InputError
from entrain.utils.files import file_lock, with_digest, write_atomically
from model_files import rewritten

SETTINGS = {
    "device": "cpu",
    "data_dir": None,
    "examples": fingerprint(entrain.load_dataset("digits")),
}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`; an empty lock file, which some systems leave, is none."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not (path.name == "run.lock" and path.stat().st_size == 0)
    }


# Output folders


def test_a_folder_with_a_run_is_left_unchanged(refuse: Refuse, tiny_run: Run) -> None:
    before = contents(tiny_run.folder)
    message = refuse("train", *QUICK, "--out", tiny_run.folder, "--json")
    assert "already holds another run" in message
    assert f"entrain train --resume {tiny_run.folder}" in message
    assert contents(tiny_run.folder) == before


def test_a_folder_with_other_files_is_left_unchanged(refuse: Refuse, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear")
    message = refuse("train", *QUICK, "--out", tmp_path, "--json")
    assert "already holds other files" in message
    assert "--resume" not in message
    assert contents(tmp_path) == {"letter.txt": b"Dear"}


def test_a_folder_that_is_a_file(refuse: Refuse, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert f"{file}: is a file" in refuse("train", *QUICK, "--out", file, "--json")
    message = refuse("train", *QUICK, "--out", file / "below", "--json")
    assert f"{file / 'below'}: " in message
    assert "Not a directory" in message
    assert file.read_text() == "x"


def test_a_place_that_cannot_be_written(refuse: Refuse) -> None:
    assert "/proc/entrain" in refuse("train", *QUICK, "--out", "/proc/entrain/run", "--json")


def test_numbered_folders_are_never_shared(tmp_path: Path) -> None:
    made: list[Path] = []
    together = threading.Barrier(8, timeout=120)

    def compete() -> None:
        together.wait()
        made.append(new_folder(tmp_path / "runs", "digits"))

    threads = [threading.Thread(target=compete) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(set(made)) == 8


def test_a_folder_that_another_process_creates_first_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = Path.mkdir

    def mkdir_and_lose(self: Path, *arguments: Any, **options: Any) -> None:
        mkdir(self, *arguments, **options)
        (self / "run.json").write_text("theirs")

    monkeypatch.setattr(Path, "mkdir", mkdir_and_lose)
    with pytest.raises(InputError, match="already holds another run"):
        RunFolder.create(tmp_path / "run", entrain.Recipe("digits"), {})
    assert contents(tmp_path) == {"run/run.json": b"theirs"}


def test_protocols_that_name_files_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="other than teacher"):
        entrain.Recipe("digits", protocols=(replace(PROTOCOLS["Z-END"], name="Teacher"),))
    for name in ("../../x", "a/b", "", ".x", "PATH\n"):
        recipe = entrain.Recipe("digits", protocols=(replace(PROTOCOLS["Z-END"], name=name),))
        with pytest.raises(InputError, match="name"):
            RunFolder.create(tmp_path / "run", recipe, {})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_names_the_file_and_the_run_can_be_resumed(
    invoke: Invoke, tiny_run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    most = (tiny_run.folder / "state" / "teacher.safetensors").stat().st_size + 100
    done = cli(
        "train",
        "digits",
        "--out",
        folder,
        *TINY,
        "--json",
        limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    message = f"{folder / 'state' / 'path.safetensors'}: File too large"
    assert done.returncode == 2
    assert strict(done.stdout) == {"error": message, "code": 2}
    assert "Traceback" not in done.stderr
    assert f"error: {message}" in done.stderr
    assert f"continue with: entrain train --resume {folder}" in done.stderr
    assert set(contents(folder)) == {"run.json", "state/teacher.safetensors"}
    assert invoke("train", "--resume", folder).exit_code == 0
    for name in ("path-0.safetensors", "two-stage-end-0.safetensors"):
        assert (folder / name).read_bytes() == (tiny_run.folder / name).read_bytes()


def test_a_failing_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_atomically(path, bytes(1000))
        with pytest.raises(OSError, match="File too large"):
            RunFolder.create(tmp_path / "run", entrain.Recipe("digits"), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(path)
    assert contents(tmp_path) == {"file": b"old"}


# Resuming


@pytest.fixture
def run(tiny_run: Run, tmp_path: Path) -> Path:
    """A run folder to spoil."""
    return Path(shutil.copytree(tiny_run.folder, tmp_path / "run"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", "1"], "--seed"),
        (["--out", "elsewhere"], "--out"),
        (["--set", "PATH.epochs=9"], "--set"),
        (["--protocol", "PATH"], "--protocol"),
        (["digits"], "DATASET"),
    ],
)
def test_resuming_takes_no_recipe(
    refuse: Refuse, run: Path, options: list[str], message: str
) -> None:
    before = contents(run)
    found = refuse("train", "--resume", run, *options, "--json")
    assert f"error: {message} cannot be combined with --resume" in found
    assert contents(run) == before


def test_resuming_other_folders_is_refused(refuse: Refuse, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        message = refuse("train", "--resume", place, "--json")
        assert f"{place}: not a run folder (it has no run.json)" in message


def without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in keys}


def in_network(run: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return run["recipe"]["network"] | changes


RUN_FILES: dict[str, Callable[[dict[str, Any]], bytes | Any]] = {
    "empty": lambda _: b"",
    "binary": lambda _: b"\xff\xfe\x00garbage",
    "truncated": lambda run: json.dumps(run).encode()[:-20],
    "nested": lambda _: b"[" * 100_000,
    "list": lambda run: [run],
    "no recipe": lambda run: without(run, "recipe"),
    "no settings": lambda run: without(run, "settings"),
    "settings": lambda run: run | {"settings": {"device": 5, "data_dir": None}},
    "data folder": lambda run: run | {"settings": {"device": "cpu", "data_dir": 7}},
    "recipe": lambda run: run | {"recipe": "yes"},
    "dataset": lambda run: run | {"recipe": run["recipe"] | {"dataset": ["digits"]}},
    "runs": lambda run: run | {"recipe": run["recipe"] | {"runs": 0}},
    "protocols": lambda run: run | {"recipe": run["recipe"] | {"protocols": [1]}},
    "extra": lambda run: run | {"recipe": run["recipe"] | {"network": in_network(run, speed=1)}},
    "dynamics": lambda run: (
        run | {"recipe": run["recipe"] | {"network": in_network(run, dynamics={"speed": 1})}}
    ),
    "size": lambda run: run | {"recipe": run["recipe"] | {"network": in_network(run, hidden=11)}},
}


@pytest.mark.parametrize("name", RUN_FILES)
def test_resuming_a_run_file_that_is_garbage(refuse: Refuse, run: Path, name: str) -> None:
    file = run / "run.json"
    content = RUN_FILES[name](json.loads(file.read_text()))
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    before = contents(run)
    assert f"{file}: " in refuse("train", "--resume", run, "--json")
    assert contents(run) == before


@pytest.mark.parametrize("stage", ["teacher", "path", "two-stage-end"])
def test_resuming_a_truncated_checkpoint(refuse: Refuse, run: Path, stage: str) -> None:
    file = run / "state" / f"{stage}.safetensors"
    for share in (0, 0.3, 0.99):
        file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
        before = contents(run)
        message = refuse("train", "--resume", run, "--json")
        assert f"{file}: not a readable checkpoint file" in message
        assert "Delete it to train its stage again" in message
        assert contents(run) == before


def test_a_deleted_checkpoint_is_trained_again(invoke: Invoke, run: Path) -> None:
    before = contents(run)
    (run / "state" / "path.safetensors").unlink()
    (run / "path-0.safetensors").unlink()
    assert invoke("train", "--resume", run).exit_code == 0
    after = contents(run)
    assert set(after) == set(before)
    for name in before:
        assert after[name] == before[name] or name == "results.json"  # which has the seconds


def test_resuming_with_a_checkpoint_of_another_recipe(refuse: Refuse, run: Path) -> None:
    file = run / "run.json"
    content = json.loads(file.read_text())
    content["recipe"]["teacher"]["widths"] = [5, 3, 2]
    file.write_text(json.dumps(content))
    assert f"{file}: does not match its digest" in refuse("train", "--resume", run, "--json")
    file.write_text(json.dumps(with_digest(content)))
    message = refuse("train", "--resume", run, "--json")
    assert "teacher.safetensors: belongs to another recipe" in message


def test_resuming_with_an_unreadable_checkpoint_is_refused(refuse: Refuse, run: Path) -> None:
    file = run / "state" / "path.safetensors"
    shutil.copy(run / "path-0.safetensors", file)
    assert "holds a model, expected a checkpoint" in refuse("train", "--resume", run, "--json")
    rewritten(run / "state" / "teacher.safetensors", file, {"merit": None})
    message = refuse("train", "--resume", run, "--json")
    assert f"{file}: not a complete checkpoint (KeyError('merit'))" in message
    rewritten(run / "state" / "teacher.safetensors", file, header={"epoch": None})
    assert f"{file}: not a complete checkpoint" in refuse("train", "--resume", run, "--json")


def test_a_run_in_training_is_locked(refuse: Refuse, run: Path) -> None:
    before = contents(run)
    with file_lock(run / "run.lock") as ours:
        assert ours
        message = refuse("train", "--resume", run, "--json")
    assert f"{run}: another process is training this run" in message
    assert contents(run) == before


def test_a_data_folder_is_remembered_from_everywhere(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    options = ["--data-dir", "data", "--out", "run"]
    assert invoke("train", *QUICK, *options).exit_code == 0
    kept = RunFolder.open(tmp_path / "run").settings["data_dir"]
    assert kept == str(tmp_path / "data")


# Divergence


def test_a_first_stage_that_diverges_at_once_leaves_no_checkpoint(
    refuse: Refuse, tmp_path: Path
) -> None:
    option = "--set=PATH.learning_rate=1e12"
    message = refuse("train", *QUICK, option, "--out", tmp_path / "run", "--json")
    assert "PATH: the loss became non-finite in the first epoch" in message
    assert "lower the learning rate of PATH (--set PATH.learning_rate=...)" in message
    assert not (tmp_path / "run" / "results.json").exists()


@pytest.mark.parametrize("protocol", ["PATH", "TWO-STAGE-END", "DIRECT"])
def test_a_time_that_is_too_long_gets_advice_about_time(
    invoke: Invoke, tmp_path: Path, protocol: str
) -> None:
    unwanted = ["learning_rate", "TWO-STAGE-END"]
    if protocol == "TWO-STAGE-END":  # from the exact minimum, which exists at any time
        unwanted += ["PATH", "path"]
    elif protocol == "DIRECT":
        unwanted += ["PATH", "TEACHER"]
    kept = [option for option in QUICK if not any(name in option for name in unwanted)]
    options = [*kept, "--epochs=1", "--protocol", protocol, "--set=observation_time=1e9"]
    result = invoke("train", *options, "--out", tmp_path / "run")
    assert result.exit_code == 2
    message = " ".join(result.stderr.split())
    assert protocol in message
    assert "Euler step is 5e+07 (observation time 1e+09 in 20 steps)" in message
    assert (
        "shorter observation time or more steps (--set observation_time=..., steps=...)" in message
    )
    assert "learning" not in message


def test_a_second_stage_that_diverges_at_once_keeps_the_first(
    invoke: Invoke, tmp_path: Path
) -> None:
    option, folder = "--set=TWO-STAGE-END.learning_rate=1e6", tmp_path / "run"
    result = invoke("train", *QUICK, option, "--out", folder, "--json")
    assert result.exit_code == 2
    message = " ".join(result.stderr.split())
    assert (
        "TWO-STAGE-END run 0 became non-finite in epoch 1; only its initial network is saved"
        in message
    )
    assert "Lower its rate (--set TWO-STAGE-END.learning_rate=..., it was 1e+06)" in message
    first, second = (
        read_model(folder / f"{name}-0.safetensors").network for name in ("path", "two-stage-end")
    )
    assert torch.equal(first.couplings, second.couplings)
    assert first.couplings.abs().max() > 0


def test_a_run_that_diverges_keeps_its_best_and_leaves_the_others(
    invoke: Invoke, tmp_path: Path
) -> None:
    networks = {}
    for name, rates in (("good", (1000.0, 1000.0)), ("bad", (1000.0, 8000.0))):
        base = entrain.Recipe.for_dataset("digits", ["PATH"], path_solver="sgd", runs=2)
        chosen = base.adjusted(
            teacher={"widths": (4, 3, 3), "initialisations": 1, "epochs": 10},
            path={"learning_rate": rates, "epochs": 4},
        )
        chosen = replace(chosen, network=replace(chosen.spec, dynamics=entrain.Dynamics(steps=20)))
        folder = tmp_path / name
        RunFolder.create(folder, chosen, SETTINGS)
        result = invoke("train", "--resume", folder, "--json")
        networks[name] = [
            read_model(folder / f"path-{run}.safetensors").network for run in range(2)
        ]
        assert result.exit_code == (2 if name == "bad" else 0)
        rows = json.loads(result.stdout)["results"]["PATH"]["runs"]
    message = " ".join(result.stderr.split())
    assert (
        "PATH run 1 became non-finite in epoch 2; its best checkpoint, of epoch 1, is saved"
        in message
    )
    assert "Lower its rate (--set PATH.learning_rate=..., it was 8000)" in message
    assert "PATH run 0" not in message
    assert [row["epoch"] for row in rows][1] == 1
    assert torch.equal(networks["good"][0].couplings, networks["bad"][0].couplings)
    assert torch.equal(networks["good"][0].input_weights, networks["bad"][0].input_weights)
    assert networks["bad"][1].couplings.abs().max() > 0


def test_a_run_without_a_good_epoch_has_strict_results(invoke: Invoke, tmp_path: Path) -> None:
    base = entrain.Recipe.for_dataset("digits", ["PATH"], path_solver="sgd", runs=2)
    chosen = base.adjusted(
        teacher={"widths": (4, 3, 3), "initialisations": 1, "epochs": 3},
        path={"learning_rate": (1e12, 1000.0), "epochs": 1},
    )
    chosen = replace(chosen, network=replace(chosen.spec, dynamics=entrain.Dynamics(steps=20)))
    folder = tmp_path / "run"
    RunFolder.create(folder, chosen, SETTINGS)
    result = invoke("train", "--resume", folder, "--json")
    assert result.exit_code == 2
    assert "only its initial network is saved" in " ".join(result.stderr.split())
    assert "NaN" not in (folder / "results.json").read_text()
    assert b"NaN" not in (folder / "path-0.safetensors").read_bytes()
    assert invoke("show", folder).exit_code == 0
    assert os.path.getsize(folder / "trajectories.png") > 0
