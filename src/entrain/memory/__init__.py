"""Associative memories of oscillators: patterns stored in couplings, and recalled."""

from entrain.memory.capacity import LoadedRate, capacity
from entrain.memory.couplings import StorageRule, stored_couplings
from entrain.memory.memory import Memory
from entrain.memory.patterns import corrupt, overlaps, random_patterns
from entrain.memory.rate import RecallRate, recall_rate
from entrain.memory.recall import Recall, start_phases
from entrain.memory.training import RecallTraining

__all__ = [
    "LoadedRate",
    "Memory",
    "Recall",
    "RecallRate",
    "RecallTraining",
    "StorageRule",
    "capacity",
]
__all__ += [
    "corrupt",
    "overlaps",
    "random_patterns",
    "recall_rate",
    "start_phases",
    "stored_couplings",
]
