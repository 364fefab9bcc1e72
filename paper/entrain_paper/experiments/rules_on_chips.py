"""Networks trained on one imperfect chip by several rules, and networks trained without
imperfections that run on that chip."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from entrain.evaluation import summarise
from entrain.hardware import Hardware, Levels, Mismatch, PhaseNoise
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Direct, EquilibriumPropagation, GradientRule
from entrain.rules.chip_training import ChipTraining
from entrain.rules.direct import tuned
from entrain.training import Stage
from entrain_paper.experiments import chip_evaluation
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.equilibrium import MEASURED_DYNAMICS, MEASURED_RULES
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import MNIST, Setting

HARDWARE = Hardware(
    coupling_levels=Levels(bits=4),
    weight_levels=Levels(bits=4, part="input_weights"),
    mismatch=Mismatch(couplings=0.3, input_weights=0.3),
    phase_noise=PhaseNoise(0.01),
    name="30 % mismatch, 4 bits, noise",
)
CHIP = 0  # seed of the chip
RULES = {"EP": 10, "SPSA": 30, "DIRECT": 30}  # and their epochs, at most
TRAINED_ON = ("chip", "ideal")
# A stronger nudge, averaged over many steps; selected on validation images of digits.
IN_NOISE: dict[str, Any] = {"beta": 1.0, "nudged_steps": 40, "averaged_steps": 30}
_OTHER_CHIPS = 20  # of the same hardware
_RUNS = 3


def stage(setting: Setting, rule: str, trained_on: str) -> Stage:
    """Networks that a rule trains on the chip or on the ideal network, one per run."""
    dataset = setting.dataset(MNIST)
    named = MEASURED_RULES[rule]
    is_equilibrium = isinstance(named, EquilibriumPropagation)
    assert isinstance(named, GradientRule)
    epochs = min(RULES[rule], setting.direct_epochs)
    if isinstance(named, Direct):  # without augmentation, as the other rules
        named = replace(tuned(named, dataset, augmented=False), weight_decay=0.0)
    if is_equilibrium and trained_on == "chip":
        named = replace(named, **IN_NOISE)
    chips = ChipTraining(HARDWARE, chip=CHIP) if trained_on == "chip" else None
    return Stage(
        replace(
            named, epochs=epochs, batch_size=min(named.batch_size, setting.batch_size), chips=chips
        ),
        dataset,
        NetworkSpec(setting.hidden, MEASURED_DYNAMICS if is_equilibrium else Dynamics()),
        runs=tuple(range(min(_RUNS, setting.few_runs))),
    )


def measure(context: ExperimentContext) -> Values:
    """Test accuracy on the chip, on other chips of the same hardware, and on the ideal network."""
    jobs = [
        ({"rule": rule, "learnt_on": trained_on}, partial(row, context, rule, trained_on))
        for rule in RULES
        for trained_on in TRAINED_ON
    ]
    rows = chip_evaluation.measure_rows(context, jobs)
    return {
        "dataset": MNIST,
        "hardware": HARDWARE.to_json(),
        "chips": _other_chips(context.setting),
        "rows": rows,
    }


def row(context: ExperimentContext, rule: str, trained_on: str) -> Values:
    """Test accuracies of the networks that `rule` trained in `trained_on`."""
    trained = stage(context.setting, rule, trained_on)
    chips = 1 + _other_chips(context.setting)
    scores = chip_evaluation.accuracies(context, MNIST, trained, HARDWARE, chips)
    ideal = [run["top1"] for run in context.test(MNIST, trained)]
    return {
        "epochs": trained.epochs,
        "time": trained.network.dynamics.observation_time,
        "on_chip": _summary(scores[:, CHIP].tolist()),
        "on_others": _summary(scores[:, CHIP + 1 :].mean(1).tolist()),
        "on_ideal": _summary(ideal),
        "seconds": context.seconds(trained),
    }


def _other_chips(setting: Setting) -> int:
    return min(_OTHER_CHIPS, chip_evaluation.sizes(setting).chips)


def _summary(values: list[float]) -> Values:
    over_runs = summarise(values)
    return {"mean": over_runs.mean, "sd": over_runs.sd, "runs": values}


def compare(values: Values) -> Comparison:
    """Claims: training on a chip adapts the network to its defects."""
    rows = {(row["rule"], row["learnt_on"]): row for row in values["rows"]}
    claims = []
    for rule in RULES:
        on_it, on_ideal = (rows[rule, trained_on]["on_chip"]["mean"] for trained_on in TRAINED_ON)
        text = f"{rule}: on the chip, training on it beats training on the ideal network"
        claims.append(Claim(text, on_it > on_ideal, f"{on_it:.2f} against {on_ideal:.2f} %"))
    same, other = (rows["EP", "chip"][where]["mean"] for where in ("on_chip", "on_others"))
    text = "EP: a network trained on one chip is less accurate on others of its kind"
    claims.append(Claim(text, same > other, f"{same:.2f} against {other:.2f} %"))
    without, ideal = (rows[key]["on_chip"] for key in (("EP", "chip"), ("DIRECT", "ideal")))
    text = (
        "EP, trained on the chip without a model, is there no less accurate than DIRECT of the "
        "ideal network"
    )
    scores = " against ".join(
        f"{score['mean']:.2f}" + (f" ± {score['sd']:.2f}" if score["sd"] is not None else "")
        for score in (without, ideal)
    )
    claims.append(Claim(text, without["mean"] >= ideal["mean"], f"{scores} %"))
    return Comparison((), (), (), tuple(claims))


EXPERIMENT = Experiment(
    "rules-on-chips",
    "Training rules on an imperfect chip",
    "",
    lambda setting: [
        stage(setting, rule, trained_on) for rule in RULES for trained_on in TRAINED_ON
    ],
    measure,
    compare,
)
