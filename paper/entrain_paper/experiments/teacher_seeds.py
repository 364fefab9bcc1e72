"""Spread over teachers: the complete procedure with teachers of other seeds."""

from __future__ import annotations

from entrain.training import Stage
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.setting import BOTH, Setting


def students(setting: Setting, name: str) -> tuple[Stage, Stage]:
    """PATH and TWO-STAGE-END, one student per teacher side by side, all in training order 0."""
    teachers = [setting.teacher(name, seed=seed) for seed in range(setting.sweep_seeds)]
    path = setting.path(*teachers, runs=(0,) * len(teachers))
    return path, setting.continue_from(path)


def stages(setting: Setting) -> list[Stage]:
    """PATH and TWO-STAGE-END on both datasets."""
    return [stage for name in BOTH for stage in students(setting, name)]


def measure(context: ExperimentContext) -> Values:
    """Accuracy of each seed's teacher, PATH and TWO-STAGE-END, with the spread over teachers."""
    rows = []
    for name in BOTH:
        path, end = students(context.setting, name)
        rows.append(
            {
                "dataset": name,
                "teachers": [context.teacher_test(name, teacher) for teacher in path.teachers],
                "path": summary(context.test(name, path)),
                "two_stage_end": summary(context.test(name, end)),
            }
        )
    return {"rows": rows}


def compare(values: Values) -> Comparison:
    """Claims about every teacher."""
    claims = []
    for row in values["rows"]:
        path, end = ([run["top1"] for run in row[m]["runs"]] for m in ("path", "two_stage_end"))
        seeds = [teacher["seed"] for teacher in row["teachers"]]
        listed = "; ".join(
            f"seed {seed}: {teacher['test_top1']:.2f}, {a:.2f}, {b:.2f}"
            for seed, teacher, a, b in zip(seeds, row["teachers"], path, end, strict=True)
        )
        spread = row["path"]["sd"]["top1"], row["two_stage_end"]["sd"]["top1"]
        path_sd, end_sd = ("-" if sd is None else f"{sd:.2f}" for sd in spread)
        claims.append(
            Claim(
                f"{row['dataset']}: TWO-STAGE-END beats PATH for every teacher",
                all(b > a for a, b in zip(path, end, strict=True)),
                f"test top-1 % of teacher, PATH, TWO-STAGE-END: {listed}; SD over teachers: "
                f"PATH {path_sd}, TWO-STAGE-END {end_sd}",
            )
        )
    return Comparison((), (), (), tuple(claims))


EXPERIMENT = Experiment(
    "teacher-seeds", "Spread over teachers of one architecture", "", stages, measure, compare
)
