"""Accuracy against the reading time, with early stops by margin, and at other observation times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from entrain.evaluation import margin, summarise
from entrain.evaluation.measure import chunks
from entrain.models.network import KuramotoNetwork
from entrain.rules import Direct
from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, rounded
from entrain_paper.experiments.setting import BOTH, Setting

MARGINS = tuple(round(0.1 * step, 1) for step in range(1, 20))
TIMES = (0.25, 0.5, 1.0, 2.0)  # of the main observation time


def observed_at(setting: Setting, name: str, factor: float) -> Stage:
    """Networks trained for a quarter of the epochs at another observation time."""
    stage = shared_stages.direct_stage(setting, name)
    epochs = max(2, setting.direct_epochs // 4)
    assert isinstance(stage.rule, Direct)
    shorter = replace(stage.rule, epochs=epochs, fine_epochs=1, unaugmented_epochs=1)
    dynamics = stage.network.dynamics
    dynamics = replace(dynamics, observation_time=factor * dynamics.observation_time)
    return replace(stage, rule=shorter, network=replace(stage.network, dynamics=dynamics))


def networks(setting: Setting, name: str) -> dict[str, Stage]:
    """The networks whose reading time is varied, by method."""
    return {
        **shared_stages.main_students(setting, name),
        "DIRECT": shared_stages.direct_stage(setting, name),
    }


def stages(setting: Setting) -> list[Stage]:
    """The main networks, and networks for other observation times."""
    return [
        stage
        for name in BOTH
        for stage in (
            *networks(setting, name).values(),
            *(observed_at(setting, name, factor) for factor in TIMES),
        )
    ]


def measure(context: ExperimentContext) -> Values:
    """Top-1 at every second grid time, of early stops, and by observation time in training."""
    rows, trained = [], []
    for name in BOTH:
        inputs, labels = context.examples(name)
        for method, stage in networks(context.setting, name).items():
            runs = [
                _anytime(network, inputs, labels)
                for network in context.networks(stage)[: context.setting.few_runs]
            ]
            curves = np.array([run["top1"] for run in runs])
            exits = np.array([run["exits"] for run in runs])  # (runs, margins, 2)
            rows.append(
                {
                    "dataset": name,
                    "method": method,
                    "time": rounded(np.linspace(0.0, 1.0, curves.shape[1])),
                    "top1": rounded(curves.mean(0), 3),
                    "runs": [rounded(curve, 3) for curve in curves],
                    "margins": list(MARGINS),
                    "exit_top1": rounded(exits[..., 0].mean(0), 3),
                    "exit_time": rounded(exits[..., 1].mean(0)),
                }
            )
        for factor in TIMES:
            stage = observed_at(context.setting, name, factor)
            tops = [run["top1"] for run in context.test(name, stage)]
            over_runs = summarise(tops)
            trained.append(
                {
                    "dataset": name,
                    "observation_time": stage.network.dynamics.observation_time,
                    "mean": over_runs.mean,
                    "sd": over_runs.sd,
                    "runs": tops,
                }
            )
        context.on_progress(len(rows) / 6)
    return {"rows": rows, "trained": trained}


def first_exit(margins: Tensor, threshold: float) -> Tensor:
    """Index (n,) of the first of the margins (times, n) above `threshold`, or of the last one."""
    exceeds = margins > threshold
    return torch.where(exceeds.any(0), exceeds.double().argmax(0), len(margins) - 1)


@torch.no_grad()
def _anytime(network: KuramotoNetwork, inputs: Tensor, labels: Tensor) -> Values:
    """Top-1 at every second time, and (top-1, mean time) of stopping at each margin."""
    correct_counts, exits = [], []
    for rows, chunk in chunks(inputs, 256):
        outputs = network.readout(network.simulate(chunk, record=1).phases[::2])
        correct = outputs.argmax(-1) == labels[rows]  # (times, n)
        correct_counts.append(correct.double().mean(1) * len(chunk))
        margins, last = margin(outputs), len(outputs) - 1
        at_margins = []
        for threshold in MARGINS:
            first = first_exit(margins, threshold)
            correct_at_exit = correct.gather(0, first[None])[0]
            at_margins.append(
                [float(correct_at_exit.double().sum()), float(first.double().sum() / last)]
            )
        exits.append(at_margins)
    count = len(labels)
    top1 = 100.0 * torch.stack(correct_counts).sum(0) / count
    totals = np.array(exits).sum(0) / count
    totals[:, 0] *= 100.0
    return {"top1": top1.cpu().numpy(), "exits": totals}


EXPERIMENT = Experiment("anytime", "Accuracy against readout time", "", stages, measure)
