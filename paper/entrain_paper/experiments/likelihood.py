"""Likelihood of the teacher's paths under the networks' noisy dynamics."""

from __future__ import annotations

import torch

from entrain import kernels
from entrain.evaluation import summarise
from entrain.models.network import KuramotoNetwork
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, TestExamples, Values
from entrain_paper.experiments.metrics import negative_log_likelihood
from entrain_paper.experiments.setting import BOTH

_CHUNK = 250  # test images whose complete paths are in memory


def measure(context: ExperimentContext) -> Values:
    """L_path over the test images, and its NLL at every temperature above zero."""
    setting, rows = context.setting, list[Values]()
    warm = [kt for kt in setting.temperatures if kt > 0]
    for name in BOTH:
        for method, stage in shared_stages.main_students(setting, name).items():
            examples = context.test_examples(name, context.teacher(stage.teachers[0]))
            networks = context.networks(stage)[: setting.few_runs]
            losses = [_path_loss(network, examples) for network in networks]
            mean_losses = torch.tensor(losses, dtype=torch.float64)
            dynamics = stage.network.dynamics
            nll = {
                f"{kt:g}": negative_log_likelihood(mean_losses, dynamics, kt).tolist()
                for kt in warm
            }
            rows.append(
                {
                    "dataset": name,
                    "method": method,
                    "path_loss": losses,
                    "mean_path_loss": summarise(losses).mean,
                    "nll": nll,
                }
            )
            context.on_progress(len(rows) / (2 * len(BOTH)))
    return {"rows": rows}


def _path_loss(network: KuramotoNetwork, examples: TestExamples) -> float:
    """Mean path loss over all test images."""
    total = 0.0
    for rows in torch.split(torch.arange(len(examples.labels)), _CHUNK):
        model = network.phase_model(examples.inputs[rows]).map(lambda tensor: tensor.detach()[None])
        path = examples.coefficients[rows][None].to(model.fields)
        loss, _ = kernels.path_loss(model, path, network.dynamics)
        total += float(loss) * len(rows)
    return total / len(examples.labels)


EXPERIMENT = Experiment(
    "likelihood",
    "Likelihood of the teacher's paths under thermal noise",
    "",
    shared_stages.main_stages,
    measure,
)
