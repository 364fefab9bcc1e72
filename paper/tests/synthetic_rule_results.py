"""Synthetic results of the experiments with rules that need no model of the chip."""

from __future__ import annotations

from typing import Any

from entrain_paper.experiments import rule_gradients, rules_on_chips

Values = dict[str, Any]


def gradients() -> Values:
    """Angles that grow with the position along each curve, equal for all rules."""
    rows = [
        {
            "rule": rule,
            "curve": curve,
            "value": value,
            **{
                part: {"cosine": 1.0 - 0.1 * place, "length": 0.5 + place}
                for part in rule_gradients.PARTS
            },
        }
        for curve, values in rule_gradients.CURVES.items()
        for place, value in enumerate(values)
        for rule in rule_gradients.RULES
    ]
    strength = {"EP": 0.001, "COUPLED": 0.002, "SPSA": 0.03}
    usual = {
        "strength": strength,
        "strength in noise": strength,
        "time": 60.0,
        "noise": 0.0,
        "step": 0.05,
    }
    return {"dataset": "MNIST", "images": 256, "directions": 16, "usual": usual, "rows": rows}


def on_chips(runs: int) -> Values:
    """Accuracies 10 points lower for each rule than for the rule before it."""

    def score(mean: float) -> Values:
        return {"mean": mean, "sd": 0.5 if runs > 1 else None, "runs": [mean] * runs}

    rows = [
        {
            "rule": rule,
            "learnt_on": place,
            "epochs": 10,
            "time": 15.0,
            "on_chip": score(90.0 - 10 * order - (5 if place == "ideal" else 0)),
            "on_others": score(70.0),
            "on_ideal": score(95.0),
            "seconds": 1.0,
        }
        for order, rule in enumerate(rules_on_chips.RULES)
        for place in rules_on_chips.TRAINED_ON
    ]
    return {"dataset": "MNIST", "hardware": {}, "chips": 20, "rows": rows}


def results(runs: int) -> dict[str, Values]:
    """Values of both experiments."""
    return {"rule-gradients": gradients(), "rules-on-chips": on_chips(runs)}
