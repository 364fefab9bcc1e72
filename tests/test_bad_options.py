"""Names and numbers that cannot be used are refused: exit code 2, a reason, nothing half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import QUICK, Refuse, Run
from entrain.cli.console import with_exit_codes

# Names


@pytest.mark.parametrize("command", ["train", "data"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("minst", "unknown dataset 'minst'; did you mean 'mnist'?"),
        ("fashion", "choose from digits, fashion-mnist, fashion-mnist-small, mnist, mnist-small"),
        ("[b]", "unknown dataset '[b]'"),
    ],
)
def test_unknown_dataset(refuse: Refuse, command: str, name: str, message: str) -> None:
    assert message in refuse(command, name, "--json")


def test_unknown_protocol(refuse: Refuse) -> None:
    message = refuse("train", "--protocol", "two-stage", "--json")
    assert "unknown protocol 'two-stage'; did you mean 'TWO-STAGE-END'?" in message


def test_unknown_model(refuse: Refuse) -> None:
    message = refuse("evaluate", "mnist-75", "--json")
    assert "unknown model 'mnist-75'" in message
    assert "or give a model file or a run folder" in message


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu", "unknown device 'gpu'"),
        ("cuda:99", "CUDA device 99 is not available"),
        ("mps", "device 'mps' is not supported"),
        ("meta", "device 'meta' is not supported"),
    ],
)
def test_unknown_device_leaves_no_folder(
    refuse: Refuse, tmp_path: Path, device: str, message: str
) -> None:
    assert message in refuse("train", "--device", device, "--out", tmp_path / "run", "--json")
    assert not (tmp_path / "run").exists()


def test_unknown_path_solver(refuse: Refuse, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run", "--json")
    assert "did you mean 'exact'?" in refuse("train", "--path-solver", "exat", *out)
    message = refuse("train", "--path-solver", "exact", "--path-learning-rate", 5, *out)
    assert "--path-learning-rate" in message
    assert list(tmp_path.iterdir()) == []


def test_unknown_polarity(refuse: Refuse, tiny_run: Run) -> None:
    message = refuse("predict", tiny_run.model, "x.png", "--polarity", "dark-on-ligth")
    assert "did you mean 'dark-on-light'?" in message


# Numbers


@pytest.mark.parametrize(
    "option",
    [
        "--runs=0",
        "--runs=-1",
        "--seed=-1",
        "--seed=4294967296",
        "--initialisations=0",
        "--teacher-epochs=0",
        "--path-epochs=0",
        "--path-epochs=-5",
        "--endpoint-epochs=0",
        "--path-learning-rate=0",
        "--path-learning-rate=nan",
        "--endpoint-learning-rate=-1",
        "--endpoint-learning-rate=inf",
        "--endpoint-weight=-1",
        "--batch-size=0",
        "--observation-time=0",
        "--observation-time=nan",
        "--steps=0",
        "--steps=-20",
    ],
)
def test_numbers_out_of_range_in_a_training(refuse: Refuse, tmp_path: Path, option: str) -> None:
    name, value = option.split("=")
    message = refuse("train", option, "--out", tmp_path / "run", "--json")
    assert f"{name} must be " in message
    assert f"got {value}" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option",
    [
        "--temperature=-0.1",
        "--temperature=nan",
        "--temperature=inf",
        "--replicates=0",
        "--replicates=-3",
        "--seed=-1",
        "--refine=0",
        "--refine=-1",
    ],
)
def test_numbers_out_of_range_in_an_evaluation(refuse: Refuse, tiny_run: Run, option: str) -> None:
    name, value = option.split("=")
    message = refuse("evaluate", tiny_run.model, option, "--json")
    assert f"{name} must be " in message
    assert f"got {value}" in message


@pytest.mark.parametrize("option", ["--steps=many", "--temperature=warm", "--nonsense"])
def test_options_that_are_none(refuse: Refuse, tiny_run: Run, option: str) -> None:
    command = "evaluate" if "temperature" in option else "train"
    assert option.split("=")[0] in refuse(
        command, *([tiny_run.model] * (command != "train")), option
    )


@pytest.mark.parametrize("hidden", ["", "abc", "4,,3", "4,3,", "1e3", "4;3"])
def test_hidden_widths_that_are_no_numbers(refuse: Refuse, tmp_path: Path, hidden: str) -> None:
    message = refuse("train", f"--hidden={hidden}", "--out", tmp_path / "run", "--json")
    assert f"--hidden must be widths such as 32,16,16, got {hidden!r}" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hidden", ["0", "4,-3", "4,0,3"])
def test_hidden_widths_out_of_range(refuse: Refuse, tmp_path: Path, hidden: str) -> None:
    assert "at least 1" in refuse("train", f"--hidden={hidden}", "--out", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_more_than_fits_into_memory(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    message = refuse("evaluate", tiny_run.model, "--refine", 10**15, "--json")
    assert "steps must be a whole number up to 1,000,000" in message
    message = refuse("train", *QUICK, "--runs", 10**14, "--out", tmp_path / "run", "--json")
    assert "not enough memory" in message


def test_other_errors_are_not_hidden() -> None:
    def command() -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        with_exit_codes(command)()
