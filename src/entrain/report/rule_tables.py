"""Tables of the experiments with rules that need no model of a chip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from entrain.report.markdown import Column, percent, plain, table

Row = Mapping[str, Any]

_CURVES = {
    "strength": "strength of the nudge",
    "time": "time of relaxation",
    "noise": "temperature kT",
    "step": "Euler step",
}
_PLACES = {"chip": "the chip", "ideal": "the ideal network"}


def gradients(values: Row) -> str:
    """Along each curve: angle and length of every rule, of the couplings and the input weights."""
    rules = list(dict.fromkeys(row["rule"] for row in values["rows"]))
    lines: dict[tuple[str, float], dict[str, Any]] = {}
    for row in values["rows"]:
        place = (row["curve"], row["value"])
        line = lines.setdefault(place, {"along": _CURVES[row["curve"]], "value": f"{place[1]:g}"})
        line[row["rule"]] = row

    def shown(rule: str, part: str) -> Callable[[Row], str]:
        return lambda line: f"{line[rule][part]['cosine']:.3f} ({line[rule][part]['length']:.2g})"

    columns: list[Column] = [
        ("along", plain("along")),
        ("value", plain("value")),
        *((f"{rule}, W", shown(rule, "input_weights")) for rule in rules),
        *((f"{rule}, J", shown(rule, "couplings")) for rule in rules),
    ]
    usual, strength = values["usual"], values["usual"]["strength"]
    text = (
        "The cosine of the angle to the exact gradient of the cross-entropy at equilibrium, and in "
        "brackets the length over its length, for input weights W and couplings J: one network "
        f"that EP trained for a short time, {values['images']:,} training images of "
        f"{values['dataset']}. Where nothing else is said beta of EP is {strength['EP']:g}, the "
        f"share of COUPLED {strength['COUPLED']:g}, a step of SPSA in fields and couplings "
        f"{strength['SPSA']:g}; the time is {usual['time']:g}, free and nudged again, in Euler "
        f"steps of {usual['step']:g}, without noise. SPSA is the mean of "
        f"{values['directions']:,} directions. COUPLED follows another cost, a squared distance of "
        "the phases."
    )
    return table(list(lines.values()), columns) + "\n\n" + text


def on_chips(values: Row) -> str:
    """Each rule, on the chip and without it."""

    def score(name: str) -> Callable[[Row], str]:
        return lambda row: percent(row[name]["mean"], row[name]["sd"])

    columns: list[Column] = [
        ("rule", plain("rule")),
        ("learnt on", lambda row: _PLACES[row["learnt_on"]]),
        ("read at t", lambda row: f"{row['time']:g}"),
        ("on the chip", score("on_chip")),
        ("on others of its kind", score("on_others")),
        ("as the ideal network", score("on_ideal")),
        ("epochs", plain("epochs")),
    ]
    runs = len(values["rows"][0]["on_chip"]["runs"])
    text = (
        f"{values['dataset']} test top-1 %, mean ± SD over {runs} trainings without distortions. "
        f"One chip with 30 % mismatch of couplings and input weights, 4 bits for both, and thermal "
        f"noise; the others are {values['chips']} of the same kind. DIRECT on the chip knows an "
        "exact model of it, EP and SPSA know what it does. Epochs were chosen on validation images."
    )
    return "\n\n".join([table(values["rows"], columns), _conclusion(values), text])


def _conclusion(values: Row) -> str:
    """What it means, in one sentence with the numbers."""
    found = {(row["rule"], row["learnt_on"]): row["on_chip"]["mean"] for row in values["rows"]}
    gains = {rule: found[rule, "chip"] - found[rule, "ideal"] for rule, _ in found}
    listed = ", ".join(f"{rule} {gain:+.2f}" for rule, gain in gains.items())
    free = max(("EP", "SPSA"), key=lambda rule: found[rule, "chip"])
    return (
        f"**Learning on the chip itself is worth, in points of accuracy there: {listed}.** With a "
        f"model of the chip the adjoint has {found['DIRECT', 'chip']:.2f} %; without one {free} is "
        f"the better rule, with {found[free, 'chip']:.2f} %."
    )


RULE_TABLES: dict[str, Callable[[Row], str]] = {
    "rule-gradients": gradients,
    "rules-on-chips": on_chips,
}
