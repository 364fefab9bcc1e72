"""Gradients of rules that need no model, compared with the exact gradient at equilibrium: angle and
length, as a function of nudge strength, relaxation time, noise and Euler step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from entrain.evaluation import summarise
from entrain.hardware import Hardware, PhaseNoise
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import (
    Direct,
    EquilibriumPropagation,
    GradientRule,
    SimultaneousPerturbation,
    Tensors,
)
from entrain.rules.chip_training import ChipTraining
from entrain.rules.training_data import Examples
from entrain.training import Stage
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.equilibrium import MEASURED_EP, MEASURED_RULES
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import MNIST, Setting

RULES = ("EP", "COUPLED", "SPSA")
PARTS = ("input_weights", "couplings")
_GAIN = 4.0  # of the softmax of EP
_AT_REST = Dynamics(1.0, 480.0, 9600)  # some images take long to come to rest
STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
TIMES = (4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 240.0)
TEMPERATURES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
STEPS = (0.025, 0.05, 0.1, 0.25)
CURVES = {"strength": STRENGTHS, "time": TIMES, "noise": TEMPERATURES, "step": STEPS}
_USUAL = {"noise": 0.0, "step": 0.05}  # along the other curves
_USUAL_STRENGTH = {"EP": 0.001, "COUPLED": 0.001, "SPSA": 0.03}  # SPSA's must show in float32
_STRENGTH_IN_NOISE = {"EP": 0.3, "COUPLED": 0.1, "SPSA": 0.1}  # a nudge must show in the noise


@dataclass(frozen=True)
class Size:
    """Images in a batch, epochs of the network, directions of SPSA, the time along the other
    curves, the stride through the values of each curve, and batches, over which means and SDs
    are taken."""

    images: int = 64
    epochs: int = 5
    directions: int = 64
    time: float = 240.0
    every: int = 1
    batches: int = 5


_SMALL = {
    "quick": Size(64, 2, 8, time=15.0, every=2, batches=2),
    "tiny": Size(8, 1, 2, time=4.0, every=3, batches=2),
}


def size(setting: Setting) -> Size:
    """Size at a setting."""
    return _SMALL.get(setting.name, Size())


def stage(setting: Setting) -> Stage:
    """A network that equilibrium propagation trained for a short time."""
    rule = replace(MEASURED_EP, epochs=size(setting).epochs)
    if setting.dataset(MNIST).endswith("-small"):
        rule = replace(rule, batch_size=32)  # for more steps
    dynamics = Dynamics(1.0, 15.0, 60)
    return Stage(rule, setting.dataset(MNIST), NetworkSpec(setting.hidden, dynamics))


@dataclass(frozen=True)
class Point:
    """The strength of a nudge or of SPSA's steps, the time of the free relaxation and of each
    nudged one in Euler steps of `step`, and the temperature of the noise, which is averaged over
    the second half of a nudged relaxation."""

    strength: float
    time: float
    noise: float
    step: float

    @property
    def dynamics(self) -> Dynamics:
        """Dynamics of the free relaxation."""
        return Dynamics(1.0, self.time, round(self.time / self.step))

    def rule(self, name: str, directions: int) -> GradientRule:
        """The rule `name` at this point."""
        rule, chips = MEASURED_RULES[name], None
        if self.noise:
            hardware = Hardware(phase_noise=PhaseNoise(self.noise))
            chips = ChipTraining(hardware, chips=1, chip=0)
        if isinstance(rule, SimultaneousPerturbation):
            rule = replace(rule, field_size=self.strength, coupling_size=self.strength)
            return replace(rule, gain=_GAIN, directions=directions, chips=chips)
        assert isinstance(rule, EquilibriumPropagation)
        steps = self.dynamics.steps
        rule = replace(rule, beta=self.strength, nudged_steps=steps, gain=_GAIN, chips=chips)
        return replace(rule, averaged_steps=max(1, steps // 2) if self.noise else 1)


class Gradients:
    """Gradients of one batch of images, at one network."""

    def __init__(self, context: ExperimentContext, batch: int = 0) -> None:
        self._stage, self._size = stage(context.setting), size(context.setting)
        state, device = context.state(self._stage), context.device
        names = self._stage.network.names
        self._network = {name: state.best[name].to(device) for name in names}
        data = context.data(MNIST)
        rows = slice(batch * self._size.images, (batch + 1) * self._size.images)
        inputs = data.preprocessing(data.train.features[rows]).to(device)
        labels = torch.from_numpy(data.train.labels[rows]).to(device)
        self._examples, self._target = Examples(labels, inputs), data.task
        self.exact = self._of(Direct(gain=_GAIN), _AT_REST)

    def by(self, name: str, at: Point) -> Values:
        """Cosine of the angle to the exact gradient, and relative length, of each part."""
        rule = at.rule(name, self._size.directions)
        gradient = self._of(rule, at.dynamics)
        return {part: compare_gradients(gradient[part], self.exact[part]) for part in PARTS}

    def _of(self, rule: GradientRule, dynamics: Dynamics) -> Tensors:
        examples, network = self._examples, replace(self._stage.network, dynamics=dynamics)
        training = rule.training_class(rule, examples, examples, network, self._target, seed=0)
        rows = torch.arange(len(examples.targets), device=examples.targets.device)[None]
        tensors = {name: tensor.clone() for name, tensor in self._network.items()}
        return training.gradient(tensors, dynamics, rows)


def compare_gradients(gradient: Tensor, exact: Tensor) -> Values:
    """Cosine of the angle between two gradients, and the length of the first over the second."""
    a, b = gradient.double().flatten(), exact.double().flatten()
    return {
        "cosine": float(torch.cosine_similarity(a, b, dim=0)),
        "length": float(a.norm() / b.norm()),
    }


def _over_batches(parts: list[Values]) -> Values:
    """Mean and sample SD of each measure over batches."""
    summaries = {name: summarise([part[name] for part in parts]) for name in parts[0]}
    return {name: each.mean for name, each in summaries.items()} | {
        f"{name}_sd": each.sd for name, each in summaries.items()
    }


def thin(values: Sequence[float], every: int) -> list[float]:
    """Every `every`-th of the values, among them the last."""
    return list(values)[::-1][::every][::-1]


def measure(context: ExperimentContext) -> Values:
    """Each rule at each point of each curve."""
    sizes = size(context.setting)
    batches = [Gradients(context, batch) for batch in range(sizes.batches)]
    points = [
        (curve, value, rule)
        for curve, values in CURVES.items()
        for value in thin(values, sizes.every)
        for rule in RULES
    ]
    rows: list[Values] = []
    usual = _USUAL | {"time": sizes.time}
    for curve, value, rule in points:
        strength = (_STRENGTH_IN_NOISE if curve == "noise" else _USUAL_STRENGTH)[rule]
        at = Point(**{"strength": strength} | usual | {curve: value})
        compared = [gradients.by(rule, at) for gradients in batches]
        parts = {part: _over_batches([each[part] for each in compared]) for part in PARTS}
        rows.append({"rule": rule, "curve": curve, "value": value, **parts})
        context.on_progress(len(rows) / len(points))
    return {
        "dataset": MNIST,
        "images": sizes.images,
        "batches": sizes.batches,
        "directions": sizes.directions,
        "usual": usual | {"strength": _USUAL_STRENGTH, "strength in noise": _STRENGTH_IN_NOISE},
        "rows": rows,
    }


def compare(values: Values) -> Comparison:
    """The claim of the theory about EP."""
    by_point = {(row["rule"], row["curve"], row["value"]): row for row in values["rows"]}
    small = min(value for rule, curve, value in by_point if (rule, curve) == ("EP", "strength"))
    best = [by_point["EP", "strength", small][part]["cosine"] for part in PARTS]
    text = f"with a weak nudge (beta {small:g}), EP has the exact gradient (cosine 0.99 or more)"
    cosines = f"{best[0]:.4f} for input weights, {best[1]:.4f} for couplings"
    return Comparison((), (), (), (Claim(text, min(best) >= 0.99, cosines),))


EXPERIMENT = Experiment(
    "rule-gradients",
    "Gradients of model-free rules compared with the exact gradient",
    "",
    lambda setting: [stage(setting)],
    measure,
    compare,
)
