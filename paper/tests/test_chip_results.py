"""What training for chips tells at its end, and evaluate, show and predict of its model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import entrain
from command_line import Invoke, Refuse, printed
from entrain.cli import app
from entrain.data import Split, load_dataset
from entrain.evaluation.chip_yield import yield_of
from entrain.hardware import Hardware, preset
from entrain.models.model import Model

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]

TYPICAL = preset("typical")
OPTIONS = ("--network=12", "--epochs=6", "--set=steps=20")


def train(folder: Path, *options: str) -> str:
    command = ["train", "digits", *OPTIONS, *options, "--out", str(folder)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def chip_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Two runs for typical chips, and what the command showed."""
    folder = tmp_path_factory.mktemp("chips") / "run"
    return folder, train(folder, "--hardware", "typical", "--runs=2")


@pytest.fixture(scope="module")
def folder(chip_run: tuple[Path, str]) -> Path:
    return chip_run[0]


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return entrain.load(folder)


@pytest.fixture(scope="module")
def test_set() -> Split:
    return load_dataset("digits").test


# After training


def test_the_results_hold_the_chips_and_the_ideal_network(
    chip_run: tuple[Path, str], model: Model, test_set: Split
) -> None:
    folder, shown = chip_run
    row = json.loads((folder / "results.json").read_text())["results"]["DIRECT"]
    found = row["on_chips"]
    assert (found["chips"], found["seed"], len(found["runs"])) == (20, 0, 2)
    assert Hardware.from_json(found["hardware"]) == TYPICAL
    first = yield_of(model, TYPICAL, test_set, chips=20)
    assert found["runs"][0] == first.summary() | {
        "ideal": model.evaluate(test_set)["top1"],
        "couplers_used": 93,
    }
    assert model.couplers_used == round(0.5 * model.network.couplers) == 93
    means = [run["mean"] for run in found["runs"]]
    assert found["mean"] == pytest.approx(np.mean(means))
    assert found["ideal"] == row["top1"] > found["mean"] + 10
    assert f"{np.mean(means):.2f} ± {np.std(means, ddof=1):.2f}" in shown
    assert f"{found['p5']:.2f}" in shown
    assert f"{row['top1']:.2f}" in shown
    assert "93 of 186 couplers in use" in shown
    assert f"chips   typical, seeds 0 to 19; more: entrain yield {folder}" in shown


def test_without_hardware_nothing_is_said_of_chips(tmp_path: Path) -> None:
    ideal = tmp_path / "nothing.toml"
    ideal.write_text("title = 'no effect'\n")
    rows = []
    for name, options in {"plain": (), "nothing": ("--hardware", str(ideal))}.items():
        shown = train(tmp_path / name, "--protocol=DIRECT", *options)
        assert "chips" not in shown.replace("--hardware", "")
        assert "186 couplers" in shown
        rows.append(json.loads((tmp_path / name / "results.json").read_text())["results"])
    assert rows[0] == rows[1]
    assert rows[0]["DIRECT"].keys() == {"top1", "top2", "epoch", "sd", "runs"}


def test_when_it_is_unsure_was_found_on_chips(model: Model) -> None:
    """On those that validated it, whose margins are smaller than the ideal network's."""
    assert model.reject is not None
    found = model.reject.measured
    assert found["top1"] == pytest.approx(model.details["validation"]["top1"])
    digits = load_dataset("digits")
    ideal = replace(model, hardware=None).with_reject_option(
        digits.train.features, digits.validation
    )
    assert ideal.reject is not None
    assert found["top1"] < ideal.reject.measured["top1"]
    assert found["top1_sure"] > found["top1"] + 1
    assert found["coverage"] >= 50
    nothing = replace(model, hardware=Hardware()).with_reject_option(
        digits.train.features, digits.validation
    )
    assert nothing.reject is not None
    assert nothing.reject.header() == ideal.reject.header()


# Evaluate


def test_evaluate_says_that_it_measures_the_ideal_network(
    invoke: Invoke, folder: Path, model: Model, test_set: Split
) -> None:
    result = invoke("evaluate", folder)
    said = " ".join(result.stderr.split())
    assert "evaluated on the ideal network; the model was trained for typical" in said
    assert f"entrain yield {folder}" in said
    found = printed(invoke, "evaluate", folder)
    assert found["top1"] == model.evaluate(test_set)["top1"]
    assert Hardware.from_json(found["trained_for"]) == TYPICAL
    plain = invoke("evaluate", "mnist-74", "--json")
    assert plain.stderr == ""
    assert not {"trained_for", "hardware", "chip"} & json.loads(plain.stdout).keys()


def test_evaluate_on_a_chip(invoke: Invoke, folder: Path, model: Model, test_set: Split) -> None:
    def measured(*options: object) -> dict[str, Any]:
        return printed(invoke, "evaluate", folder, *options)

    found = measured("--chip", 3, "--seed", 2)
    assert found["top1"] == model.on(3, noise_seed=2).evaluate(test_set)["top1"]
    assert (found["chip"], found["noise_seed"]) == (3, 2)
    assert found["hardware"] == found["trained_for"] == TYPICAL.to_json()
    shown = invoke("evaluate", folder, "--chip", 3, "--seed", 2)
    assert f"{found['top1']:.2f}" in shown.stdout
    assert "chip 3" in shown.stdout
    assert shown.stderr == ""
    other = invoke("evaluate", folder, "--chip", 3, "--hardware", "ark", "--json")
    assert other.stderr == "the model was trained for typical, not for ark\n"
    assert json.loads(other.stdout)["hardware"] == preset("ark").to_json()
    ideal = invoke("evaluate", "mnist-74", "--chip=1", "--hardware=ark")
    assert ideal.stderr == "the model was trained for the ideal network, not for chips\n"


def test_evaluate_refuses_chips_that_cannot_be(
    refuse: Refuse, folder: Path, tmp_path: Path
) -> None:
    small = tmp_path / "small.toml"
    small.write_text("[chip]\noscillators = 10\n")
    for model, options, message in (
        (folder, ("--hardware", "ark"), "choose one with --chip SEED, or evaluate many with en"),
        (folder, ("--chip", -1), "--chip must be a whole number from 0"),
        (folder, ("--chip", 2**32), "--chip must be a whole number from 0"),
        (folder, ("--chip", 1, "--temperature", 0.1), "--temperature is for the ideal network"),
        (folder, ("--chip", 1, "--refine", 50), "--refine is for the ideal network"),
        (folder, ("--chip", 1, "--hardware", "arc"), "did you mean 'ark'"),
        (folder, ("--chip", 1, "--hardware", small), "the network has 22 oscillators, the chip 10"),
        ("mnist-74", ("--chip", 1), "was trained for the ideal network; choose hardware with"),
    ):
        assert message in refuse("evaluate", model, *options)
        refuse("evaluate", model, *options, "--json")


# Show and predict


def test_show_says_what_it_was_made_for(invoke: Invoke, folder: Path) -> None:
    shown = " ".join(invoke("show", folder).stdout.split())
    assert "of them 186 couplers (93 in use)" in shown
    assert "trained for typical: sparsity, coupling levels, weight levels, mismatch, dead," in shown
    assert "(on chips)" in shown
    found = printed(invoke, "show", folder)
    assert (found["couplers"], found["couplers_used"]) == (186, 93)
    assert Hardware.from_json(found["hardware"]) == TYPICAL
    plain = printed(invoke, "show", "mnist-74")
    assert plain["hardware"] is None
    assert plain["couplers_used"] == plain["couplers"]
    shown = invoke("show", "mnist-74").stdout
    assert "trained for" not in shown
    assert "in use" not in shown


def test_predict_says_whose_answers_they_are(
    invoke: Invoke, folder: Path, test_set: Split, tmp_path: Path
) -> None:
    table = tmp_path / "rows.npz"
    np.savez(table, X=test_set.features[:3])
    result = invoke("predict", folder, table)
    assert result.exit_code == 0, result.stderr
    assert "Answers of the ideal network" in result.stderr
