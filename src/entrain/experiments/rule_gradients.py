"""The gradients of rules that need no model, beside the exact one at equilibrium: how far they turn
away from it, and how long they are, along what decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from entrain.experiments.comparison import Claim, Comparison
from entrain.experiments.setting import MNIST, Setting
from entrain.experiments.spec import Experiment, ExperimentContext, Values
from entrain.hardware import Hardware, PhaseNoise
from entrain.learning import Stage
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import (
    PROTOCOLS,
    DirectProtocol,
    EquilibriumPropagation,
    SimultaneousPerturbation,
    Tensors,
)
from entrain.rules.chip_training import ChipTraining
from entrain.rules.direct_task import DirectTask
from entrain.rules.equilibrium_task import EquilibriumTask
from entrain.rules.spsa_task import PerturbationTask
from entrain.rules.training_data import Examples

RULES = ("EP", "COUPLED", "SPSA")
PARTS = ("input_weights", "couplings")
_TASKS = {"EP": EquilibriumTask, "COUPLED": EquilibriumTask, "SPSA": PerturbationTask}
_STEP = 0.025
_AT_REST = Dynamics(1.0, 120.0, 2400)  # long and fine: what is exact
_SETTLED = 60.0  # the time that the curves along other values take
STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
TIMES = (2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
TEMPERATURES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
CURVES = {"strength": STRENGTHS, "time": TIMES, "noise": TEMPERATURES}
_USUAL = {"EP": 0.03, "COUPLED": 0.03, "SPSA": 0.03}  # strengths along the other curves


@dataclass(frozen=True)
class Size:
    """Images in the batch, epochs of the network, directions of SPSA, entries of each curve."""

    images: int = 256
    epochs: int = 5
    directions: int = 256
    every: int = 1


_SMALL = {"quick": Size(64, 4, 16), "tiny": Size(8, 1, 2, every=3)}


def size(setting: Setting) -> Size:
    """That of a setting, by its name."""
    return _SMALL.get(setting.name, Size())


def stage(setting: Setting) -> Stage:
    """A network that came some way by equilibrium propagation."""
    rule = EquilibriumPropagation(epochs=size(setting).epochs)
    dynamics = Dynamics(1.0, 15.0, 60)
    return Stage(rule, setting.dataset(MNIST), NetworkSpec(setting.hidden, dynamics))


def rule_of(name: str, strength: float, time: float, directions: int) -> DirectProtocol:
    """A rule with a nudge, or steps of SPSA, of this strength; a quarter of the time is nudged."""
    found = PROTOCOLS[name]
    if isinstance(found, SimultaneousPerturbation):
        sizes = {"field_size": strength, "coupling_size": strength}
        return replace(found, gain=4.0, directions=directions, **sizes)
    assert isinstance(found, EquilibriumPropagation)
    return replace(found, beta=strength, nudged_steps=max(1, round(time / 4 / _STEP)))


class Gradients:
    """Gradients at one network, of one batch of images."""

    def __init__(self, context: ExperimentContext) -> None:
        self._stage, self._size = stage(context.setting), size(context.setting)
        state, device = context.state(self._stage), context.device
        names = self._stage.network.names
        self._network = {name: state.best[name].to(device) for name in names}
        data = context.data(MNIST)
        inputs = data.preprocessing(data.train.features[: self._size.images]).to(device)
        labels = torch.from_numpy(data.train.labels[: self._size.images]).to(device)
        self._examples, self._outputs = Examples(labels, inputs), len(data.class_names)
        self.exact = self._of(DirectProtocol(gain=4.0), DirectTask, _AT_REST)

    def by(self, name: str, strength: float, time: float, kt: float = 0.0) -> Values:
        """Angle (as its cosine) and length beside the exact gradient, for each part."""
        rule = rule_of(name, strength, time, self._size.directions)
        if kt:
            hardware = Hardware(phase_noise=PhaseNoise(kt))
            rule = replace(rule, chips=ChipTraining(hardware, chips=1, chip=0))
        found = self._of(rule, _TASKS[name], Dynamics(1.0, time, round(time / _STEP)))
        return {part: beside(found[part], self.exact[part]) for part in PARTS}

    def _of(self, rule: DirectProtocol, task: type[DirectTask], dynamics: Dynamics) -> Tensors:
        examples, network = self._examples, replace(self._stage.network, dynamics=dynamics)
        at_work = task(rule, examples, examples, network, self._outputs, seed=0)
        rows = torch.arange(len(examples.labels), device=examples.labels.device)[None]
        numbers = {name: tensor.clone() for name, tensor in self._network.items()}
        return at_work.gradient(numbers, dynamics, rows)


def beside(found: Tensor, exact: Tensor) -> Values:
    """The cosine of the angle between two gradients, and the first's length over the second's."""
    ours, theirs = found.double().flatten(), exact.double().flatten()
    return {
        "cosine": float(torch.cosine_similarity(ours, theirs, dim=0)),
        "length": float(ours.norm() / theirs.norm()),
    }


def some(values: Sequence[float], every: int) -> list[float]:
    """Every so many of the values, the last among them."""
    return list(values)[::-1][::every][::-1]


def measure(context: ExperimentContext) -> Values:
    """Each rule along each curve."""
    gradients, every = Gradients(context), size(context.setting).every
    points = [
        (curve, value, rule)
        for curve, values in CURVES.items()
        for value in some(values, every)
        for rule in RULES
    ]
    rows: list[Values] = []
    for curve, value, rule in points:
        given = {"strength": _USUAL[rule], "time": _SETTLED, "noise": 0.0} | {curve: value}
        found = gradients.by(rule, given["strength"], given["time"], given["noise"])
        rows.append({"rule": rule, "curve": curve, "value": value, **found})
        context.on_progress(len(rows) / len(points))
    sizes = size(context.setting)
    return {
        "dataset": MNIST,
        "images": sizes.images,
        "directions": sizes.directions,
        "strength": _USUAL,
        "time": _SETTLED,
        "rows": rows,
    }


def compare(values: Values) -> Comparison:
    """What the theory says of these gradients."""
    found = {(row["rule"], row["curve"], row["value"]): row for row in values["rows"]}
    small = min(value for rule, curve, value in found if (rule, curve) == ("EP", "strength"))
    best = [found["EP", "strength", small][part]["cosine"] for part in PARTS]
    text = f"with a weak nudge (beta {small:g}) EP's gradient is the exact one, cosine 0.99 or more"
    shown = f"{best[0]:.4f} for input weights, {best[1]:.4f} for couplings"
    return Comparison((), (), (), (Claim(text, min(best) >= 0.99, shown),))


EXPERIMENT = Experiment(
    "rule-gradients",
    "Gradients of rules that need no model, beside the exact one",
    "",
    lambda setting: [stage(setting)],
    measure,
    compare,
)
