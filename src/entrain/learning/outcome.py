"""What a training gives on the test images, evaluated once, after all selection."""

from __future__ import annotations

from typing import Any

import torch

from entrain.data import Dataset
from entrain.evaluation import evaluate, summarise
from entrain.learning.pipeline import Trained


def test_results(trained: Trained, data: Dataset) -> dict[str, Any]:
    """Metrics of the teacher and of every protocol: mean, sample SD and each run. JSON values."""
    labels = torch.from_numpy(data.test.labels)
    teacher = None
    if trained.teacher is not None:
        targets = trained.teacher.targets(data.preprocessing(data.test.features))
        teacher = evaluate(targets, labels)
    rows: dict[str, Any] = {}
    for name, models in trained.models.items():
        runs = [model.evaluate(data.test) | {"epoch": model.details["epoch"]} for model in models]
        summaries = {metric: summarise([run[metric] for run in runs]) for metric in runs[0]}
        rows[name] = {
            **{metric: summary.mean for metric, summary in summaries.items()},
            "sd": {metric: summary.sd for metric, summary in summaries.items()},
            "runs": runs,
        }
    return {
        "dataset": data.name,
        "split": "test",
        "examples": len(data.test),
        "seed": trained.recipe.seed,
        "teacher": teacher,
        "results": rows,
    }
