"""Table 1: the datasets, their splits and the constants of the training images."""

from __future__ import annotations

from entrain_paper.experiments.comparison import Comparison, Constant, Row
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import BOTH


def measure(context: ExperimentContext) -> Values:
    """Counts, pixel mean and SD, and reference norms of each dataset."""
    rows = []
    for name in BOTH:
        data = context.data(name)
        constants = data.preprocessing
        rows.append(
            {
                "dataset": name,
                "train_examples": len(data.train),
                "validation_examples": len(data.validation),
                "test_examples": len(data.test),
                "pixel_mean": constants.mean,
                "pixel_sd": constants.sd,
                "train_norm": constants.norm,
                "validation_norm": constants.norm,
                "test_norm": constants.test_norm,
            }
        )
    return {"rows": rows}


def compare(values: Values) -> Comparison:
    """Counts, which must be equal, and constants, which must be equal in the printed digits."""
    columns = (
        "train_examples",
        "validation_examples",
        "test_examples",
        "pixel_mean",
        "pixel_sd",
        "train_norm",
        "validation_norm",
        "test_norm",
    )
    rows = [
        Row(
            (ours["dataset"],),
            tuple(
                Constant(paper[name], ours[name], form=",.0f")
                if name.endswith("examples")
                else Constant(paper[name], ours[name], rounding=0.0005)
                for name in columns
            ),
        )
        for paper, ours in zip(
            paper_numbers()["preprocessing"]["rows"], values["rows"], strict=True
        )
    ]
    return Comparison(("dataset",), tuple(c.replace("_", " ") for c in columns), tuple(rows))


EXPERIMENT = Experiment(
    "preprocessing",
    "Datasets, Splits, and Preprocessing",
    "tab:dataset_preprocessing",
    lambda setting: [],
    measure,
    compare,
)
