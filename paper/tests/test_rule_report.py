"""Measurements, tables and figures of the training rules that need no model of the chip."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

import synthetic_rule_results
from entrain.data import load_dataset
from entrain.rules.training_data import TrainingData
from entrain.training import train_stage
from entrain_paper.experiments import (
    PAPER,
    TINY,
    ExperimentContext,
    rule_gradients,
    rules_on_chips,
)
from entrain_paper.figures import FIGURES
from entrain_paper.report.tables import TABLES

pytestmark = pytest.mark.usefixtures("one_thread")

MADE_UP = synthetic_rule_results.results(2)


@pytest.mark.parametrize("name", MADE_UP)
def test_tables_have_a_row_per_point_and_figures_can_be_drawn(name: str) -> None:
    values = json.loads(json.dumps(MADE_UP[name]))
    lines = [line for line in TABLES[name](values).splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    points = {"rule-gradients": len(values["rows"]) // 3, "rules-on-chips": len(values["rows"])}
    assert len(lines) == 2 + points[name]
    assert FIGURES[name].draw({name: values}).axes


def test_conclusion_gives_the_gain_of_training_on_the_chip() -> None:
    text = TABLES["rules-on-chips"](synthetic_rule_results.on_chips(2))
    assert "EP +5.00, SPSA +5.00, DIRECT +5.00" in text
    assert "Without one, EP is the better rule, with 90.00 %" in text
    assert TABLES["rules-on-chips"](synthetic_rule_results.on_chips(1)).count("±") == 1


def test_claims_hold_for_synthetic_results() -> None:
    (claim,) = rule_gradients.compare(synthetic_rule_results.gradients()).claims
    assert claim.holds
    assert "beta 0.001" in claim.text
    claims = rules_on_chips.compare(synthetic_rule_results.on_chips(2)).claims
    assert [claim.holds for claim in claims] == [True, True, True, True, True]


def test_cosine_and_length_of_parallel_and_orthogonal_gradients() -> None:
    exact = torch.tensor([[3.0, 4.0]])
    same = rule_gradients.compare_gradients(2.0 * exact, exact)
    assert same == pytest.approx({"cosine": 1.0, "length": 2.0})
    across = rule_gradients.compare_gradients(torch.tensor([[-4.0, 3.0]]), exact)
    assert across == pytest.approx({"cosine": 0.0, "length": 1.0}, abs=1e-7)


def test_trainings_on_chip_and_ideal_network_differ_in_chip_and_noise_settings_only() -> None:
    for rule in rules_on_chips.RULES:
        chip, ideal = (
            rules_on_chips.stage(PAPER, rule, place) for place in rules_on_chips.TRAINED_ON
        )
        assert chip.network == ideal.network
        assert chip.runs == ideal.runs
        ours, theirs = chip.rule.settings(), ideal.rule.settings()
        differ = {name for name in ours if ours[name] != theirs.get(name)}
        assert differ == {"chips"} | (rules_on_chips.IN_NOISE.keys() if rule == "EP" else set())
        assert ours["chips"]["chip"] == rules_on_chips.CHIP


def test_ep_estimates_the_direction_of_the_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The experiment on three images that reach equilibrium soon. One of the usual eight is between
    two equilibria, where rounding decides the gradient."""
    three = replace(rule_gradients.size(TINY), images=3)
    monkeypatch.setitem(rule_gradients._SMALL, TINY.name, three)
    stage = rule_gradients.stage(TINY)
    data = TrainingData(load_dataset("mnist-small"), torch.device("cpu"))
    states = {stage.key: train_stage(stage, data, {})}
    context = ExperimentContext(TINY, states, load_dataset, torch.device("cpu"))
    gradients = rule_gradients.Gradients(context)
    point = rule_gradients.Point(strength=0.01, time=30.0, noise=0.0, step=0.05)
    found = gradients.by("EP", point)
    assert found["input_weights"]["cosine"] > 0.99
    assert found["couplings"]["cosine"] > 0.99
    assert gradients.by("EP", point) == found
