"""Fixtures of several files."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from click.testing import Result
from hypothesis import settings
from typer.testing import CliRunner

from command_line import TERMINAL, TINY, Invoke, Refuse, Run, in_process, strict, threads
from entrain.cli import app
from source_folders import folders as folders

# A busy machine takes longer than the 200 ms that an example may take by default.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT reaches this process and those it starts, though it be ignored as under `nohup &`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Tensors this small are not worth a team of threads, and waiting for one takes long."""
    with threads(1):
        yield


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One tiny training."""
    folder = tmp_path_factory.mktemp("training") / "run"
    done = in_process("train", "digits", "--out", folder, *TINY, "--json")
    assert done.exit_code == 0, done.stderr
    return Run(folder, done.stdout, done.stderr)


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """`invoke("train", ...)`: a command in this process."""
    for name in os.environ:
        if name.startswith("ENTRAIN_") or name in TERMINAL:
            monkeypatch.delenv(name)

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def refuse(invoke: Invoke) -> Refuse:
    """`refuse("train", ...)`: the message of a command that must not work; under --json standard
    output has one object with it and the exit code."""

    def run(*arguments: object) -> str:
        result = invoke(*arguments)
        assert isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == 2
        assert "Traceback" not in result.stderr
        if "--json" in arguments:
            found = strict(result.stdout)
            assert found == {"error": found["error"], "code": 2}
            assert found["error"] in result.stderr
        else:
            assert result.stdout == ""
        return " ".join(result.stderr.split())

    return run
