"""The process that compiles beside a training."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from entrain.kernels import workers
from entrain.utils.files import file_lock

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork")


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "cpu_share", lambda: 2)


def test_a_task_runs_in_a_copy_of_the_process_and_leaves_its_files(tmp_path: Path) -> None:
    process = tmp_path / "process"
    values = [1]

    def task() -> None:
        values.append(2)
        process.write_text(str(os.getpid()))
        raise RuntimeError("ends the copy alone")

    with workers.forked(task):
        pass
    assert int(process.read_text()) != os.getpid()
    assert values == [1]


def test_a_task_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LONGEST_TASK", 0.2)
    began = time.monotonic()
    with workers.forked(lambda: time.sleep(600)):
        pass
    assert time.monotonic() - began < 60


def open_files() -> set[str]:
    """The paths of this process's open files."""
    folder = Path("/proc/self/fd")
    return {os.readlink(file) for file in folder.iterdir() if file.is_symlink()}


def write_names(path: Path) -> None:
    """Write the names of the open files."""
    path.write_text("\n".join(open_files()))


def test_the_copy_has_no_open_file_of_its_parent(tmp_path: Path) -> None:
    """A lock of a parent that is killed would last as long as its copy."""
    lock, names = tmp_path / "lock", tmp_path / "names"
    with file_lock(lock), workers.forked(lambda: write_names(names)):
        assert str(lock) in open_files()
    assert os.devnull in names.read_text()
    assert str(lock) not in names.read_text()


def test_with_one_core_nothing_runs_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "cpu_share", lambda: 1)
    with workers.forked(lambda: os._exit(1)):
        pass
