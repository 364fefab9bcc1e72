"""The documentation's examples run, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "results" / "README.md"])


def test_the_examples_of_own_networks_run(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/networks.md").read_text(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", "".join(blocks)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    couplers, gradient, learned, accuracy, *_ = done.stdout.splitlines()
    assert (couplers, gradient) == ("100", "torch.Size([24])")
    assert float(learned) > 0.95
    assert float(accuracy) > 85
    assert (tmp_path / "with-frequencies.safetensors").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"
