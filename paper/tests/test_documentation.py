"""Examples of the documentation that need the paper's package."""

from __future__ import annotations

from pathlib import Path

from examples import printed


def test_the_example_of_a_compared_system_runs(tmp_path: Path) -> None:
    (accuracies,) = printed("bake-off.md", tmp_path)
    assert all(float(accuracy) > 80 for accuracy in accuracies.split())
