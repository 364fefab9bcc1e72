"""A measured bake-off takes in systems that were measured apart, or is left as it was."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from entrain_paper.experiments import TINY, Measurement, with_prerequisites
from entrain_paper.experiments.bake_off import EXPERIMENT
from entrain_paper.peers import SYSTEMS

TOOL = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "update_bake_off.py"))
JOB = Measurement(EXPERIMENT, TINY)
STAGES = with_prerequisites(JOB.needs)
OLD, NEW = {"entrain": "0.1.0"}, {"entrain": "0.2.0"}
AOC = [stage for stage in STAGES if stage.rule.name == "aoc"]
OTHER = next(stage for stage in STAGES if stage.rule.name == "snn")


def result(rows: list[tuple[str, str, float]], keys: list[str], seconds: float) -> dict[str, Any]:
    """What `entrain bakeoff` wrote."""
    names = ("system", "dataset", "measured_mean")
    return {
        "key": "earlier",
        "values": {"rows": [dict(zip(names, row, strict=True)) for row in rows]},
        "stages": [{"key": key, "of": seconds} for key in keys],
        "seconds": seconds,
        "device": "NVIDIA H200",
        "versions": OLD,
        "finished": f"2026-01-0{seconds:g}",
    }


def whole() -> dict[str, Any]:
    """All systems, aoc by other settings than now."""
    keys = [f"old {stage.key}" if stage in AOC else stage.key for stage in STAGES]
    return result([("aoc", "MNIST", 90.0), ("snn", "MNIST", 98.0)], keys, 1)


def test_rows_and_trainings_of_a_system_are_replaced() -> None:
    part = result([("aoc", "MNIST", 94.0), ("aoc", "Fashion-MNIST", 86.0)], [], 2)
    part["stages"] = [{"key": stage.key, "of": 2} for stage in AOC]
    found = TOOL["updated"](whole(), [part], JOB)
    assert found["key"] == JOB.key
    assert [tuple(row.values()) for row in found["values"]["rows"]] == [
        ("aoc", "MNIST", 94.0, SYSTEMS["aoc"].why, "NVIDIA H200"),
        ("snn", "MNIST", 98.0, SYSTEMS["snn"].why, "NVIDIA H200"),
        ("aoc", "Fashion-MNIST", 86.0, SYSTEMS["aoc"].why, "NVIDIA H200"),
    ]
    assert [each["key"] for each in found["stages"]] == [stage.key for stage in STAGES]
    assert {each["key"] for each in found["stages"] if each["of"] == 2} == {s.key for s in AOC}
    assert (found["seconds"], found["finished"]) == (3, "2026-01-02")


@pytest.mark.parametrize(
    ("part", "entry", "expected"),
    [
        (OLD, {}, {"device": "a core"}),
        (NEW, {}, {"device": "a core", "versions": NEW}),
        (NEW, {"device": "another"}, {"device": "another", "versions": NEW}),
        (NEW, {"device": "another", "versions": OLD}, {"device": "another"}),
        (OLD, {"device": "another", "versions": NEW}, {"device": "another", "versions": NEW}),
    ],
)
def test_a_training_keeps_where_it_was_made(
    part: dict[str, str], entry: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = whole()
    elsewhere = {"device": "yet another", "versions": {"entrain": "0.1.5"}}
    before["stages"][STAGES.index(OTHER)] |= elsewhere
    apart = result([("aoc", "MNIST", 94.0)], [], 2) | {"device": "a core", "versions": part}
    apart["stages"] = [{"key": stage.key, "of": 2} | entry for stage in AOC]
    found = TOOL["updated"](before, [apart], JOB)
    assert (found["device"], found["versions"]) == ("NVIDIA H200", OLD)
    entries = {each["key"]: each for each in found["stages"]}
    assert entries.pop(OTHER.key) == {"key": OTHER.key, "of": 1} | elsewhere
    for stage in AOC:
        assert entries.pop(stage.key) == {"key": stage.key, "of": 2} | expected
    assert all(each.keys() == {"key", "of"} for each in entries.values())  # as they were


def test_a_part_that_is_not_what_the_bake_off_would_train_now_is_refused() -> None:
    part = result([("aoc", "MNIST", 94.0)], ["of yet other settings"], 2)
    with pytest.raises(SystemExit, match=r"not measured, or with other settings than now: .*aoc"):
        TOOL["updated"](whole(), [part], JOB)


def test_older_rows_stay_where_they_may() -> None:
    before = whole()
    for each, stage in zip(before["stages"], STAGES, strict=True):
        each["title"] = stage.title
    before["stages"][STAGES.index(AOC[0])]["of"] = 0
    part = result([("snn", "MNIST", 98.5)], [], 2)
    found = TOOL["updated"](before, [part], JOB, keep_older=True)
    assert found["key"] == "earlier"
    assert [row["measured_mean"] for row in found["values"]["rows"]] == [90.0, 98.5]
    assert [each["key"] for each in found["stages"]] == [each["key"] for each in before["stages"]]
