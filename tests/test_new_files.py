"""Outputs of commands: new, complete, and repeatable after a kill."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from entrain.utils.errors import InputError
from entrain.utils.files import (
    file_lock,
    open_regular,
    read_bytes,
    remove_temporary_files,
    temporary_files,
    write_atomically,
)
from entrain.utils.new_files import check_new, new_files

KILLED = """
import os, signal, sys
from pathlib import Path
from entrain.utils import new_files as module

folder, moment = Path(sys.argv[1]), int(sys.argv[2])
replace, done = Path.replace, 0

def counted(self, target):
    global done
    if self.name.startswith("."):
        if done == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
    return replace(self, target)

Path.replace = counted
names = [folder / name for name in ("a.txt", "b.txt", "c.txt")]
with module.new_files(*names) as parts:
    for part in parts.values():
        part.write_text("new")
"""


def write_all(folder: Path, text: str = "new", **options: bool) -> list[Path]:
    names = [folder / name for name in ("a.txt", "b.txt", "c.txt")]
    with new_files(*names, **options) as parts:
        for part in parts.values():
            write_atomically(part, text.encode())
    return names


def test_outputs_appear_together_and_leave_nothing_else(tmp_path: Path) -> None:
    with new_files(tmp_path / "a.txt", None, tmp_path / "new" / "b.png") as parts:
        for part in parts.values():
            part.write_text("text")
        assert not (tmp_path / "a.txt").exists()
        assert parts[tmp_path / "new" / "b.png"].suffix == ".png"
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert files == ["a.txt", "new", "new/b.png"]


def test_an_error_leaves_no_output(tmp_path: Path) -> None:
    def fail() -> None:
        with new_files(tmp_path / "a", tmp_path / "b") as parts:
            parts[tmp_path / "a"].write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_existing_files_stay_unless_overwritten(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("mine")
    with pytest.raises(InputError, match=r"b\.txt: exists already; "):
        write_all(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]
    assert (tmp_path / "b.txt").read_text() == "mine"
    write_all(tmp_path, overwrite=True)
    assert (tmp_path / "b.txt").read_text() == "new"


def test_a_file_that_appears_during_the_command_stays(tmp_path: Path) -> None:
    def write_late() -> None:
        with new_files(tmp_path / "a") as parts:
            parts[tmp_path / "a"].write_text("new")
            (tmp_path / "a").write_text("mine")

    with pytest.raises(InputError, match="exists already"):
        write_late()
    assert (tmp_path / "a").read_text() == "mine"


@pytest.mark.parametrize("moment", [0, 1, 2])
def test_a_command_killed_between_its_outputs_can_be_repeated(tmp_path: Path, moment: int) -> None:
    process = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(moment)])
    assert process.returncode == -signal.SIGKILL
    assert (
        sum(path.suffix == ".txt" and path.name[0] != "." for path in tmp_path.iterdir()) == moment
    )
    write_all(tmp_path, "again")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ("a.txt", "b.txt", "c.txt"), "again"
    )


def test_two_commands_cannot_write_the_same_file(tmp_path: Path) -> None:
    with (
        new_files(tmp_path / "a"),
        pytest.raises(InputError, match="another process is writing it"),
        new_files(tmp_path / "a"),
    ):
        pass


def test_special_files_are_no_outputs(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name, what in (("folder", "folder"), ("pipe", "pipe"), ("dangling", "exists already")):
        with pytest.raises(InputError, match=what):
            check_new(tmp_path / name, overwrite=name != "dangling")


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_the_umask_decides_who_may_read(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_only_our_temporary_files_are_removed(tmp_path: Path) -> None:
    foreign = [
        ".a.json.tmp",
        ".notes.tmp",
        ".[ab].json.0123abcd.entrain-tmp",
        ".a.json.entrain-tmp",
    ]
    ours = [".a.json.0123abcd.entrain-tmp", ".b.json.0123abcd.entrain-tmp"]
    for name in foreign + ours:
        (tmp_path / name).touch()
    remove_temporary_files(tmp_path, "a.json")
    assert {path.name for path in tmp_path.iterdir()} == {*foreign, ours[1]}
    assert [path.name for path in temporary_files(tmp_path, "[ab].json")] == [foreign[2]]


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**40)  # sparse: it takes no space
    cases = {
        tmp_path: "is a folder",
        tmp_path / "pipe": "is a pipe or a device",
        Path("/dev/zero"): "is a pipe or a device",
        tmp_path / "large": "1,099,511,627,776 bytes; expected at most 10",
        tmp_path / "absent": "no such table",
        tmp_path / "a\0b": "cannot be read",
    }
    for path, message in cases.items():
        with pytest.raises(InputError, match=message):
            read_bytes(path, "table", 10)
    (tmp_path / "ten").write_bytes(b"0123456789")
    assert read_bytes(tmp_path / "ten", "table", 10) == b"0123456789"
    with open_regular(tmp_path / "ten") as file:
        assert file.read() == b"0123456789"


def test_a_linked_lock_is_refused_and_its_target_kept(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("content")
    (tmp_path / "lock").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="cannot be locked"), file_lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "mine").read_text() == "content"


def test_a_damaged_journal_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.entrain-journal").write_text(json.dumps(1))
    with pytest.raises(InputError, match="damaged; delete it"):
        write_all(tmp_path)
