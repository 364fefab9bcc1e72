"""Stages that were trained on another machine than the one that measures them."""

from __future__ import annotations

from typing import Any

from entrain.training import Stage, pack_state
from entrain_paper.reproduction import ResultsFolder

ELSEWHERE = {"device": "an abacus", "versions": {"entrain": "0.0.1", "beads": "7"}}


def trained_elsewhere(folder: ResultsFolder, stage: Stage) -> None:
    """Say so of a finished stage in its file."""
    kept = folder.state(stage)
    assert kept is not None
    header = {name: kept[1][name] for name in ("finished", "seconds")}
    folder.write_state(stage, pack_state(kept[0], header | ELSEWHERE))


def assert_trained(result: dict[str, Any], moved: Stage, stayed: Stage) -> None:
    """That a result says `moved` was trained elsewhere, and `stayed` where it was measured."""
    entries = {entry["key"]: entry for entry in result["stages"]}
    assert entries.keys() == {moved.key, stayed.key}
    assert {name: entries[moved.key][name] for name in ELSEWHERE} == ELSEWHERE
    assert entries[stayed.key]["device"] == result["device"]
    assert "versions" not in entries[stayed.key]  # those of the result
    assert result["device"] != ELSEWHERE["device"]
    assert all(entry["seconds"] > 0 for entry in entries.values())
