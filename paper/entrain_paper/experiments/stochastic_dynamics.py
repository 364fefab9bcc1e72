"""Figure 14: noisy output trajectories of four Fashion-MNIST examples, selected by rule.

(A) Both methods are right in every trajectory. (B) Both ensembles are right, but some trajectories
of both are wrong. (C) The PATH ensemble is wrong, the TWO-STAGE-END ensemble right. (D)
TWO-STAGE-END is right without noise, but its ensemble is wrong. The example of a case is the one
whose TWO-STAGE-END ensemble margin (true class minus strongest other) is nearest to the median of
the case.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from entrain.evaluation import noisy_scores, scores_of
from entrain.models.network import KuramotoNetwork
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, rounded
from entrain_paper.experiments.output_dynamics import images
from entrain_paper.experiments.setting import FASHION
from entrain_paper.experiments.temperature import NOISE_SEED

TEMPERATURE = 1.0


def measure(context: ExperimentContext) -> Values:
    """The four cases, with the mean trajectories of all classes and the single ones of two."""
    students = shared_stages.main_students(context.setting, FASHION)
    networks = {method: context.networks(stage)[0] for method, stage in students.items()}
    data = context.data(FASHION)
    inputs, labels = context.examples(FASHION)
    scores = {
        method: noisy_scores(
            network,
            inputs,
            temperature=TEMPERATURE,
            replicates=context.setting.replicates,
            seed=NOISE_SEED,
        )
        for method, network in networks.items()
    }
    still = scores_of(networks["TWO-STAGE-END"], inputs).argmax(-1) == labels
    cases = []
    for case, among in _cases(scores, labels, still).items():
        index = _median(scores["TWO-STAGE-END"], labels, among)
        if index is None:
            continue
        trajectories = {
            method: _trajectories(network, inputs, labels, index, context.setting.replicates)
            for method, network in networks.items()
        }
        cases.append(
            {
                "case": case,
                "candidates": int(among.sum()),
                "index": index,
                "label": int(labels[index]),
                "image": images(data.test.features[index : index + 1], data.image_shape)[0],
                **trajectories,
            }
        )
    return {
        "dataset": FASHION,
        "temperature": TEMPERATURE,
        "noise_seed": NOISE_SEED,
        "replicates": context.setting.replicates,
        "class_names": list(data.class_names),
        "cases": cases,
    }


def _cases(scores: dict[str, Tensor], labels: Tensor, still: Tensor) -> dict[str, Tensor]:
    """Case -> mask (M,) of its examples. `scores` (replicates, M, O) by method."""
    path, end = (scores[method].argmax(-1) == labels for method in shared_stages.METHODS)
    path_mean, end_mean = (scores[m].mean(0).argmax(-1) == labels for m in shared_stages.METHODS)
    return {
        "A": path.all(0) & end.all(0),
        "B": path_mean & end_mean & ~path.all(0) & ~end.all(0),
        "C": ~path_mean & end_mean,
        "D": still & ~end_mean,
    }


def _median(scores: Tensor, labels: Tensor, among: Tensor) -> int | None:
    """The example of `among` whose ensemble margin is nearest to the median there."""
    members = among.nonzero()[:, 0]
    if not len(members):
        return None
    mean = scores.mean(0)[members]
    true = mean.gather(1, labels[members, None])[:, 0]
    strongest_other = mean.scatter(1, labels[members, None], -torch.inf).amax(1)
    margins = true - strongest_other
    distance = (margins - margins.median()).abs()
    return int(members[distance.argmin()])


@torch.no_grad()
def _trajectories(
    network: KuramotoNetwork, inputs: Tensor, labels: Tensor, index: int, replicates: int
) -> Values:
    """Every second grid time of the example `index` under its own noise."""
    run = network.simulate(
        inputs[index : index + 1],
        record=2,
        temperature=TEMPERATURE,
        seed=NOISE_SEED,
        restarts=replicates,
        first_sample=index,
    )
    outputs = network.readout(run.phases[:, :, 0]).permute(1, 2, 0)  # (replicates, O, times)
    mean = outputs.mean(0)
    label = int(labels[index])
    competitor = int(mean[:, -1].scatter(0, labels[index, None], -torch.inf).argmax())
    return {
        "time": rounded(np.linspace(0.0, 1.0, mean.shape[1])),
        "mean": rounded(mean),
        "predicted": int(mean[:, -1].argmax()),
        "competitor": competitor,
        "correct_trajectories": int((outputs[:, :, -1].argmax(1) == label).sum()),
        "true_class": rounded(outputs[:, label]),
        "competing_class": rounded(outputs[:, competitor]),
    }


EXPERIMENT = Experiment(
    "stochastic-dynamics",
    "Representative Stochastic Output Dynamics",
    "fig:appendix_G3_stochastic_output_dynamics",
    lambda setting: list(shared_stages.main_students(setting, FASHION).values()),
    measure,
)
