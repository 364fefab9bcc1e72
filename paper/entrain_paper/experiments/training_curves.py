"""Figures 5 and 6: validation accuracy after each epoch, and the two losses of Stage II."""

from __future__ import annotations

from entrain.training import TrainingState
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import BOTH


def series(state: TrainingState, metric: str) -> list[list[float]]:
    """A metric after each epoch, by run: (R, epochs)."""
    return [list(values) for values in zip(*state.history[metric], strict=True)]


def measure_validation(context: ExperimentContext) -> Values:
    """Validation top-1 of every run after each epoch; Stage II begins at the selected PATH."""
    rows = []
    for name in BOTH:
        students = shared_stages.main_students(context.setting, name)
        path, end = context.state(students["PATH"]), context.state(students["TWO-STAGE-END"])
        before = [path.selected("top1", run) for run in range(path.parallel_runs)]
        rows.append(
            {
                "dataset": name,
                "stage1": series(path, "top1"),
                "stage2": [
                    [first, *rest] for first, rest in zip(before, series(end, "top1"), strict=True)
                ],
                "stage1_selected": path.best_epoch.tolist(),
                "stage2_selected": end.best_epoch.tolist(),
            }
        )
    return {"rows": rows}


def measure_components(context: ExperimentContext) -> Values:
    """Mean training losses of every Stage-II epoch."""
    rows = []
    for name in BOTH:
        state = context.state(shared_stages.main_students(context.setting, name)["TWO-STAGE-END"])
        rows.append(
            {
                "dataset": name,
                "path_loss": series(state, "path_loss"),
                "endpoint_loss": series(state, "endpoint_loss"),
            }
        )
    return {"rows": rows}


VALIDATION = Experiment(
    "validation-curves",
    "Validation Accuracy Across Training-Order Runs",
    "fig:appendix_B1_validation_accuracy",
    shared_stages.main_stages,
    measure_validation,
)
COMPONENTS = Experiment(
    "stage2-components",
    "Components of the TWO-STAGE-END Objective",
    "fig:appendix_B1_stage2_components",
    shared_stages.main_stages,
    measure_components,
)
