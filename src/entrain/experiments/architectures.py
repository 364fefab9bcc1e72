"""Fifteen Fashion-MNIST teachers with the same 64 hidden activations, and their students."""

from __future__ import annotations

from entrain.experiments.setting import AUXILIARY_RATE, FASHION, Setting
from entrain.experiments.spec import Experiment, Lab, Values
from entrain.learning import Stage, StudentStage
from entrain.teacher import teacher_parameter_count

ARCHITECTURES: dict[str, tuple[int, ...]] = {
    "T32_16_16": (32, 16, 16),  # the principal one
    "S64": (64,),
    "D32_32": (32, 32),
    "D48_16": (48, 16),
    "D16_48": (16, 48),
    "D40_24": (40, 24),
    "D52_12": (52, 12),
    "D56_08": (56, 8),
    "T22_21_21": (22, 21, 21),
    "T40_16_08": (40, 16, 8),
    "T40_08_16": (40, 8, 16),
    "T32_24_08": (32, 24, 8),
    "T24_24_16": (24, 24, 16),
    "T16_24_24": (16, 24, 24),
    "Q16_16_16_16": (16, 16, 16, 16),
}


def students(setting: Setting) -> tuple[StudentStage, StudentStage]:
    """PATH and TWO-STAGE-END, one student per teacher side by side, all in training order 0."""
    widths = list(ARCHITECTURES.values())[: setting.architectures]
    teachers = [setting.teacher(FASHION, width) for width in widths]
    path = setting.path(*teachers, runs=(0,) * len(teachers))
    return path, setting.go_on(path, rate=AUXILIARY_RATE)


def stages(setting: Setting) -> list[Stage]:
    """The two student stages; the teachers are what they need."""
    return list(students(setting))


def measure(lab: Lab) -> Values:
    """Teacher, PATH and TWO-STAGE-END of each architecture."""
    path, end = students(lab.setting)
    before, after = lab.test(FASHION, path), lab.test(FASHION, end)
    data = lab.data(FASHION)
    rows = []
    for identifier, teacher, a, b in zip(ARCHITECTURES, path.teachers, before, after, strict=False):
        counted = teacher_parameter_count(
            data.preprocessing.inputs, teacher.spec.widths, len(data.class_names)
        )
        rows.append(
            {
                "identifier": identifier,
                "widths": list(teacher.spec.widths),
                "parameters": counted,
                "teacher": lab.teacher_test(FASHION, teacher),
                "path": a,
                "two_stage_end": b,
            }
        )
    return {"dataset": FASHION, "rows": rows}


EXPERIMENT = Experiment(
    "architectures",
    "Robustness across fifteen teacher architectures",
    "tab:appendix-c2-teacher-architecture-complete",
    stages,
    measure,
)
