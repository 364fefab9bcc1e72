"""How much depends on which teacher it was: the whole procedure from other seeds."""

from __future__ import annotations

from entrain.experiments.setting import BOTH, Setting
from entrain.experiments.spec import Experiment, Lab, Values, summary
from entrain.learning import Stage, StudentStage


def students(setting: Setting, name: str) -> tuple[StudentStage, StudentStage]:
    """PATH and TWO-STAGE-END, one student per teacher side by side, all in training order 0."""
    teachers = [setting.teacher(name, seed=seed) for seed in range(setting.sweep_seeds)]
    path = setting.path(*teachers, runs=(0,) * len(teachers))
    return path, setting.go_on(path)


def stages(setting: Setting) -> list[Stage]:
    """Both on both datasets."""
    return [stage for name in BOTH for stage in students(setting, name)]


def measure(lab: Lab) -> Values:
    """Accuracy of each seed's teacher, PATH and TWO-STAGE-END, with the spread over teachers."""
    rows = []
    for name in BOTH:
        path, end = students(lab.setting, name)
        rows.append(
            {
                "dataset": name,
                "teachers": [lab.teacher_test(name, teacher) for teacher in path.teachers],
                "path": summary(lab.test(name, path)),
                "two_stage_end": summary(lab.test(name, end)),
            }
        )
    return {"rows": rows}


EXPERIMENT = Experiment(
    "teacher-seeds", "Spread over teachers of one architecture", "", stages, measure
)
