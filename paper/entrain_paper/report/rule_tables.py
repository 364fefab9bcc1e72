"""Tables of the experiments with rules that need no model of a chip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from entrain_paper.report.markdown import Column, percent, plain, table

Row = Mapping[str, Any]

_CURVES = {
    "strength": "nudge strength",
    "time": "relaxation time",
    "noise": "temperature kT",
    "step": "Euler step",
}
_PLACES = {"chip": "the chip", "ideal": "the ideal network"}


def gradients(values: Row) -> str:
    """Each curve: angle and length of the gradient of every rule, for weights and couplings."""
    rules = list(dict.fromkeys(row["rule"] for row in values["rows"]))
    lines: dict[tuple[str, float], dict[str, Any]] = {}
    for row in values["rows"]:
        place = (row["curve"], row["value"])
        line = lines.setdefault(place, {"along": _CURVES[row["curve"]], "value": f"{place[1]:g}"})
        line[row["rule"]] = row

    def shown(rule: str, part: str) -> Callable[[Row], str]:
        return lambda line: f"{line[rule][part]['cosine']:.3f} ({line[rule][part]['length']:.2g})"

    columns: list[Column] = [
        ("varied", plain("along")),
        ("value", plain("value")),
        *((f"{rule}, W", shown(rule, "input_weights")) for rule in rules),
        *((f"{rule}, J", shown(rule, "couplings")) for rule in rules),
    ]
    usual, strength = values["usual"], values["usual"]["strength"]
    noisy = values["usual"]["strength in noise"]
    text = (
        "Cosine of the angle to the exact gradient of the cross-entropy at equilibrium, for input "
        "weights W and couplings J. In brackets: the length divided by the length of the exact "
        f"gradient. One network that EP trained for a short time, {values['images']:,} training "
        f"images of {values['dataset']}. Unless varied, beta of EP is {strength['EP']:g}, the "
        f"share of COUPLED {strength['COUPLED']:g}, and a step of SPSA in fields and couplings "
        f"{strength['SPSA']:g}. The time is {usual['time']:g} for the free relaxation and the same "
        f"for each nudged one, in Euler steps of {usual['step']:g}, without noise. With "
        f"noise, each relaxation has its own: the strengths are {noisy['EP']:g}, "
        f"{noisy['COUPLED']:g} and {noisy['SPSA']:g}, and EP and COUPLED average over the second "
        f"half of a nudged relaxation. SPSA averages {values['directions']:,} directions. "
        "COUPLED follows another cost: a squared distance of the phases."
    )
    return table(list(lines.values()), columns) + "\n\n" + text


def on_chips(values: Row) -> str:
    """Each rule, on the chip and without it."""

    def score(name: str) -> Callable[[Row], str]:
        return lambda row: percent(row[name]["mean"], row[name]["sd"])

    columns: list[Column] = [
        ("rule", plain("rule")),
        ("trained on", lambda row: _PLACES[row["learnt_on"]]),
        ("read at t", lambda row: f"{row['time']:g}"),
        ("on the chip", score("on_chip")),
        ("on other chips of its kind", score("on_others")),
        ("on the ideal network", score("on_ideal")),
        ("epochs", plain("epochs")),
    ]
    runs = len(values["rows"][0]["on_chip"]["runs"])
    text = (
        f"{values['dataset']} test top-1 %, mean ± SD over {runs} trainings without augmentation. "
        "One chip has 30 % mismatch of couplings and input weights, 4 bits for both, and thermal "
        f"noise. The others are {values['chips']} chips of the same kind. DIRECT on the chip has "
        "an exact model of it. EP and SPSA only observe what it does. Epochs were chosen on "
        "validation images."
    )
    return "\n\n".join([table(values["rows"], columns), _conclusion(values), text])


def _conclusion(values: Row) -> str:
    """The conclusion, with its numbers."""
    found = {(row["rule"], row["learnt_on"]): row["on_chip"]["mean"] for row in values["rows"]}
    gains = {rule: found[rule, "chip"] - found[rule, "ideal"] for rule, _ in found}
    listed = ", ".join(f"{rule} {gain:+.2f}" for rule, gain in gains.items())
    free = max(("EP", "SPSA"), key=lambda rule: found[rule, "chip"])
    return (
        "**Training on the chip itself gains, in points of accuracy on this chip: "
        f"{listed}.** With a model of the chip, the adjoint reaches {found['DIRECT', 'chip']:.2f} "
        f"%. Without one, {free} is the better rule, with {found[free, 'chip']:.2f} %."
    )


RULE_TABLES: dict[str, Callable[[Row], str]] = {
    "rule-gradients": gradients,
    "rules-on-chips": on_chips,
}
