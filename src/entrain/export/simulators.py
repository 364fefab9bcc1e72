"""The programs that run exported designs: where they are, and running them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from entrain.utils.errors import InputError

PACKAGES = {  # program -> Debian's package
    "ngspice": "ngspice",
    "iverilog": "iverilog",
    "vvp": "iverilog",
    "verilator": "verilator",
    "yosys": "yosys",
    "nextpnr-ice40": "nextpnr-ice40",
}

_LONGEST = 6 * 3600  # seconds of one run


def program(name: str) -> str:
    """Where a program is, or an `InputError` that says how to install it."""
    found = shutil.which(name)
    if found is None:
        raise InputError(
            f"{name} is not installed; on Debian and Ubuntu: apt-get install {PACKAGES[name]}"
        )
    return found


def run(command: Sequence[str], folder: Path, what: str = "") -> str:
    """Run a command in a folder; all that it printed. Where it fails, an `InputError` has its last
    lines, and `what` it was about."""
    about = f"{what}: " if what else ""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LONGEST
        )
    except subprocess.TimeoutExpired as error:
        name = Path(command[0]).name
        raise InputError(f"{about}{name} did not end within {_LONGEST // 3600} hours") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise InputError(f"{about}{Path(command[0]).name} failed: {' / '.join(said)}")
    return done.stdout + done.stderr
