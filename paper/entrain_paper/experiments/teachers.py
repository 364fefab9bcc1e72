"""Table 2: the main teachers, their configuration and accuracy."""

from __future__ import annotations

from entrain.rules import TeacherSpec
from entrain_paper.experiments.comparison import Cell, Comparison, Constant, Row
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.metrics import teacher_parameter_count
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH

_SETTINGS = (  # the paper's name, ours, format
    ("trainable_parameters", "trainable_parameters", ",.0f"),
    ("learning_rate", "learning_rate", "g"),
    ("weight_decay", "weight_decay", "g"),
    ("batch_size", "batch_size", ".0f"),
    ("epochs", "epochs", ".0f"),
    ("training_runs", "initialisations", ".0f"),
)


def measure(context: ExperimentContext) -> Values:
    """Configuration, validation and test accuracy of the teacher of each dataset."""
    rows = []
    for name in BOTH:
        stage, data = context.setting.teacher(name), context.data(name)
        spec, inputs = stage.rule, data.preprocessing.inputs
        assert isinstance(spec, TeacherSpec)
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
                **context.teacher_test(name, stage),
            }
        )
    return {"rows": rows}


def compare(values: Values) -> Comparison:
    """Settings and accuracies."""
    rows = [
        Row(
            (ours["dataset"], ours["architecture"]),
            (
                *(Constant(paper[key], ours[name], form=form) for key, name, form in _SETTINGS),
                *(
                    Cell(paper[m], ours[m], (ours["dataset"], "teacher", m), form=".2f")
                    for m in ("validation_top1", "test_top1")
                ),
            ),
        )
        for paper, ours in zip(
            paper_numbers()["teacher_training"]["rows"], values["rows"], strict=True
        )
    ]
    return Comparison(
        ("dataset", "architecture"),
        (
            "parameters",
            "learning rate",
            "weight decay",
            "batch size",
            "epochs",
            "initialisations",
            "validation top-1 %",
            "test top-1 %",
        ),
        tuple(rows),
        reason="which metric selects the epoch of the MNIST teacher is an open point of the paper",
        notes=tuple(
            f"{row['dataset']}: seed {row['seed']}, {row['initialisations']} initialisation(s), "
            f"selected initialisation {row['initialisation']}, epoch {row['epoch']} of "
            f"{row['epochs']}, by {row['selection']}."
            for row in values["rows"]
        ),
    )


EXPERIMENT = Experiment(
    "teachers",
    "Neural-Teacher Training",
    "tab:teacher_training",
    lambda setting: [setting.teacher(name) for name in BOTH],
    measure,
    compare,
)
