"""The playground in Firefox: Debian's, driven by WebDriver BiDi through puppeteer-core."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command_line import killed_after
from entrain.playground import export_file
from test_play import SOURCE, start

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
NODE = shutil.which("node")
if FIREFOX is None:
    pytest.skip("Firefox is not installed (apt-get install firefox-esr)", allow_module_level=True)
if NODE is None or not (SOURCE / "node_modules" / "puppeteer-core").is_dir():
    pytest.skip("puppeteer-core is not installed (npm install)", allow_module_level=True)


def seen(address: str) -> dict[str, Any]:
    """What a visitor with Firefox sees at an address."""
    process = subprocess.Popen(
        [NODE, str(SOURCE / "scripts" / "firefox.mjs"), address, FIREFOX],
        cwd=SOURCE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with killed_after(280, process):
        output, errors = process.communicate()
    assert process.returncode == 0, errors[-2000:]
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def expect_a_page_that_works(found: dict[str, Any]) -> None:
    assert found["complaints"] == []
    assert found["foreign"] == []
    assert found["read"] == "7"
    assert found["drawn"] == "Your drawing."
    assert "on the same 50 test images" in found["note"]
    (name, mean, *_), (other, robust, *_) = found["rows"]
    assert (name, other) == ("mnist-74", "mnist-74-robust")
    assert float(robust) > 95 > float(mean)
    assert found["learnt"] >= 95  # % of the moons


def test_the_page_works_from_the_server() -> None:
    process, url = start("--no-browser")
    try:
        expect_a_page_that_works(seen(url))
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_the_page_as_one_file_works_without_a_server(tmp_path: Path) -> None:
    path = export_file(tmp_path / "page.html")
    expect_a_page_that_works(seen(path.as_uri()))
