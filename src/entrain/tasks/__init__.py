"""Tasks: the use of the outputs of a network, one a file.

A task is a frozen dataclass (`task.Task`): the targets it takes, its loss, its metrics and the one
that selects an epoch, and how a readout becomes a prediction. `TASKS` are the classes by the name
that files and `entrain.train(task=...)` use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrain.tasks.classification import Classification
from entrain.tasks.regression import Regression
from entrain.tasks.task import Metric, Task
from entrain.utils.errors import InputError, reason, unknown_name

__all__ = ["TASKS", "Classification", "Metric", "Regression", "Task", "from_json"]
__all__ += ["selection_metric"]

TASKS: dict[str, type[Task]] = {task.kind: task for task in (Classification, Regression)}


def from_json(values: Mapping[str, Any]) -> Task:
    """The task that `Task.to_json` turned into JSON values.

    Args:
        values: The JSON values.
    """
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    kind = fields.pop("task", None)
    if kind not in TASKS:
        raise unknown_name("task", str(kind), TASKS)
    try:
        return TASKS[kind](**fields)
    except TypeError as error:
        raise InputError(f"not a complete {kind} task: {reason(error)}") from error


def selection_metric(names: Mapping[str, Any]) -> Metric | None:
    """The metric among these names by which a task selects epochs.

    Args:
        names: Metrics by name, as in the history of a training.
    """
    for task in TASKS.values():
        for metric in task.selection:
            if metric.name in names:
                return metric
    return None
