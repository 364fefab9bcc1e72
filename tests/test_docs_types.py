"""The documented examples pass mypy in strict mode, as a user's own code would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# PyTorch leaves Tensor.backward without types, and NumPy before 2.3 ndarray without defaults.
UNTYPED_ELSEWHERE = re.compile(r'untyped function "backward"|generic type "ndarray"')


def test_examples_pass_strict_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed (the extra `dev`)")
    for page in PAGES:
        blocks = re.findall(r"^```python[^\n]*\n(.*?)^```", page.read_text(), re.S | re.M)
        if blocks:
            name = str(page.relative_to(ROOT).with_suffix("")).replace("/", "_").replace("-", "_")
            (tmp_path / f"{name}.py").write_text("\n".join(blocks))
    examples = sorted(tmp_path.glob("*.py"))
    assert len(examples) > 10
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", *examples]
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line for line in lines if not UNTYPED_ELSEWHERE.search(line)] == []
    assert done.returncode in (0, 1), done.stderr
