"""A third reading of the MNIST teacher's checkpoint rule, with students for ten seeds.

The epoch of each initialisation has the smallest validation cross-entropy, and the initialisation
the best validation top-1 among these epochs. teacher-sweep has the two other readings.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from entrain.models.teacher import Teacher
from entrain.rules.teacher import teacher_of
from entrain.training import Stage, TrainingState
from entrain_paper.experiments import teacher_sweep
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import MNIST, Setting

RULE = "hybrid"


@dataclass(frozen=True)
class HybridTeacher(Stage):
    """A teacher whose epochs are selected by cross-entropy, and whose initialisation is selected by
    top-1 at those epochs."""

    def initialisation(self, state: TrainingState) -> int:
        """The initialisation with the best validation top-1, ties by cross-entropy."""

        def merit(run: int) -> tuple[float, float]:
            return state.selected("top1", run), -state.selected("cross_entropy", run)

        return max(range(state.parallel_runs), key=merit)

    def teacher(self, state: TrainingState) -> Teacher:
        """See Stage.teacher."""
        return teacher_of(state.best, self.initialisation(state))

    def identity(self) -> dict[str, Any]:
        """See Stage.identity; students of this teacher differ from those of the same training."""
        return super().identity() | {"initialisation by": "top1"}


def teachers(setting: Setting) -> list[HybridTeacher]:
    """Teachers of the seeds of teacher-sweep."""
    selected = [
        teacher_sweep.select_by("cross-entropy", setting.teacher(MNIST, seed=seed))
        for seed in range(teacher_sweep.seed_count(setting, MNIST))
    ]
    return [
        HybridTeacher(**{field.name: getattr(teacher, field.name) for field in fields(teacher)})
        for teacher in selected
    ]


def students(setting: Setting) -> dict[str, Stage]:
    """PATH and TWO-STAGE-END, one student per teacher side by side, all in training order 0."""
    hybrid = teachers(setting)
    path = setting.path(*hybrid, runs=(0,) * len(hybrid))
    return {"PATH": path, "TWO-STAGE-END": setting.continue_from(path)}


def measure(context: ExperimentContext) -> Values:
    """Every teacher with its two networks, and the metrics of teacher-sweep."""
    rows = teacher_sweep.measure_students(context, MNIST, students(context.setting))
    return {"rows": [row | {"rule": RULE} for row in rows]}


EXPERIMENT = Experiment(
    "checkpoint-rules",
    "MNIST teachers by a third checkpoint rule",
    "",
    lambda setting: list(students(setting).values()),
    measure,
)
