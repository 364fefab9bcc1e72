"""External programs that run exported designs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from entrain.utils.errors import InputError

_TIMEOUT = 6 * 3600  # seconds of one run


def program(name: str) -> str:
    """The path of a program, or an `InputError` with the command that installs it."""
    path = shutil.which(name)
    if path is None:
        raise InputError(f"{name} is not installed; on Debian and Ubuntu: apt-get install {name}")
    return path


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
