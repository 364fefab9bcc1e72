"""The teacher's contribution on MNIST: four starts and two objectives, with one optimiser and one
budget."""

from __future__ import annotations

from entrain.physics import NetworkSpec
from entrain.rules import Direct
from entrain.training import Stage
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.setting import MNIST, Setting
from entrain_paper.experiments.shared_stages import exact_path

STARTS = ("exact zero", "small random", "path by SGD", "path exact")
OBJECTIVES = ("labels", "teacher's outputs")
LEVELS = (95.0, 96.0, 97.0)


def stage(setting: Setting, start: str, objective: str) -> Stage:
    """Plain AdamW without augmentation, the same epochs and rates everywhere."""
    rule = Direct(
        epochs=max(2, setting.direct_epochs // 10),
        batch_size=setting.batch_size,
        input_rate=3e-3,
        coupling_rate=3e-2,
        fine_epochs=1,
        averaging=0.99,
        start="PATH" if start.startswith("path") else ("zero" if "zero" in start else "random"),
        distillation=0.0 if objective == "labels" else 1.0,
    )
    path = setting.main_path(MNIST) if start.startswith("path") else None
    if path is not None and "exact" in start:
        path = exact_path(path)
    return Stage(
        rule,
        setting.dataset(MNIST),
        NetworkSpec(hidden=setting.hidden),
        runs=tuple(range(setting.few_runs)),
        start=path,
        teachers=() if objective == "labels" else (setting.teacher(MNIST),),
    )


def stages(setting: Setting) -> list[Stage]:
    """Every start with every objective."""
    return [stage(setting, start, objective) for start in STARTS for objective in OBJECTIVES]


def measure(context: ExperimentContext) -> Values:
    """Test accuracy, and the epoch in which each run first reached each validation level."""
    rows = []
    for start in STARTS:
        for objective in OBJECTIVES:
            trained = stage(context.setting, start, objective)
            history = context.state(trained).history["top1"]  # (epochs, runs)
            reached = {
                f"{level:g}": [
                    next((e + 1 for e, tops in enumerate(history) if tops[run] >= level), None)
                    for run in range(trained.parallel_runs)
                ]
                for level in LEVELS
            }
            rows.append(
                {
                    "start": start,
                    "objective": objective,
                    "epochs": trained.epochs,
                    "reached": reached,
                    **summary(context.test(MNIST, trained), ("top1",)),
                }
            )
    return {"dataset": MNIST, "rows": rows}


def compare(values: Values) -> Comparison:
    """Claims about starts and objectives."""
    rows = {(r["start"], r["objective"]): r for r in values["rows"]}
    tops = {key: row["mean"]["top1"] for key, row in rows.items()}
    small = tops["small random", "labels"]
    zero = max(top for (start, _), top in tops.items() if start == "exact zero")
    next_worst = min(top for (start, _), top in tops.items() if start != "exact zero")
    taught = max(top for (_, objective), top in tops.items() if objective != "labels")
    listed = "; ".join(f"{start}, {goal}: {top:.2f}" for (start, goal), top in tops.items())
    return Comparison(
        (),
        (),
        (),
        (
            Claim(
                "exact zero is the worst start for both objectives",
                zero < next_worst,
                f"at best {zero:.2f}, the others at least {next_worst:.2f} %",
            ),
            Claim(
                "labels with a small random start beat the teacher's outputs with any start",
                small > taught,
                f"{small:.2f} against {taught:.2f} %",
            ),
        ),
        notes=(f"Test top-1 %: {listed}.",),
    )


EXPERIMENT = Experiment(
    "teacher-needed", "Training with and without a teacher", "", stages, measure, compare
)
