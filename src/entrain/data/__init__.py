"""Datasets: where they come from, how they are split, and how pixels become inputs."""

from entrain.data.datasets import (
    CLASS_NAMES,
    DATASETS,
    SMALL,
    Dataset,
    Split,
    load_dataset,
    load_test_split,
)
from entrain.data.preprocessing import Preprocessing
from entrain.data.sources import status

__all__ = [
    "CLASS_NAMES",
    "DATASETS",
    "SMALL",
    "Dataset",
    "Preprocessing",
    "Split",
    "load_dataset",
    "load_test_split",
    "status",
]
