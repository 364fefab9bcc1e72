"""The principal teachers: configuration, and validation and test accuracy."""

from __future__ import annotations

from entrain.experiments.setting import BOTH
from entrain.experiments.spec import Experiment, Lab, Values
from entrain.teacher import teacher_parameter_count


def measure(lab: Lab) -> Values:
    """One row per dataset."""
    rows = []
    for name in BOTH:
        stage, data = lab.setting.teacher(name), lab.data(name)
        spec, inputs = stage.spec, data.preprocessing.inputs
        classes = len(data.class_names)
        rows.append(
            {
                "dataset": name,
                "architecture": "-".join(map(str, (inputs, *spec.widths, classes))),
                "trainable_parameters": teacher_parameter_count(inputs, spec.widths, classes),
                "initialisations": spec.initialisations,
                "selection": spec.selection,
                "learning_rate": spec.learning_rate,
                "weight_decay": spec.weight_decay,
                "batch_size": spec.batch_size,
                "epochs": spec.epochs,
                **lab.teacher_test(name, stage),
            }
        )
    return {"rows": rows}


EXPERIMENT = Experiment(
    "teachers",
    "Neural-teacher configuration and training",
    "tab:teacher_training",
    lambda setting: [setting.teacher(name) for name in BOTH],
    measure,
)
