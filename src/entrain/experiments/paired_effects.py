"""Paired effects of the principal result, with Student-t and bootstrap intervals."""

from __future__ import annotations

from dataclasses import asdict

from entrain.evaluation import paired_effect
from entrain.experiments import multiseed
from entrain.experiments.setting import BOTH
from entrain.experiments.spec import METRICS, Experiment, Lab, Values

COMPARISONS = (
    ("TWO-STAGE-END", "PATH"),
    ("TWO-STAGE-END", "PATH-CONT"),
    ("PATH-CONT", "PATH"),
)


def measure(lab: Lab) -> Values:
    """Each comparison a - b on each metric; for the RMSE b - a, so that positive is better."""
    measured = {(row["dataset"], row["method"]): row for row in multiseed.measure(lab)["rows"]}
    rows = []
    for name in BOTH:
        for a, b in COMPARISONS:
            for metric in METRICS:
                better, worse = (
                    [run[metric] for run in measured[name, method]["runs"]] for method in (a, b)
                )
                if metric == "endpoint_rmse":
                    better, worse = worse, better
                label = "rmse_reduction" if metric == "endpoint_rmse" else metric
                effect = asdict(paired_effect(better, worse)) if len(better) > 1 else {}
                rows.append({"dataset": name, "a": a, "b": b, "metric": label, **effect})
    return {"rows": rows}


EXPERIMENT = Experiment(
    "paired-effects",
    "Paired effects across training orders",
    "tab:appendix_B2_paired_improvements_lr10",
    multiseed.stages,
    measure,
)
