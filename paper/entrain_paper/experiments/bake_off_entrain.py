"""The oscillator networks of Entrain in the bake-off, trained by several rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from entrain import kernels
from entrain.evaluation import summarise
from entrain.physics import NetworkSpec, energy
from entrain.rules import Direct, GradientRule
from entrain.training import Stage
from entrain_paper.experiments import recurrence
from entrain_paper.experiments.equilibrium import MEASURED_DYNAMICS, MEASURED_EP
from entrain_paper.experiments.experiment import ExperimentContext, Values, with_prerequisites
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import Setting
from entrain_paper.experiments.shared_stages import direct_stage, main_students

_CHUNK = 1000  # images whose energy is computed together


@dataclass(frozen=True)
class EntrainSystem:
    """Networks of Entrain in the bake-off: a name, and the stage to train on a dataset."""

    name: str
    title: str
    stage: Callable[[Setting, str], Stage]
    method: str = ""  # its name in the paper; "" if the paper does not have it
    why: str = ""

    def cited(self, dataset: str) -> float | None:
        """The paper's test accuracy in percent; None if the paper does not have it."""
        for row in paper_numbers()["multiseed"]["rows"]:
            if (row["dataset"], row["method"]) == (dataset, self.method):
                return float(row["top1_mean"])
        return None


def _two_stage(setting: Setting, name: str) -> Stage:
    return main_students(setting, name)["TWO-STAGE-END"]


def _plain(setting: Setting, name: str) -> Stage:
    return direct_stage(setting, name, augmented=False)


def _equilibrium(setting: Setting, name: str) -> Stage:
    rule = MEASURED_EP
    sized = replace(
        rule,
        epochs=min(rule.epochs, setting.direct_epochs),
        batch_size=min(rule.batch_size, setting.batch_size),
    )
    network = NetworkSpec(hidden=setting.hidden, dynamics=MEASURED_DYNAMICS)
    return Stage(sized, setting.dataset(name), network, runs=tuple(range(setting.few_runs)))


def _frozen(setting: Setting, name: str) -> Stage:
    """Random couplings as strong as trained ones, and no biases: only input weights are trained."""
    stage = recurrence.stage(setting, name, recurrence.TRAINING)
    assert isinstance(stage.rule, Direct)
    return replace(stage, rule=replace(stage.rule, frozen=("couplings", "biases")))


ENTRAIN_SYSTEMS = (
    EntrainSystem(
        "two-stage-end",
        "This paper, path and endpoint",
        _two_stage,
        "TWO-STAGE-END",
        "Teachers and training orders are not those of the paper; the seconds include teacher, "
        "path and continuation.",
    ),
    EntrainSystem("direct", "Oscillators, labels and the adjoint, distorted images", direct_stage),
    EntrainSystem("direct-plain", "Oscillators, labels and the adjoint", _plain),
    EntrainSystem(
        "ep",
        "Oscillators, equilibrium propagation",
        _equilibrium,
        why="As `rageau-74`, with the preprocessing, the start and the rates of the rule EP.",
    ),
    EntrainSystem(
        "frozen-couplings", "Oscillators, random couplings, trained input weights", _frozen
    ),
)


def entrain_row(context: ExperimentContext, dataset: str, system: EntrainSystem) -> Values:
    """The row of networks of Entrain on a dataset, measured as any other system on the first few
    runs."""
    stage = system.stage(context.setting, dataset)
    state, count = context.state(stage), min(context.setting.few_runs, stage.parallel_runs)
    top1 = [run["top1"] for run in context.test(dataset, stage)[:count]]
    summary = summarise(top1)
    network = context.networks(stage)[0]
    frozen = stage.rule.frozen if isinstance(stage.rule, GradientRule) else ()
    parameters = {
        "input_weights": network.input_weights.numel(),
        "biases": network.biases.numel(),
        "couplings": network.couplers,
    }
    trained = {name: 0 if name in frozen else number for name, number in parameters.items()}
    return {
        "system": system.name,
        "title": system.title,
        "dataset": dataset,
        "cited": system.cited(dataset),
        "measured_mean": summary.mean,
        "measured_sd": summary.sd,
        "runs": top1,
        "validation": [state.selected("top1", run) for run in range(count)],
        "epochs": [int(epoch) for epoch in state.best_epoch[:count]],
        "parameters": sum(trained.values()),
        "variables": network.oscillators,
        "couplers": trained["couplings"],
        "seconds": _seconds(context, stage),
        "device": context.trained_on(stage),
        "energy": dissipated_energy(context, dataset, stage),
        "why": system.why,
    }


def _seconds(context: ExperimentContext, stage: Stage) -> float | None:
    """Training time of a stage and of all it needs, each once; None if one is unknown."""
    seconds = [context.seconds(needed) for needed in with_prerequisites((stage,))]
    known = [value for value in seconds if value is not None]
    return sum(known) if len(known) == len(seconds) else None


@torch.no_grad()
def dissipated_energy(context: ExperimentContext, dataset: str, stage: Stage) -> float:
    """E(0) - E(t_f), mean over the test images and the first few runs, in units of the model.

    Along the gradient flow all of it is dissipated: none is stored or returned.
    """
    parameters = stage.parameters(context.state(stage)).map(lambda t: t.to(context.device))
    inputs, _ = context.examples(dataset)
    dynamics, total = stage.network.dynamics, 0.0
    for chunk in torch.split(inputs, _CHUNK):
        model = parameters.phase_model(chunk)
        phases = kernels.rollout(model, dynamics)
        fall = energy(model.starts(), model) - energy(phases, model)  # (R, B)
        total += float(fall[: context.setting.few_runs].double().mean()) * len(chunk)
    return total / len(inputs)
