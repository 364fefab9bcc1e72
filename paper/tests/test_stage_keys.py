"""The keys of every stage and measurement of version 0.1, which name what was trained by them.

tests/vectors/stage_keys.json holds them as the released version computed them. A key that changes
would have everything trained again that is in a folder of results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from entrain.hardware import CouplingFunction, Delay, Hardware, Levels, PhaseNoise
from entrain.hardware.strengths import LADDERS
from entrain.physics import NetworkSpec
from entrain.rules import DirectProtocol
from entrain.rules.chip_training import ChipTraining
from entrain.training import Stage, digest
from entrain.utils.fields import added_later, as_json
from entrain_paper.experiments import (
    EXPERIMENTS,
    PAPER,
    QUICK,
    TINY,
    Measurement,
    on_chips,
    trained_for_chips,
)
from entrain_paper.experiments.setting import BOTH, FASHION, MNIST
from entrain_paper.reproduction import Queue, ResultsFolder
from entrain_paper.reproduction.worker import with_needs

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
RELEASED = json.loads((ROOT / "tests" / "vectors" / "stage_keys.json").read_text())


TEACHERS_THEN = ((MNIST, 2), (FASHION, 0))  # of the release whose keys are pinned here
TINY_THEN = replace(TINY, endpoint_epochs=2, direct_epochs=2, replicates=3)


def measurements() -> dict[str, Measurement]:
    return {
        f"{setting.name}/{name}": Measurement(
            experiment, replace(setting, teacher_seeds=TEACHERS_THEN)
        )
        for setting in (PAPER, QUICK, TINY_THEN)
        for name, experiment in EXPERIMENTS.items()
    }


def test_every_measurement_has_its_released_key() -> None:
    released = RELEASED["measurements"]
    found = {name: each.key for name, each in measurements().items() if name in released}
    assert found == released
    assert len(released) == 81


def test_every_stage_has_its_released_key() -> None:
    released = RELEASED["measurements"]
    found = {
        stage.key
        for name, each in measurements().items()
        if name in released
        for stage in with_needs(each.needs)
    }
    assert sorted(found) == RELEASED["stages"]


def test_the_committed_results_have_the_keys_of_the_papers_setting() -> None:
    committed = {
        file.stem: json.loads(file.read_text())
        for file in RESULTS.glob("*.json")
        if file.stem in EXPERIMENTS
    }
    assert committed.keys() == EXPERIMENTS.keys()
    for name, result in committed.items():
        measurement = Measurement(EXPERIMENTS[name], PAPER)
        measured = {each["key"]: each["title"] for each in result["stages"]}
        now = {stage.key: stage.title for stage in with_needs(measurement.needs)}
        assert result["key"] == measurement.key
        assert measured == now


def test_of_the_committed_results_nothing_is_left_to_do() -> None:
    queue = Queue(ResultsFolder(RESULTS), list(EXPERIMENTS.values()), PAPER)
    assert queue.all == {}
    assert queue.claim(wait=False) is None


def test_every_effect_with_a_strength_is_in_the_committed_fragility() -> None:
    rows = json.loads((RESULTS / "fragility.json").read_text())["values"]["rows"]
    for name in BOTH:
        for method in on_chips.methods(PAPER, name):
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
class Released:
    """As a first release had it."""

    a: int = 1


@dataclass(frozen=True)
class Later:
    """The same with a field that a later release added as it should."""

    a: int = 1
    inner: Inner = added_later(default_factory=Inner)  # noqa: RUF009 (it makes a field)


@dataclass(frozen=True)
class Careless:
    """The same with a field that was added as any other."""

    a: int = 1
    inner: Inner = field(default_factory=Inner)


@pytest.mark.parametrize("a", [1, 2])
def test_a_field_added_later_with_a_factory_leaves_keys_as_they_are(a: int) -> None:
    assert digest(Later(a)) == digest(Released(a))
    assert digest([Later(a), (1, 2)]) == digest([Released(a), (1, 2)])
    assert digest(Later(a, Inner(c=4))) != digest(Released(a))
    assert digest(Later(a, Inner(c=4))) != digest(Later(a, Inner(c=5)))


def test_a_field_added_as_any_other_changes_them() -> None:
    assert digest(Careless()) != digest(Released())


@pytest.mark.parametrize("a", [1, 2])
def test_such_a_field_is_written_where_it_is_not_at_its_default(a: int) -> None:
    assert as_json(Later(a)) == {"a": a}
    inner = {"c": 4, "d": list(Inner().d)}
    assert as_json((Later(a, Inner(c=4)),)) == [{"a": a, "inner": inner}]


def test_what_was_trained_for_chips_before_there_were_more_effects_keeps_its_key() -> None:
    kind = Hardware(
        coupling_levels=Levels(bits=4),
        coupling_function=CouplingFunction(0.3),
        phase_noise=PhaseNoise(0.1),
    )
    stages = {
        each: Stage(DirectProtocol(chips=ChipTraining(each)), "digits", NetworkSpec(8)).key
        for each in (kind, replace(kind, delay=Delay(0.1)))
    }
    assert stages[kind] == "digits-direct-afda52e42a0391c7"
    assert len(set(stages.values())) == 2
