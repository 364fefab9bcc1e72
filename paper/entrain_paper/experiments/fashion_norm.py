"""Fashion-MNIST test images divided by the norm of the training images. The paper divides them by
their own largest norm, which needs all of them at once."""

from __future__ import annotations

import torch

from entrain.evaluation import evaluate, scores_of
from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.setting import FASHION, Setting

METRICS = ("test_norm", "training_norm", "change")


def stages(setting: Setting) -> list[Stage]:
    """PATH and TWO-STAGE-END on Fashion-MNIST."""
    return list(shared_stages.main_students(setting, FASHION).values())


def measure(context: ExperimentContext) -> Values:
    """Test accuracy of every run under both norms."""
    data, rows = context.data(FASHION), list[Values]()
    labels = torch.from_numpy(data.test.labels).to(context.device)
    for method, stage in shared_stages.main_students(context.setting, FASHION).items():
        networks = context.networks(stage)
        runs: list[Values] = [{"run": run} for run in stage.runs]
        for norm, unseen in (("test_norm", True), ("training_norm", False)):
            inputs = data.preprocessing(data.test.features, unseen=unseen).to(context.device)
            for run, network in zip(runs, networks, strict=True):
                run[norm] = evaluate(scores_of(network, inputs), labels)["top1"]
        for run in runs:
            run["change"] = run["training_norm"] - run["test_norm"]
        rows.append({"dataset": FASHION, "method": method, **summary(runs, METRICS)})
        context.on_progress(len(rows) / 2)
    norms = {"training_norm": data.preprocessing.norm, "test_norm": data.preprocessing.test_norm}
    return {"norms": norms, "rows": rows}


EXPERIMENT = Experiment(
    "test-norm", "Fashion-MNIST test images scaled by the training norm", "", stages, measure
)
