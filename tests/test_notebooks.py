"""The notebooks of the documentation are executed, small, and true."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from examples import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def tool(path: str) -> ModuleType:
    """The module of a file in tools/."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "tools" / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(text: str) -> list[float]:
    """The numbers with a percent sign in a text."""
    return [float(number) for number in re.findall(r"([\d.]+) %", text)]


def check(name: str, text: str) -> None:
    """The facts that a notebook prints."""
    shares = numbers(text)
    if name == "digits":
        assert shares[0] > 92  # on the test images
        assert shares[1] > shares[2] > shares[3] > shares[4]  # with more and more noise
    elif name == "ising":
        cut, best = re.search(r"(\d+) of 90 edges", text), re.search(r"local search: (\d+)", text)
        assert cut is not None
        assert best is not None
        assert int(cut[1]) >= int(best[1])
    elif name == "chips":
        ideal, mean, worst, robust, robust_worst = shares[:5]
        assert ideal > robust > mean > worst
        assert robust_worst > mean
    elif name == "listening":
        ours, control = shares[:2]
        assert ours > control + 5
    else:
        assert "3 of 3 predictions agree" in text
        assert "prediction agrees: True" in text


def texts(notebook: dict[str, Any]) -> str:
    """What all cells print."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return "\n".join("".join(output.get("text", [])) for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_executed_small_and_true(path: Path) -> None:
    notebook = json.loads(path.read_text())
    assert notebook["cells"][0]["source"][0].startswith("# ")
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert path.stat().st_size < 200_000
    assert any("data" in output for cell in code for output in cell["outputs"])  # a figure
    check(path.stem, texts(notebook))


def test_there_are_five_notebooks() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["chips", "digits", "ising", "listening", "spice"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    if path.stem == "spice" and shutil.which("ngspice") is None:
        pytest.skip("ngspice is not installed")
    pytest.importorskip("networkx", reason="networkx is not installed")
    notebook = json.loads(path.read_text())
    with contextlib.chdir(tmp_path):
        tool("execute_notebooks.py").execute(notebook)
    check(path.stem, texts(notebook))
