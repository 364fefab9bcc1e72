"""Contributions of recurrence, trained couplings and time: the same training with each removed."""

from __future__ import annotations

from dataclasses import replace

import torch

from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Direct
from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.setting import BOTH, Setting

# All phases start at pi/2, so that couplings act on an output from the second step on.
HIDDEN = "couplings between hidden oscillators"
TRAINING = "training of the couplings"
TWO_STEPS = "time: two Euler steps"
STEPS = {"time: four Euler steps": 4, TWO_STEPS: 2, "time: one Euler step": 1}
WITHOUT = ("nothing", HIDDEN, TRAINING, *STEPS)


def stage(setting: Setting, name: str, without: str, outputs: int = 10) -> Stage:
    """DIRECT with its usual settings and a part removed."""
    full = shared_stages.direct_stage(setting, name)
    assert isinstance(full.rule, Direct)
    network, rule = full.network, full.rule
    if without == HIDDEN:
        graph = torch.zeros(network.hidden + outputs, network.hidden + outputs, dtype=torch.bool)
        graph[: network.hidden, network.hidden :] = True
        network = NetworkSpec.from_graph(graph | graph.T, hidden=network.hidden)
    if without == TRAINING:
        # As strong as trained couplings: with the small initial ones there is no network.
        rule = replace(rule, frozen=("couplings",), initial_couplings=1.0)
    if without in STEPS:
        network = replace(network, dynamics=Dynamics(steps=STEPS[without]))
    return replace(full, network=network, rule=rule)


def stages(setting: Setting) -> list[Stage]:
    """Every variant on both datasets."""
    return [stage(setting, name, without) for name in BOTH for without in WITHOUT]


def measure(context: ExperimentContext) -> Values:
    """Validation and test accuracy of each variant."""
    rows: list[Values] = []
    for name in BOTH:
        for without in WITHOUT:
            trained = stage(context.setting, name, without)
            state = context.state(trained)
            rows.append(
                {
                    "dataset": name,
                    "without": without,
                    "validation": [
                        state.selected("top1", run) for run in range(trained.parallel_runs)
                    ],
                    **summary(context.test(name, trained), ("top1", "top2")),
                }
            )
            context.on_progress(len(rows) / (len(BOTH) * len(WITHOUT)))
    return {"rows": rows}


EXPERIMENT = Experiment(
    "recurrence",
    "Accuracy without recurrence, trained couplings or time steps",
    "",
    stages,
    measure,
)
