"""The examples of the documentation, taken out of its pages and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(code: str, folder: Path, **variables: str) -> list[str]:
    """What Python code prints, run in `folder` where `entrain` is a command."""
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PATH": commands} | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def script(page: str) -> str:
    """The examples of a page one after the other: ```python blocks, and ```sh blocks in a shell.

    What a shell prints goes to standard error, so that standard output is Python's alone.
    """
    blocks = re.findall(
        r"^```(python|sh)\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE
    )
    shell = "__import__('subprocess').run(['bash', '-ec', {!r}], check=True, stdout=2)\n"
    return "".join(code if kind == "python" else shell.format(code) for kind, code in blocks)


def printed(page: str, folder: Path) -> list[str]:
    """What the Python examples of a page print."""
    return run(script(page), folder)
