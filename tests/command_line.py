"""Commands of `entrain` as tests run them: in this process, as processes, in a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import Result
from typer.testing import CliRunner

from entrain.cli import app


def recipe(teacher: int, path: int, endpoint: int | None = None) -> list[str]:
    """Options of a tiny training with these epochs, at a rate that few Euler steps allow; without
    the last number, of one without TWO-STAGE-END."""
    settings = {
        "steps": 20,
        "path_solver": "sgd",
        "TEACHER.initialisations": 1,
        "TEACHER.epochs": teacher,
        "PATH.learning_rate": 1000.0,
        "PATH.epochs": path,
    }
    if endpoint is not None:
        settings["TWO-STAGE-END.epochs"] = endpoint
    return ["--network=4,3,3", *(f"--set={name}={value}" for name, value in settings.items())]


TINY = recipe(100, 5, 5)
"""About a second, after which the network has learnt something."""

QUICK = recipe(3, 1, 1)
"""The least that trains."""

QUICK_PATH = recipe(3, 1)
"""The least that trains PATH."""

METRICS = ("top1", "top2", "agreement", "endpoint_rmse")

Invoke = Callable[..., Result]
Refuse = Callable[..., str]


@dataclass(frozen=True)
class Run:
    """A finished training and what its command printed."""

    folder: Path
    stdout: str
    stderr: str

    @property
    def model(self) -> Path:
        return self.folder / "two-stage-end-0.safetensors"


def environment(**changes: str) -> dict[str, str]:
    """The environment without settings that change what the commands do or print."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ENTRAIN_", "TTY_")) and name not in TERMINAL
    }
    return kept | changes


TERMINAL = {"FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "PYTHONIOENCODING"}


def in_process(*arguments: object, stdin: bytes | None = None) -> Result:
    """`entrain ARGUMENTS` in this process, without the settings of its environment."""
    unset = dict.fromkeys(os.environ.keys() - environment().keys())
    return CliRunner(env=unset).invoke(app, [str(argument) for argument in arguments], stdin)


def cli(
    *arguments: object,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    limit: Callable[[], None] | None = None,
    timeout: float = 600,
    program: Sequence[object] = ("-m", "entrain"),
) -> subprocess.CompletedProcess[str]:
    """`entrain ARGUMENTS`, or another Python program, as a process without a terminal; `limit` is
    called in it first."""
    return subprocess.run(
        [sys.executable, *map(str, program), *map(str, arguments)],
        env=environment(**(env or {})),
        cwd=cwd,
        preexec_fn=limit,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


ONE_AFTER_THE_OTHER = """
import sys
from entrain.cli import main

for command in {commands!r}:
    sys.argv[1:] = command
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""


def in_a_terminal(*arguments: object) -> str:
    """What `entrain ARGUMENTS` shows a person, who sees it succeed."""
    return _in_a_terminal("-m", "entrain", *map(str, arguments))


def all_in_a_terminal(*commands: Sequence[object]) -> str:
    """What these commands of `entrain` show, one after the other in one process."""
    code = ONE_AFTER_THE_OTHER.format(commands=[list(map(str, each)) for each in commands])
    return _in_a_terminal("-c", code)


def _in_a_terminal(*program: str) -> str:
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"there are no pseudo-terminals here: {error}")
    command = [sys.executable, *program]
    wide = environment(TERM="xterm-256color", COLUMNS="120")
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=wide)
    os.close(theirs)
    shown = b""
    with killed_after(120, process), contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    text = shown.decode()
    assert process.wait(60) == 0, text
    return text


@contextlib.contextmanager
def killed_after(seconds: float, process: subprocess.Popen[Any]) -> Iterator[None]:
    """Kill `process` unless what is read from it meanwhile ends before."""
    late = threading.Timer(seconds, process.kill)
    late.start()
    try:
        yield
    finally:
        late.cancel()


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads for PyTorch and our kernels meanwhile."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def strict(text: str) -> dict[str, Any]:
    """The one JSON object in `text`, refusing what JSON does not have."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    assert text.count("\n") == 1
    return json.loads(text, parse_constant=refuse)


def printed(invoke: Invoke, *arguments: object) -> dict[str, Any]:
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return strict(result.stdout)
