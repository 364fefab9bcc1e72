"""Results of a training on the test examples, evaluated once, after all selection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from entrain.data import Split
from entrain.evaluation import evaluate, summarise
from entrain.evaluation.chip_yield import yield_of
from entrain.hardware import Hardware
from entrain.models.model import Model

if TYPE_CHECKING:
    from entrain.training.pipeline import Trained

CHIPS = 20  # seeds 0 to 19, which training and selection do not use


def test_results(trained: Trained) -> dict[str, Any]:
    """Metrics of the teacher and of every protocol: mean, sample SD and each run. JSON values.

    They are the ideal network's. Protocols trained for chips, and the start of a training for one
    calibrated chip, also have results `on_chips`. `collapsed` are the runs of each protocol that
    collapsed, if any did.
    """
    data = trained.data
    teacher = None
    if trained.teacher is not None:
        labels = torch.from_numpy(data.test.labels)
        targets = trained.teacher.targets(data.preprocessing(data.test.features))
        teacher = evaluate(targets, labels)
    trained_for = [models[0].hardware for models in trained.models.values()]
    calibrated = next((chip for chip in trained_for if chip and chip.is_one_chip), None)
    rows: dict[str, Any] = {}
    for name, models in trained.models.items():
        runs = [model.evaluate(data.test) | {"epoch": model.details["epoch"]} for model in models]
        summaries = {metric: summarise([run[metric] for run in runs]) for metric in runs[0]}
        rows[name] = {
            **{metric: summary.mean for metric, summary in summaries.items()},
            "sd": {metric: summary.sd for metric, summary in summaries.items()},
            "runs": runs,
        }
        hardware = models[0].hardware or calibrated
        if hardware is not None and not hardware.is_identity:
            rows[name]["on_chips"] = _on_chips(models, hardware, data.test)
    collapsed = {"collapsed": trained.collapsed} if trained.collapsed else {}
    return collapsed | {
        "dataset": data.name,
        "split": "test",
        "examples": len(data.test),
        "seed": trained.recipe.seed,
        "teacher": teacher,
        "results": rows,
    }


def _on_chips(models: tuple[Model, ...], hardware: Hardware, test: Split) -> dict[str, Any]:
    """Accuracies over chips and of the `ideal` network, named as by `entrain yield --json`, or the
    selecting metric of another task: means over runs, and each run; `sd` is from chip to chip."""
    chips = 1 if hardware.is_one_chip else CHIPS
    metric = models[0].task.selection[-1]
    runs = [
        {
            "ideal": model.evaluate(test)[metric.name],
            **_over_chips(model, hardware, test, chips),
            "couplers_used": model.couplers_used,
        }
        for model in models
    ]
    return {
        "hardware": hardware.to_json(),
        "chips": chips,
        "seed": 0,
        **{name: float(np.mean([run[name] for run in runs])) for name in runs[0]},
        "runs": runs,
    }


def _over_chips(model: Model, hardware: Hardware, test: Split, chips: int) -> dict[str, float]:
    """Statistics of the selecting metric over chips."""
    if model.task.has_classes:
        return yield_of(model, hardware, test, chips=chips).summary()
    metric = model.task.selection[-1]
    on_chips = (replace(model, chip=hardware.sample(seed)) for seed in range(chips))
    values = [chip.evaluate(test)[metric.name] for chip in on_chips]
    worst = min(values) if metric.larger_is_better else max(values)
    summary = summarise(values)
    return {"mean": summary.mean, "sd": summary.sd if chips > 1 else 0.0, "worst": worst}
