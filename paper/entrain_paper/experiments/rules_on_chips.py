"""Which rule for which chip: networks trained on one imperfect chip, and networks trained on the
ideal network that run on it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from entrain.evaluation import summarise
from entrain.hardware import Hardware, Levels, Mismatch, PhaseNoise
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import PROTOCOLS, Direct, EquilibriumPropagation
from entrain.rules.chip_training import ChipTraining
from entrain.rules.direct import tuned
from entrain.training import Stage
from entrain_paper.experiments import chip_evaluation
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import MNIST, Setting

HARDWARE = Hardware(
    coupling_levels=Levels(bits=4),
    weight_levels=Levels(bits=4, part="input_weights"),
    mismatch=Mismatch(couplings=0.3, input_weights=0.3),
    phase_noise=PhaseNoise(0.01),
    name="30 % mismatch, 4 bits, noise",
)
CHIP = 0  # the seed of the one chip
RULES = {"EP": 10, "SPSA": 30, "DIRECT": 30}  # and their epochs, at most
PLACES = ("chip", "ideal")  # what they learn on
# A stronger nudge, and its effect averaged over many steps: chosen on validation images of digits.
IN_NOISE: dict[str, Any] = {"beta": 1.0, "nudged_steps": 40, "averaged_steps": 30}
_OTHERS = 20  # chips of the same kind
_RUNS = 3


def stage(setting: Setting, rule: str, place: str) -> Stage:
    """Networks that a rule trains on the chip or on the ideal network, one per run."""
    dataset = setting.dataset(MNIST)
    found = PROTOCOLS[rule]
    assert isinstance(found, Direct)
    epochs = min(RULES[rule], setting.direct_epochs)
    if rule == "DIRECT":  # without distortions, as the other rules
        found = replace(tuned(found, dataset, augmented=False), weight_decay=0.0)
    if isinstance(found, EquilibriumPropagation) and place == "chip":
        found = replace(found, **IN_NOISE)
    chips = ChipTraining(HARDWARE, chip=CHIP) if place == "chip" else None
    return Stage(
        replace(
            found, epochs=epochs, batch_size=min(found.batch_size, setting.batch_size), chips=chips
        ),
        dataset,
        NetworkSpec(setting.hidden, found.dynamics or Dynamics()),
        runs=tuple(range(min(_RUNS, setting.few_runs))),
    )


def stages(setting: Setting) -> list[Stage]:
    """Every rule, on the chip and on the ideal network."""
    return [stage(setting, rule, place) for rule in RULES for place in PLACES]


def measure(context: ExperimentContext) -> Values:
    """Test accuracy on the chip, on other chips of its kind, and on the ideal network."""
    jobs = [
        ({"rule": rule, "learnt_on": place}, partial(row, context, rule, place))
        for rule in RULES
        for place in PLACES
    ]
    rows = chip_evaluation.measured(context, jobs)
    return {
        "dataset": MNIST,
        "hardware": HARDWARE.to_json(),
        "chips": _others(context.setting),
        "rows": rows,
    }


def row(context: ExperimentContext, rule: str, place: str) -> Values:
    """What networks score that a rule trained there."""
    of = stage(context.setting, rule, place)
    chips = 1 + _others(context.setting)
    found = chip_evaluation.accuracies(context, MNIST, of, HARDWARE, chips)
    ideal = [run["top1"] for run in context.test(MNIST, of)]
    return {
        "epochs": of.epochs,
        "time": of.network.dynamics.observation_time,
        "on_chip": _summary(found[:, CHIP].tolist()),
        "on_others": _summary(found[:, CHIP + 1 :].mean(1).tolist()),
        "on_ideal": _summary(ideal),
        "seconds": context.seconds(of),
    }


def _others(setting: Setting) -> int:
    return min(_OTHERS, chip_evaluation.sizes(setting).chips)


def _summary(values: list[float]) -> Values:
    each = summarise(values)
    return {"mean": each.mean, "sd": each.sd, "runs": values}


def compare(values: Values) -> Comparison:
    """The claims: training on a chip adapts the network to its defects."""
    rows = {(row["rule"], row["learnt_on"]): row for row in values["rows"]}
    claims = []
    for rule in RULES:
        here, put = (rows[rule, place]["on_chip"]["mean"] for place in PLACES)
        text = f"{rule}: on the chip, training on it beats training on the ideal network"
        claims.append(Claim(text, here > put, f"{here:.2f} against {put:.2f} %"))
    here, other = (rows["EP", "chip"][where]["mean"] for where in ("on_chip", "on_others"))
    text = "EP: a network trained on one chip is less accurate on others of its kind"
    claims.append(Claim(text, here > other, f"{here:.2f} against {other:.2f} %"))
    without, ideal = (rows[key]["on_chip"] for key in (("EP", "chip"), ("DIRECT", "ideal")))
    text = (
        "EP, trained on the chip without a model, is there no less accurate than DIRECT of the "
        "ideal network"
    )
    shown = " against ".join(
        f"{each['mean']:.2f}" + (f" ± {each['sd']:.2f}" if each["sd"] is not None else "")
        for each in (without, ideal)
    )
    claims.append(Claim(text, without["mean"] >= ideal["mean"], f"{shown} %"))
    return Comparison((), (), (), tuple(claims))


EXPERIMENT = Experiment(
    "rules-on-chips",
    "Which rule for which chip: learning on an imperfect chip, and without it",
    "",
    stages,
    measure,
    compare,
)
