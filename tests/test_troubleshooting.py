"""The messages on the page of troubleshooting are those of the program."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import entrain
from command_line import Refuse
from examples import ROOT

PAGE = " ".join((ROOT / "docs" / "troubleshooting.md").read_text().split())
ROWS = np.random.default_rng(0).normal(size=(30, 2))


def damaged(folder: Path) -> None:
    """Load a file that is no model."""
    path = folder / "x.safetensors"
    path.write_bytes(b"123456789")
    entrain.load(path)


def too_large(folder: Path) -> None:
    """Measure 74 oscillators on a chip of 48."""
    test = entrain.load_test_split("mnist").rows(slice(10))
    entrain.yield_of(entrain.load("mnist-74"), "lo-2023", test, chips=1)


MESSAGES: dict[str, Callable[[Path], object]] = {
    "unknown dataset 'mnits'; did you mean 'mnist'?": lambda _: entrain.train("mnits"),
    "unknown model 'mnist74'; did you mean 'mnist-74'?": lambda _: entrain.load("mnist74"),
    "unknown keyword of train 'epoch'; did you mean 'epochs'?": (
        lambda _: entrain.train("digits", epoch=3)
    ),
    "unknown field of DIRECT 'rate'": (
        lambda _: entrain.train("digits", protocol="DIRECT", settings={"DIRECT.rate": 1})
    ),
    "expected finite numbers: fill in missing values or remove their rows": (
        lambda _: entrain.train(ROWS * np.nan, ["a", "b"] * 15)
    ),
    "every label is 'a'; expected at least 2 classes": lambda _: entrain.train(ROWS, ["a"] * 30),
    "4 examples; expected at least 10": lambda _: entrain.train(ROWS[:4], ["a", "b"] * 2),
    "images must be 28 x 28 pixels (or rows of 784), got shape (3, 10)": (
        lambda _: entrain.load("mnist-74").predict(np.zeros((3, 10)))
    ),
    "the network has 74 oscillators, the chip 48: room for 38 hidden ones beside 10 outputs, "
    "got 64": too_large,
    "It may be truncated: copy or train it again": damaged,
}


@pytest.mark.parametrize("message", MESSAGES)
def test_an_error_of_the_page_is_raised(message: str, tmp_path: Path) -> None:
    assert f"`{message}`" in PAGE
    with pytest.raises((entrain.InputError, TypeError), match=re.escape(message)):
        MESSAGES[message](tmp_path)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_an_error() -> None:
    assert "`CUDA device 0 is not available`" in PAGE
    with pytest.raises(entrain.InputError, match="CUDA device 0 is not available"):
        entrain.train("digits", device="cuda")


def test_long_steps_warn() -> None:
    machine = entrain.Oscillators(50 * (1 - np.eye(20)))
    assert "`phases may jump and the energy rise`" in PAGE
    with pytest.warns(RuntimeWarning, match="phases may jump and the energy rise"):
        machine.simulate(time=1, steps=5, starts="random", seed=0)


def test_too_large_rates_warn() -> None:
    assert "`training diverged`" in PAGE
    settings = {"DIRECT.input_rate": 1e38}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        entrain.train(ROWS, ["a", "b"] * 15, network=4, epochs=3, settings=settings)
    assert any("training diverged" in str(warning.message) for warning in caught)


COMMANDS = {
    "column 'b' holds no number in any row; leave it out, or encode its values as numbers": (
        ("train", "bad.csv"),
        "a,b,species\n1,x,u\n2,y,v\n",
    ),
    "g.txt, line 2: an edge from node 1 to itself": (("solve", "g.txt"), "2 1\n1 1\n"),
    "was trained for the ideal network; choose hardware with --hardware": (
        ("yield", "mnist-74"),
        "",
    ),
}


@pytest.mark.parametrize("message", COMMANDS)
def test_a_command_prints_an_error_of_the_page(
    message: str, refuse: Refuse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, content = COMMANDS[message]
    monkeypatch.chdir(tmp_path)
    Path(arguments[1]).write_text(content)
    assert f"`{message}`" in PAGE
    if not content:
        Path(arguments[1]).unlink()
    assert message in " ".join(refuse(*arguments).split())
