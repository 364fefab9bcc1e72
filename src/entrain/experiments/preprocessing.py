"""The datasets, their splits and the constants of the training images."""

from __future__ import annotations

from entrain.experiments.setting import BOTH
from entrain.experiments.spec import Experiment, Lab, Values


def measure(lab: Lab) -> Values:
    """Counts, pixel mean and SD, and reference norms of each dataset."""
    rows = []
    for name in BOTH:
        data = lab.data(name)
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
                "test_norm": constants.test_norm,
            }
        )
    return {"rows": rows}


EXPERIMENT = Experiment(
    "preprocessing",
    "Datasets and preprocessing",
    "tab:dataset_preprocessing",
    lambda setting: [],
    measure,
)
