"""Figures 8 to 11: output activations in time, for examples selected by the paper's class-balanced
rules."""

from __future__ import annotations

import numpy as np
import torch

from entrain.evaluation import representative, scores_of
from entrain.models.network import KuramotoNetwork
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, rounded
from entrain_paper.experiments.metrics import near_misses
from entrain_paper.experiments.setting import BOTH

CORRECT = 25


def measure(context: ExperimentContext) -> Values:
    """Outputs of 25 correct examples nearest to the median margin of their class, and of one near
    miss per class."""
    rows = []
    for name in BOTH:
        _, end = shared_stages.branch_pair(context.setting, name)
        network = context.networks(end)[0]
        data = context.data(name)
        inputs, _ = context.examples(name)
        scores = scores_of(network, inputs).cpu().numpy()
        for kind, chosen in (
            ("correct", representative(scores, data.test.labels, CORRECT)),
            ("misclassified", near_misses(scores, data.test.labels)),
        ):
            rows.append(
                {
                    "dataset": name,
                    "kind": kind,
                    "indices": chosen.tolist(),
                    "labels": data.test.labels[chosen].tolist(),
                    "predicted": scores[chosen].argmax(1).tolist(),
                    "class_names": list(data.class_names),
                    "images": images(data.test.features[chosen], data.image_shape),
                    **traces(network, inputs[torch.from_numpy(chosen)]),
                }
            )
    return {"rows": rows}


def images(pixels: np.ndarray, shape: tuple[int, int]) -> list[list[list[int]]]:
    """Pixels (n, D) as n images of integers."""
    return [[[int(p) for p in row] for row in image.reshape(shape)] for image in pixels]


@torch.no_grad()
def traces(network: KuramotoNetwork, inputs: torch.Tensor) -> Values:
    """Every second grid time, and the outputs cos(theta) there: (n, O, times)."""
    if not len(inputs):
        return {"time": [], "outputs": []}
    outputs = network.readout(network.simulate(inputs, record=1).phases[::2])
    time = np.linspace(0.0, 1.0, len(outputs))
    return {"time": rounded(time), "outputs": rounded(outputs.permute(1, 2, 0))}


EXPERIMENT = Experiment(
    "output-dynamics",
    "Representative Autonomous Output Dynamics",
    "app:representative_output_dynamics",
    shared_stages.branch_pairs,
    measure,
)
