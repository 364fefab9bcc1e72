"""Two runs are compared number by number."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from committed import committed
from entrain.utils.files import with_digest

TOOL = Path(__file__).parents[1] / "tools" / "compare_results.py"


def run(one: Path, other: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(TOOL), str(one), str(other)], capture_output=True, text=True
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def write(folder: Path, result: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "trajectory.json").write_text(json.dumps(with_digest(result)))


def test_a_last_bit_that_differs_is_found_and_a_time_is_not(tmp_path: Path) -> None:
    result = committed("trajectory")
    result.pop("digest")
    write(tmp_path / "a", result)
    slower = copy.deepcopy(result) | {"seconds": 1e6, "device": "another"}
    write(tmp_path / "b", slower)
    code, text = run(tmp_path / "a", tmp_path / "b")
    assert code == 0
    assert text.startswith("trajectory: 24 of 24 equal")
    slower["values"]["rows"][0]["path_rmse"] *= 1 + 2**-50
    write(tmp_path / "b", slower)
    code, text = run(tmp_path / "a", tmp_path / "b")
    assert code == 1
    assert "23 of 24 equal; rows[0].path_rmse" in text
    (tmp_path / "b" / "trajectory.json").unlink()
    assert run(tmp_path / "a", tmp_path / "b") == (1, "trajectory: in one folder only\n")
