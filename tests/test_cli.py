"""Facts about the commands in general, about `train` and about `data`."""

from __future__ import annotations

import importlib
import json
import pkgutil
import statistics
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import entrain
from command_line import (
    METRICS,
    QUICK,
    QUICK_PATH,
    Invoke,
    Run,
    cli,
    in_a_terminal,
    printed,
    strict,
)
from entrain.training.run_folder import RunFolder

pytestmark = pytest.mark.filterwarnings("error")

COMMANDS = ("train", "evaluate", "predict", "show", "data", "bakeoff", "cost")


# Help, version, modules


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(invoke: Invoke, command: str) -> None:
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert f"{command} [OPTIONS]" in result.stdout
    assert "--json" in result.stdout


def test_help_names_defaults_that_depend_and_extras(invoke: Invoke) -> None:
    found = {name: " ".join(invoke(name, "--help").stdout.split()) for name in ("train", "search")}
    assert "(32,16,16)" in found["train"]
    assert "the extra search" in found["search"]
    assert "the extra cluster" in invoke("reproduce", "--help").stdout


def test_help_lists_the_commands(invoke: Invoke) -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    assert all(command in result.stdout for command in COMMANDS)


def test_version_of_the_installed_command() -> None:
    done = cli("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"entrain {entrain.__version__}\n",
        "",
    )


def test_every_module_imports() -> None:
    names = [
        module.name
        for module in pkgutil.walk_packages(entrain.__path__, "entrain.")
        if not module.name.endswith("__main__")  # runs the command line
    ]
    assert len(names) > 30
    for name in names:
        importlib.import_module(name)


# train


def test_train_prints_one_json_object_with_percentages(tiny_run: Run) -> None:
    results = strict(tiny_run.stdout)
    assert list(results["results"]) == ["PATH", "TWO-STAGE-END"]
    for row in results["results"].values():
        assert all(0 < row[metric] <= 100 for metric in ("top1", "top2", "agreement"))
        assert row["top1"] < row["top2"]
        assert 0 < row["endpoint_rmse"] < 1
        assert set(METRICS) <= set(row["runs"][0])
    assert results["results"]["TWO-STAGE-END"]["top1"] > 30  # chance is 10
    assert results["examples"] == 300
    assert "TWO-STAGE-END: epoch 5/5" in tiny_run.stderr


def test_train_writes_recipe_models_results_and_figure(tiny_run: Run) -> None:
    folder = tiny_run.folder
    left_by_some_systems = {"run.lock"}
    assert {path.name for path in folder.iterdir()} - left_by_some_systems == {
        "run.json",
        "state",
        "path-0.safetensors",
        "two-stage-end-0.safetensors",
        "results.json",
        "trajectories.png",
    }
    recipe = json.loads((folder / "run.json").read_text())["recipe"]
    assert recipe["teacher"]["widths"] == [4, 3, 3]
    written = (folder / "results.json").read_text()
    assert RunFolder.open(folder).results() == strict(tiny_run.stdout)
    assert "NaN" not in written
    with Image.open(folder / "trajectories.png") as figure:
        figure.load()
        assert figure.width > 500
        assert np.asarray(figure.convert("L")).std() > 10


def test_train_solves_for_the_path_by_default(invoke: Invoke, tmp_path: Path) -> None:
    options = (
        "--network=4,3,3 --set=steps=20 --set=TEACHER.initialisations=1 --set=TEACHER.epochs=9 "
        "--set=TWO-STAGE-END.epochs=1"
    )
    results = printed(invoke, "train", *options.split(), "--out", tmp_path / "run")
    assert results["results"]["PATH"]["epoch"] == 1
    protocols = RunFolder.open(tmp_path / "run").recipe.protocols
    assert [protocol.solver for protocol in protocols] == ["exact", "sgd"]


def test_train_without_out_takes_the_next_free_folder(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = printed(invoke, "train", *QUICK_PATH, "--protocol", "PATH")
    second = printed(invoke, "train", *QUICK_PATH, "--protocol", "PATH", "--seed", "1")
    assert (first["folder"], second["folder"]) == ("runs/digits-1", "runs/digits-2")
    assert Path("runs/digits-1/results.json").is_file()
    assert Path("runs/digits-2/results.json").is_file()


def test_a_protocol_in_lower_case_has_path_trained_in_front(invoke: Invoke, tmp_path: Path) -> None:
    results = printed(
        invoke,
        "train",
        *QUICK_PATH,
        "--protocol=path-cont",
        "--epochs=1",
        "--out",
        tmp_path / "run",
    )
    assert list(results["results"]) == ["PATH", "PATH-CONT"]
    assert results["model"] == str(tmp_path / "run" / "path-cont-0.safetensors")


def test_several_runs_give_mean_and_sample_sd(invoke: Invoke, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shown = invoke("train", *QUICK_PATH, "--runs", "2", "--protocol", "PATH", "--out", folder)
    assert shown.exit_code == 0
    row = json.loads((folder / "results.json").read_text())["results"]["PATH"]
    assert len(row["runs"]) == 2
    for metric in METRICS:
        values = [run[metric] for run in row["runs"]]
        assert row[metric] == pytest.approx(statistics.fmean(values))
        assert row["sd"][metric] == pytest.approx(statistics.stdev(values))
    assert row["sd"]["endpoint_rmse"] > 0
    assert f"{row['top1']:.2f} ± {row['sd']['top1']:.2f}" in shown.stdout
    assert (folder / "path-1.safetensors").is_file()


def test_train_in_a_terminal_shows_bars_and_a_table(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    text = in_a_terminal("train", "--out", folder, *QUICK)
    assert "━" in text
    assert "TWO-STAGE-END" in text
    assert "1/1" in text
    assert "endpoint RMSE" in text
    assert "epoch 1/1" not in text  # the line of a training without a terminal


# data


def test_data_lists_every_dataset(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENTRAIN_CACHE", str(tmp_path))
    found = printed(invoke, "data")["datasets"]
    names = {"digits", "mnist", "fashion-mnist", "mnist-small", "fashion-mnist-small"}
    assert set(found) == names | {"japanese-vowels"}
    assert found["mnist"]["t10k"].startswith("bundled")
    assert found["mnist-small"]["train"] == found["mnist"]["t10k"]
    shown = invoke("data").stdout
    assert all(name in shown for name in found)
    folder = found["mnist"]["t10k"].removeprefix("bundled (").removesuffix(")")
    assert f" {folder}\n" in shown  # in one piece, to be copied


def test_data_describes_digits(invoke: Invoke) -> None:
    found = printed(invoke, "data", "digits")
    assert found["examples"] == {"train": 1197, "validation": 300, "test": 300}
    assert found["preprocessing"]["image_shape"] == [8, 8]
    assert "1,197" in invoke("data", "digits").stdout
