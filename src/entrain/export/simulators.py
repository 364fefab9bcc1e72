"""External programs that run exported designs."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from entrain.utils.errors import InputError

_TIMEOUT = 6 * 3600  # seconds of one run


def program(name: str) -> str:
    """The path of a program, or an `InputError` with the command that installs it."""
    path = shutil.which(name)
    if path is None:
        raise InputError(f"{name} is not installed; on Debian and Ubuntu: apt-get install {name}")
    return path


@contextlib.contextmanager
def scratch_folder(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A temporary folder with these files and no others, in which programs run.

    In a received folder a program could find commands, such as the .spiceinit of ngspice.
    """
    with tempfile.TemporaryDirectory(prefix="entrain-verify-") as scratch:
        folder = Path(scratch).resolve()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        yield folder


def run(command: Sequence[str], folder: Path, subject: str = "") -> str:
    """The output of an installed program run in a folder. If it fails, an `InputError` has the
    last lines of the output, after `subject`."""
    command = [program(command[0]), *command[1:]]
    name = f"{subject}: " * bool(subject) + Path(command[0]).name
    try:
        process = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{name} did not end within {_TIMEOUT // 3600} hours") from error
    if process.returncode:
        lines = (process.stderr or process.stdout).strip().splitlines()[-5:]
        raise InputError(f"{name} failed: {' / '.join(lines)}")
    return process.stdout + process.stderr
