"""The same frozen networks on a grid twice as fine."""

from __future__ import annotations

from dataclasses import asdict

from entrain.evaluation import Refinement, refine, summarise
from entrain.experiments import principal
from entrain.experiments.setting import BOTH
from entrain.experiments.spec import Experiment, Lab, Values


def measure(lab: Lab) -> Values:
    """Top-1, predictions and outputs at K and 2 K Euler steps of every run."""
    rows: list[Values] = []
    for name in BOTH:
        for method, stage in principal.students(lab.setting, name).items():
            exam = lab.exam(name, lab.teacher(stage.teachers[0]))
            steps = stage.dynamics.steps
            found = [
                refine(network, exam.inputs, exam.labels, (steps, 2 * steps))
                for network in lab.networks(stage)[: lab.setting.few_runs]
            ]
            rows.append({"dataset": name, "method": method, **_summary(found)})
            lab.on_progress(len(rows) / 4)
    return {"rows": rows}


def _summary(found: list[Refinement]) -> Values:
    columns = {
        "top1_coarse": [each.top1[0] for each in found],
        "top1_fine": [each.top1[1] for each in found],
        "change": [each.top1_change for each in found],
        "disagreement": [each.disagreement for each in found],
        "rms_output_change": [each.rms_output_change for each in found],
    }
    summaries = {name: summarise(values) for name, values in columns.items()}
    return {
        "steps": list(found[0].steps),
        "mean": {name: each.mean for name, each in summaries.items()},
        "sd": {name: each.sd for name, each in summaries.items()},
        "largest_output_change": max(each.largest_output_change for each in found),
        "largest_phase_increment": [
            max(each.largest_phase_increment[grid] for each in found) for grid in (0, 1)
        ],
        "runs": [asdict(each) for each in found],
    }


EXPERIMENT = Experiment(
    "refinement",
    "Sensitivity to a twofold finer integration grid",
    "tab:appendix_H_numerical_refinement",
    principal.stages,
    measure,
)
