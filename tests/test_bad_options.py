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
        (
            "fashion",
            "choose from digits, fashion-mnist, fashion-mnist-small, japanese-vowels, mnist",
        ),
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
    assert "did you mean 'exact'?" in refuse("train", "--set", "path_solver=exat", *out)
    message = refuse("train", "--set", "path_solver=exact", "--set", "PATH.learning_rate=5", *out)
    assert "PATH.learning_rate belongs to path_solver='sgd'" in message
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
        "--set=TEACHER.initialisations=0",
        "--set=TEACHER.epochs=0",
        "--set=PATH.epochs=0",
        "--set=PATH.epochs=-5",
        "--set=TWO-STAGE-END.epochs=0",
        "--set=PATH.learning_rate=0",
        "--set=PATH.learning_rate=nan",
        "--set=TWO-STAGE-END.learning_rate=-1",
        "--set=TWO-STAGE-END.learning_rate=inf",
        "--set=TWO-STAGE-END.endpoint_weight=-1",
        "--set=batch_size=0",
        "--set=observation_time=0",
        "--set=observation_time=nan",
        "--set=steps=0",
        "--set=steps=-20",
    ],
)
def test_numbers_out_of_range_in_a_training(refuse: Refuse, tmp_path: Path, option: str) -> None:
    name, _, value = option.removeprefix("--set=").rpartition("=")
    message = refuse("train", option, "--out", tmp_path / "run", "--json")
    assert f"{name.rpartition('.')[2]} must be " in message
    assert f"got {value}" in message.replace("'", "")
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
    assert f"{name.rpartition('.')[2]} must be " in message
    assert f"got {value}" in message


@pytest.mark.parametrize("option", ["--epochs=many", "--temperature=warm", "--nonsense"])
def test_options_that_are_none(refuse: Refuse, tiny_run: Run, option: str) -> None:
    command = "evaluate" if "temperature" in option else "train"
    assert option.split("=")[0] in refuse(
        command, *([tiny_run.model] * (command != "train")), option
    )


@pytest.mark.parametrize("hidden", ["", "abc", "4,,3", "4,3,", "1e3", "4;3"])
def test_hidden_widths_that_are_no_numbers(refuse: Refuse, tmp_path: Path, hidden: str) -> None:
    message = refuse("train", f"--network={hidden}", "--out", tmp_path / "run", "--json")
    assert "--network must be hidden oscillators such as 48 or 32,16,16" in message
    assert f"there is no file {hidden!r}" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hidden", ["0", "4,-3", "4,0,3"])
def test_hidden_widths_out_of_range(refuse: Refuse, tmp_path: Path, hidden: str) -> None:
    assert "at least 1" in refuse("train", f"--network={hidden}", "--out", tmp_path / "run")
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
