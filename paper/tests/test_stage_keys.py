"""Keys of stages and measurements: the committed results have those of today's experiments."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from committed import MEASURED
from entrain.hardware import Delay, Hardware, Levels
from entrain.hardware.strengths import LADDERS
from entrain.physics import NetworkSpec
from entrain.rules import Direct
from entrain.rules.chip_training import ChipTraining
from entrain.training import Stage, digest
from entrain_paper.experiments import (
    EXPERIMENTS,
    PAPER,
    Measurement,
    chip_evaluation,
    trained_for_chips,
    with_prerequisites,
)
from entrain_paper.experiments.setting import BOTH
from entrain_paper.reproduction import Queue, ResultsFolder

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


def test_the_committed_results_have_the_keys_of_the_papers_setting() -> None:
    committed = {
        file.stem: json.loads(file.read_text())
        for file in RESULTS.glob("*.json")
        if file.stem in EXPERIMENTS
    }
    assert committed.keys() == set(MEASURED)
    for name, result in committed.items():
        measurement = Measurement(EXPERIMENTS[name], PAPER)
        measured = {each["key"]: each["title"] for each in result["stages"]}
        now = {stage.key: stage.title for stage in with_prerequisites(measurement.needs)}
        assert result["key"] == measurement.key
        assert measured == now


def test_of_the_committed_results_nothing_is_left_to_do() -> None:
    queue = Queue(ResultsFolder(RESULTS), [EXPERIMENTS[name] for name in MEASURED], PAPER)
    assert queue.all == {}
    assert queue.claim(wait=False) is None


def test_every_effect_with_a_strength_is_in_the_committed_fragility() -> None:
    rows = json.loads((RESULTS / "fragility.json").read_text())["values"]["rows"]
    for name in BOTH:
        for method in chip_evaluation.methods(PAPER, name):
            found = {
                row["effect"]: [each["label"] for each in row["strengths"]]
                for row in rows
                if (row["dataset"], row["method"]) == (name, method)
            }
            assert found == {
                effect: [each.label for each in ladder] for effect, ladder in LADDERS.items()
            }


def test_networks_for_chips_have_the_settings_that_were_best_on_validation() -> None:
    compared = json.loads((RESULTS / "hardware-trials.json").read_text())["compared"]
    rows = json.loads((RESULTS / "trained-for-chips.json").read_text())["values"]["rows"]
    constraints = {each.label: each for each in trained_for_chips.CONSTRAINTS}
    for row in rows:
        place = (row["dataset"], row["constraint"])
        tried = [each for each in compared if (each["dataset"], each["constraint"]) == place]
        best = max(tried, key=lambda each: sum(each["validation"]))
        assert [each["chosen"] for each in tried] == [each is best for each in tried]
        assert best["validation"] == pytest.approx(row["validation"], abs=1e-6)
        assert best["best_epoch"] == row["epochs"]
        assert best["test"] == pytest.approx(row["trained"]["mean"], abs=1e-3)
        constraint = constraints[row["constraint"]]
        assert best["epochs"] == constraint.stage(PAPER, row["dataset"]).epochs
        settings = constraint.settings.get(row["dataset"], {})
        assert best["changed"] == ", ".join(f"{k}: {v:g}" for k, v in settings.items())


@dataclass(frozen=True)
class Inner:
    """A value of several numbers."""

    c: int = 3
    d: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Before:
    """A rule before an option was added."""

    a: int = 1


@dataclass(frozen=True)
class WithOptions:
    """The same with options that are off by default."""

    a: int = 1
    inner: Inner | None = None
    pair: tuple[float, float] = (0.0, 0.0)
    flag: bool = False


@dataclass(frozen=True)
class WithSetting:
    """The same with a setting that is on by default, and may be off."""

    a: int = 1
    b: int = 2


@pytest.mark.parametrize("a", [0, 1, 2])
def test_an_option_that_is_off_leaves_the_key_unchanged(a: int) -> None:
    assert digest(WithOptions(a)) == digest(Before(a))
    assert digest([WithOptions(a), (1, 2)]) == digest([Before(a), (1, 2)])
    keys = [
        digest(WithOptions(a, **option))
        for option in (
            {},
            {"inner": Inner()},
            {"inner": Inner(c=4)},
            {"pair": (0.0, 1.0)},
            {"flag": True},
        )
    ]
    assert len(set(keys)) == len(keys)


def test_a_setting_that_is_on_by_default_counts_at_every_value() -> None:
    assert len({digest(WithSetting(b=b)) for b in (0, 1, 2)} | {digest(Before())}) == 4


def test_the_name_of_hardware_does_not_count() -> None:
    hardware = Hardware(coupling_levels=Levels(bits=4), delay=Delay(0.1))
    keys = {
        Stage(Direct(chips=ChipTraining(each)), "digits", NetworkSpec(8)).key
        for each in (hardware, replace(hardware, name="mine"))
    }
    assert len(keys) == 1
