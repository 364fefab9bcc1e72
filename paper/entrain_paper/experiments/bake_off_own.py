"""The oscillator networks of this package in the bake-off, by several training rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from entrain import kernels
from entrain.evaluation import summarise
from entrain.physics import NetworkSpec, energy
from entrain.rules import Direct, EquilibriumPropagation
from entrain.training import Stage
from entrain_paper.experiments import direct, recurrence
from entrain_paper.experiments.published import published
from entrain_paper.experiments.setting import Setting
from entrain_paper.experiments.spec import ExperimentContext, Values

_AT_A_TIME = 1000  # images whose energy is measured together


@dataclass(frozen=True)
class Own:
    """One of our entries: its name, and the stage to train on a dataset."""

    name: str
    title: str
    stage: Callable[[Setting, str], Stage]
    method: str = ""  # the paper's name of it, where the paper measured it
    why: str = ""

    def cited(self, dataset: str) -> float | None:
        """The paper's test accuracy in percent."""
        for row in published()["multiseed"]["rows"]:
            if (row["dataset"], row["method"]) == (dataset, self.method):
                return float(row["top1_mean"])
        return None


def _two_stage(setting: Setting, name: str) -> Stage:
    return setting.go_on(setting.main_path(name))


def _plain(setting: Setting, name: str) -> Stage:
    return direct.stage(setting, name, augmented=False)


def _equilibrium(setting: Setting, name: str) -> Stage:
    dataset, rule = setting.dataset(name), EquilibriumPropagation()
    sized = replace(
        rule,
        epochs=min(rule.epochs, setting.direct_epochs),
        batch_size=min(rule.batch_size, setting.batch_size),
    )
    network = NetworkSpec(hidden=setting.hidden, dynamics=rule.dynamics)
    return Stage(sized, dataset, network, runs=tuple(range(setting.few_runs)))


def _frozen(setting: Setting, name: str) -> Stage:
    """Random couplings as strong as trained ones, and no biases: only input weights are trained."""
    found = recurrence.stage(setting, name, recurrence.TRAINING)
    assert isinstance(found.rule, Direct)
    return replace(found, rule=replace(found.rule, frozen=("couplings", "biases")))


OWN = (
    Own(
        "two-stage-end",
        "This paper, path and endpoint",
        _two_stage,
        "TWO-STAGE-END",
        "teachers and orders are our own; the seconds are those of teacher, path and continuation",
    ),
    Own("direct", "Oscillators, labels and the adjoint, distorted images", direct.stage),
    Own("direct-plain", "Oscillators, labels and the adjoint", _plain),
    Own(
        "ep",
        "Oscillators, equilibrium propagation",
        _equilibrium,
        why="as `rageau-74`, with the preprocessing, the start and the rates of our own rule EP",
    ),
    Own("frozen-couplings", "Oscillators, random couplings, trained input weights", _frozen),
)


def own_row(context: ExperimentContext, dataset: str, own: Own) -> Values:
    """One of our entries on a dataset, measured like any other system, on the first few runs."""
    stage = own.stage(context.setting, dataset)
    state, count = context.state(stage), min(context.setting.few_runs, stage.lanes)
    tops = [run["top1"] for run in context.test(dataset, stage)[:count]]
    each = summarise(tops)
    network = context.networks(stage)[0]
    frozen = stage.rule.frozen if isinstance(stage.rule, Direct) else ()
    learnt = {
        "input_weights": network.input_weights.numel(),
        "biases": network.biases.numel(),
        "couplings": network.couplers,
    }
    adaptive = {name: 0 if name in frozen else number for name, number in learnt.items()}
    return {
        "system": own.name,
        "title": own.title,
        "dataset": dataset,
        "cited": own.cited(dataset),
        "measured_mean": each.mean,
        "measured_sd": each.sd,
        "runs": tops,
        "validation": [state.selected("top1", lane) for lane in range(count)],
        "epochs": [int(epoch) for epoch in state.best_epoch[:count]],
        "parameters": sum(adaptive.values()),
        "variables": network.oscillators,
        "couplers": adaptive["couplings"],
        "seconds": _seconds(context, stage),
        "device": context.trained_on(stage),
        "energy": dissipated(context, dataset, stage),
        "why": own.why,
    }


def _seconds(context: ExperimentContext, stage: Stage) -> float | None:
    """The training time of a stage and of all it needs, each once; None where one is not known."""
    each = {needed.key: context.seconds(needed) for needed in _with_needs(stage)}
    known = [seconds for seconds in each.values() if seconds is not None]
    return sum(known) if len(known) == len(each) else None


def _with_needs(stage: Stage) -> list[Stage]:
    return [each for need in stage.needs for each in _with_needs(need)] + [stage]


@torch.no_grad()
def dissipated(context: ExperimentContext, dataset: str, stage: Stage) -> float:
    """E(0) - E(t_f), mean over the test images and the first few runs, in units of the model.

    Along the gradient flow all of it is dissipated: none is stored or returned.
    """
    parameters = stage.parameters(context.state(stage)).map(lambda t: t.to(context.device))
    inputs, _ = context.examples(dataset)
    dynamics, total = stage.network.dynamics, 0.0
    for some in torch.split(inputs, _AT_A_TIME):
        model = parameters.phase_model(some)
        phases = kernels.rollout(model, dynamics)
        fall = energy(model.starts(), model) - energy(phases, model)  # (R, B)
        total += float(fall[: context.setting.few_runs].double().mean()) * len(some)
    return total / len(inputs)
