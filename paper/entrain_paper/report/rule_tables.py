"""Tables of the experiments with training rules that need no model of the chip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from entrain_paper.report.markdown import Column, Format, Row, mean_sd, plain, table

_CURVES = {
    "strength": "nudge strength",
    "time": "relaxation time",
    "noise": "temperature kT",
    "step": "Euler step",
}
_TRAINED_ON = {"chip": "the chip", "ideal": "the ideal network"}


def gradients(values: Row) -> str:
    """Angle and length of every rule's gradient along each curve, for weights and couplings."""
    rules = list(dict.fromkeys(row["rule"] for row in values["rows"]))
    lines: dict[tuple[str, float], dict[str, Any]] = {}
    for row in values["rows"]:
        curve, value = row["curve"], row["value"]
        line = lines.setdefault((curve, value), {"along": _CURVES[curve], "value": f"{value:g}"})
        line[row["rule"]] = row

    def gradient(rule: str, part: str) -> Format:
        return lambda line: f"{line[rule][part]['cosine']:.3f} ({line[rule][part]['length']:.2g})"

    columns: list[Column] = [
        ("varied", plain("along")),
        ("value", plain("value")),
        *((f"{rule}, W", gradient(rule, "input_weights")) for rule in rules),
        *((f"{rule}, J", gradient(rule, "couplings")) for rule in rules),
    ]
    usual = values["usual"]
    strength, noisy = usual["strength"], usual["strength in noise"]
    text = (
        "Cosine of the angle to the exact gradient of the cross-entropy at equilibrium, for input "
        "weights W and couplings J. In brackets: the length divided by the length of the exact "
        "gradient. The network was trained by EP for a short time; the gradients are of "
        f"{values['images']:,} training images of {values['dataset']}. Unless varied, beta of EP "
        f"is {strength['EP']:g}, the share of COUPLED {strength['COUPLED']:g}, and the step of "
        f"SPSA in fields and couplings {strength['SPSA']:g}. The free relaxation and each nudged "
        f"one take the time {usual['time']:g} in Euler steps of {usual['step']:g}, without noise. "
        f"With noise, independent in each relaxation, the strengths are {noisy['EP']:g}, "
        f"{noisy['COUPLED']:g} and {noisy['SPSA']:g}, and EP and COUPLED average over the second "
        f"half of a nudged relaxation. SPSA averages {values['directions']:,} directions. "
        "COUPLED has a different cost, a squared distance of the phases."
    )
    return table(list(lines.values()), columns) + "\n\n" + text


def on_chips(values: Row) -> str:
    """Accuracy by rule, for training on the chip and on the ideal network."""
    columns: list[Column] = [
        ("rule", plain("rule")),
        ("trained on", lambda row: _TRAINED_ON[row["learnt_on"]]),
        ("read at t", lambda row: f"{row['time']:g}"),
        ("on the chip", mean_sd("on_chip")),
        ("on other chips of this hardware", mean_sd("on_others")),
        ("on the ideal network", mean_sd("on_ideal")),
        ("epochs", plain("epochs")),
    ]
    runs = len(values["rows"][0]["on_chip"]["runs"])
    text = (
        f"{values['dataset']} test top-1 %, mean ± SD over {runs} trainings without augmentation. "
        "One chip has 30 % mismatch of couplings and input weights, 4 bits for both, and thermal "
        f"noise. The other chips are {values['chips']} samples of the same hardware. DIRECT on the "
        "chip has an exact model of it. EP and SPSA only measure its phases. Epochs were selected "
        "on validation images."
    )
    return "\n\n".join([table(values["rows"], columns), _conclusion(values), text])


def _conclusion(values: Row) -> str:
    """The gain of training on the chip, in a sentence."""
    means = {(row["rule"], row["learnt_on"]): row["on_chip"]["mean"] for row in values["rows"]}
    gains = {rule: means[rule, "chip"] - means[rule, "ideal"] for rule, _ in means}
    listed = ", ".join(f"{rule} {gain:+.2f}" for rule, gain in gains.items())
    free = max(("EP", "SPSA"), key=lambda rule: means[rule, "chip"])
    return (
        "**Training on the chip itself gains, in points of accuracy on this chip: "
        f"{listed}.** With a model of the chip, the adjoint reaches {means['DIRECT', 'chip']:.2f} "
        f"%. Without one, {free} is the better rule, with {means[free, 'chip']:.2f} %."
    )


RULE_TABLES: dict[str, Callable[[Row], str]] = {
    "rule-gradients": gradients,
    "rules-on-chips": on_chips,
}
