"""Accuracy under each effect of hardware at five strengths, and the yield on typical chips, for the
networks of each method."""

from __future__ import annotations

from functools import partial

import numpy as np

from entrain.evaluation.chip_yield import Yield
from entrain.hardware import preset
from entrain.hardware.strengths import LADDERS
from entrain.training import Stage
from entrain_paper.experiments import chip_evaluation
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import BOTH, Setting

THRESHOLDS = {"MNIST": (90.0, 95.0, 97.0), "Fashion-MNIST": (80.0, 85.0, 87.0)}


def stages(setting: Setting) -> list[Stage]:
    """The networks of all four methods."""
    return [stage for name in BOTH for stage in chip_evaluation.methods(setting, name).values()]


def measure_strengths(context: ExperimentContext) -> Values:
    """Test accuracy under each effect alone."""
    setting, sizes = context.setting, chip_evaluation.sizes(context.setting)

    def row(name: str, stage: Stage, ladder: str) -> Values:
        strengths = [
            {
                "label": strength.label,
                "value": strength.value,
                **chip_evaluation.over_chips(
                    chip_evaluation.accuracies(
                        context,
                        name,
                        stage,
                        strength.hardware,
                        chip_evaluation.sizes(setting).few_chips,
                    )
                ),
            }
            for strength in sizes.thinned(LADDERS[ladder])
        ]
        return {"strengths": strengths}

    rows = chip_evaluation.measure_rows(
        context,
        [
            (
                {"dataset": name, "method": method, "effect": ladder},
                partial(row, name, stage, ladder),
            )
            for name in BOTH
            for method, stage in chip_evaluation.methods(setting, name).items()
            for ladder in sizes.thinned(list(LADDERS))
        ],
    )
    ideal = [
        {
            "dataset": name,
            "method": method,
            "mean": float(np.mean([run["top1"] for run in context.test(name, stage)[:few]])),
        }
        for few in (setting.few_runs,)
        for name in BOTH
        for method, stage in chip_evaluation.methods(setting, name).items()
    ]
    return {"rows": rows, "ideal": ideal}


def measure_yield(context: ExperimentContext) -> Values:
    """Test accuracy of the best network of each method on many typical chips."""
    rows: list[Values] = []
    for name in BOTH:
        for method, stage in chip_evaluation.methods(context.setting, name).items():
            state = context.state(stage)
            best = max(range(stage.parallel_runs), key=lambda run: state.selected("top1", run))
            accuracies = chip_evaluation.accuracies(
                context,
                name,
                stage,
                preset("typical"),
                chip_evaluation.sizes(context.setting).many_chips,
                run=best,
            )[0]
            over = Yield(tuple(round(float(value), 2) for value in accuracies))  # exact for 10,000
            rows.append(
                {
                    "dataset": name,
                    "method": method,
                    "run": stage.runs[best],
                    "chips": len(over.accuracies),
                    **over.summary(),
                    "above": {f"{level:g}": over.above(level) for level in THRESHOLDS[name]},
                    "accuracies": list(over.accuracies),
                }
            )
            context.on_progress(len(rows) / 8)
    return {"rows": rows}


STRENGTHS = Experiment(
    "fragility",
    "Accuracy under single imperfections at five strengths",
    "",
    stages,
    measure_strengths,
)
YIELD = Experiment("typical-yield", "Yield on typical chips", "", stages, measure_yield)
