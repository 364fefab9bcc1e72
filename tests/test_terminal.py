"""What reaches the terminal: nothing of a file but text, help as it was written, errors as JSON."""

from __future__ import annotations

import inspect
import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from command_line import Invoke, Run, all_in_a_terminal, cli, strict
from entrain.cli import app
from entrain.cli.console import err, out, with_exit_codes
from entrain.utils import escape
from model_files import rewritten
from own_files import folder_of_pictures

TITLE = "\x1b]0;owned\x07"  # changes the title of the window
HOSTILE = f"{TITLE}\x1b[2J\x9b31m\u202eevil\x7f[b]\r"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
COMMANDS = {
    command.name: command.callback for command in app.registered_commands if command.callback
}


def test_only_line_ends_tabs_and_printable_characters_are_visible_as_they_are() -> None:
    for code in range(0x110000):
        character = chr(code)
        kept = escape.terminal(character) == character
        category = unicodedata.category(character)
        if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):  # controls, bidirectional ones, line ends
            assert kept == (character in "\n\t")
        elif category[0] in "LMNPS":
            assert kept
    assert escape.terminal("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\n"


@given(st.text())
def test_what_is_visible_stays(text: str) -> None:
    escaped = escape.terminal(text)
    assert escape.terminal(escaped) == escaped
    assert not RAW.search(escaped)


# Hostile names and files, without a terminal: there is no escape sequence at all


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", f"{HOSTILE}.csv"],
        ["train", HOSTILE],
        ["train", "digits", "--protocol", HOSTILE],
        ["train", "digits", "--network", HOSTILE],
        ["train", "digits", "--set", HOSTILE],
        ["train", "digits", "--set", f"DIRECT.{HOSTILE}=1"],
        ["train", "digits", "--settings", HOSTILE, "--protocol", "DIRECT"],
        ["train", "--resume", HOSTILE],
        ["train", "digits", "--data-dir", HOSTILE, "--set", f"path_solver={HOSTILE}"],
        ["evaluate", HOSTILE],
        ["evaluate", f"{HOSTILE}.safetensors"],
        ["predict", "mnist-74", f"{HOSTILE}.png"],
        ["show", HOSTILE],
        ["show", "--card", HOSTILE],
        ["show", "mnist-74", HOSTILE],
        ["show", f"--{HOSTILE}"],
        ["data", HOSTILE],
        ["bench", "--device", HOSTILE],
        ["bench", "--batch", HOSTILE],
        ["search", HOSTILE],
        ["reproduce", HOSTILE],
        ["report", HOSTILE],
        [HOSTILE],
    ],
    ids=lambda arguments: " ".join(arguments).replace(HOSTILE, "?"),
)
def test_hostile_names_are_refused_without_a_raw_character(
    invoke: Invoke, arguments: list[str]
) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2, result.stderr
    assert "error: " in result.stderr
    assert not RAW.search(result.stdout + result.stderr)
    as_json = invoke(*arguments, "--json")
    assert as_json.exit_code == 2
    assert strict(as_json.stdout)["code"] == 2
    assert not RAW.search(as_json.stdout + as_json.stderr)


@pytest.fixture(scope="module")
def hostile_model(tiny_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file whose every text is hostile."""
    names = [f"{i}{HOSTILE}" for i in range(10)]
    header = {"class_names": names, "dataset": HOSTILE, "protocol": HOSTILE}
    target = tmp_path_factory.mktemp("hostile") / f"{HOSTILE}.safetensors"
    return rewritten(tiny_run.model, target, header=header)


@pytest.fixture(scope="module")
def digits_model(tiny_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of the digits whose every other text is hostile."""
    target = tmp_path_factory.mktemp("digits") / f"{HOSTILE}.safetensors"
    return rewritten(tiny_run.model, target, header={"dataset": HOSTILE, "protocol": HOSTILE})


@pytest.fixture(scope="module")
def hostile_pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Their path has [/x] in it, which would end a colour that was never begun."""
    place = tmp_path_factory.mktemp("pictures") / "[" / f"x]{HOSTILE}"
    return folder_of_pictures(place, {"[b] cat": 8, "[red]dog": 8})


def test_models_with_hostile_texts_are_shown_as_text(
    invoke: Invoke, hostile_model: Path, digits_model: Path, hostile_pictures: Path
) -> None:
    picture = next(hostile_pictures.glob("*/*.png"))
    for arguments in (
        ["show", hostile_model],
        ["predict", hostile_model, picture],
        ["evaluate", digits_model, "digits"],
    ):
        result = invoke(*arguments)
        assert result.exit_code == 0, result.stderr
        assert "\\x1b]0;owned" in "".join(result.stdout.split())
        assert not RAW.search(result.stdout + result.stderr)
        assert "\\u001b" in invoke(*arguments, "--json").stdout


def test_hostile_classes_are_refused_as_text(invoke: Invoke, hostile_model: Path) -> None:
    result = invoke("evaluate", hostile_model, "digits")
    assert result.exit_code == 2
    assert "the model has 0\\x1b]0;owned" in result.stderr
    assert not RAW.search(result.stderr)


def test_hostile_cells_and_headers(invoke: Invoke, tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text(f"a{HOSTILE.strip()},label\n" + f"{TITLE},1\n" * 20)
    result = invoke("train", table)
    assert result.exit_code == 2
    assert "\\x1b]0;owned\\x07" in result.stderr
    assert not RAW.search(result.stderr)


# In a terminal: only the sequences that Rich makes


def test_in_a_terminal_only_rich_sends_escape_sequences(
    hostile_pictures: Path, hostile_model: Path, digits_model: Path, tmp_path: Path
) -> None:
    options = ["--network=4,3,3", "--set=steps=10", "--epochs=1", "--image-size=8"]
    text = all_in_a_terminal(
        ("train", hostile_pictures, "--out", tmp_path / TITLE, *options),
        ("show", hostile_model),
        ("evaluate", digits_model, "digits"),
        ("show", "--card", "mnist-74"),
        ("bench", "--help"),
    )
    colours_and_lines = re.compile(r"\x1b\[[0-9;]*m|\x1b\[(2K|1A|\?25[lh])|\r")
    assert colours_and_lines.search(text)
    assert not RAW.search(colours_and_lines.sub("", text))


def test_warnings_and_bugs_are_escaped(tmp_path: Path) -> None:
    lines = (
        "import sys, warnings, entrain.cli as cli",
        "from entrain.cli.console import with_exit_codes",
        f"def command(): warnings.warn({HOSTILE!r}); raise RuntimeError({HOSTILE!r})",
        "cli.app.registered_commands[0].callback = with_exit_codes(command)",
        "sys.argv = ['entrain', 'train']",
        "cli.main()",
    )
    (tmp_path / "run.py").write_text("\n".join(lines))
    done = cli(program=[tmp_path / "run.py"])
    assert done.returncode == 1
    assert "warning: \\x1b]0;owned" in done.stderr
    assert "RuntimeError: \\x1b]0;owned" in done.stderr
    assert not RAW.search(done.stdout + done.stderr)


def test_tables_keep_their_columns(capsys: pytest.CaptureFixture[str]) -> None:
    from entrain.cli.console import table

    shown = table(HOSTILE, "name", "number")
    shown.add_row(HOSTILE, "1")
    shown.add_row("plain", "2")
    out.print(shown)
    lines = capsys.readouterr().out.splitlines()
    assert len({len(line) for line in lines if line[0] in "┃│└┏┡"}) == 1
    assert err.is_terminal is False


# Help


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_loses_nothing_that_was_written(invoke: Invoke, name: str) -> None:
    shown = squeezed(invoke(name, "--help").stdout)
    assert squeezed(inspect.getdoc(COMMANDS[name]) or "") in shown
    listed = squeezed(invoke("--help").stdout)
    assert squeezed((inspect.getdoc(COMMANDS[name]) or "").split("\n\n")[0].rstrip(".")) in listed
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    for parameter in command.params:
        if getattr(parameter, "help", None) and not getattr(parameter, "hidden", False):
            assert squeezed(parameter.help) in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_usage_lines_are_as_people_know_them(invoke: Invoke, name: str) -> None:
    usage = invoke(name, "--help").stdout.splitlines()[0]
    argument = r"( [A-Z]+| \[[A-Z]+\])(\.\.\.)?"
    assert re.fullmatch(rf"Usage: entrain {name} \[OPTIONS\]({argument})*", usage)


def test_usage_lines_of_repeated_arguments(invoke: Invoke) -> None:
    assert "reproduce [OPTIONS] [NAME]...\n" in invoke("reproduce", "--help").stdout
    assert "predict [OPTIONS] MODEL SOURCE...\n" in invoke("predict", "--help").stdout
    assert "'./paper[bench]'" in invoke("bench", "--help").stdout


def test_without_arguments_there_is_help(invoke: Invoke) -> None:
    result = invoke()
    assert result.exit_code == 2
    assert "Usage: entrain [OPTIONS] COMMAND" in result.stdout + result.stderr
    assert "error" not in result.stdout + result.stderr.replace("endpoint error", "")


# Errors as JSON


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--nonsense"], "--nonsense"),
        (["show"], "Missing argument 'MODEL'"),
        (["train", "--epochs", "many"], "--epochs"),
        (["train", "--epochs"], "--epochs"),
        (["trian"], "No such command 'trian'"),
        (["show", "mnist-74", "more"], "more"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(refuse: Callable[..., str], arguments: list[str], message: str) -> None:
    assert message in refuse(*arguments)
    assert message in refuse(*arguments, "--json")
    assert message in refuse(arguments[0], "--json", *arguments[1:])


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OSError(28, "No space left on device", "x"), 2, "x: No space left on device"),
        (MemoryError(), 2, "there is not enough memory for this"),
        (RuntimeError("CUDA out of memory"), 2, "not enough memory for this (CUDA out of memory)"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("a bug"), 1, "a bug: ZeroDivisionError: a bug"),
    ],
)
def test_every_error_is_one_object_under_json(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(**_: Any) -> None:
        raise error

    with pytest.raises(typer.Exit) as left:
        with_exit_codes(command)(json=True)
    assert left.value.exit_code == code
    shown = capsys.readouterr()
    found = strict(shown.out)
    assert found == {"error": found["error"], "code": code}
    assert message in found["error"]
    assert message.split(": ")[-1] in shown.err


def test_a_run_that_diverges_has_results_and_an_error_in_one_object(
    invoke: Invoke, tmp_path: Path
) -> None:
    options = ["--network=4,3,3", "--set=steps=20", "--protocol=DIRECT", "--epochs=1"]
    result = invoke(
        "train", *options, "--set=observation_time=1e9", "--out", tmp_path / "r", "--json"
    )
    found = strict(result.stdout)
    assert result.exit_code == found["code"] == 2
    assert "DIRECT" in found["results"]
    assert found["error"] in result.stderr
    assert "code" not in json.loads((tmp_path / "r" / "results.json").read_text())
