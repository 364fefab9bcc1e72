"""Datasets: where they come from, how they are split, and how pixels become inputs."""

from entrain.data.datasets import (
    CLASS_NAMES,
    DATASETS,
    SMALL,
    ImageDataset,
    Split,
    load_dataset,
    load_test_split,
)
from entrain.data.features import FeatureScaling
from entrain.data.log_mel import LogMel
from entrain.data.own import balance, load_own
from entrain.data.own.examples import Dataset, FeatureDataset, fingerprint
from entrain.data.own.tables import LabelColumnError
from entrain.data.preprocessing import Preprocessing
from entrain.data.sequence_scaling import SequenceScaling
from entrain.data.sequences import SequenceDataset
from entrain.data.sources import status

__all__ = ["CLASS_NAMES", "DATASETS", "SMALL", "Dataset", "FeatureDataset", "FeatureScaling"]
__all__ += [
    "ImageDataset",
    "LabelColumnError",
    "LogMel",
    "Preprocessing",
    "SequenceDataset",
    "SequenceScaling",
]
__all__ += ["Split", "balance"]
__all__ += ["fingerprint", "load_dataset", "load_own", "load_test_split", "status"]
