"""Entrain: train small networks of coupled oscillators to compute.

import entrain
trained = entrain.train("digits")            # teacher, Stage I, Stage II
model = trained.model                        # 74 oscillators that accept raw pixels
"""

from entrain.api import train
from entrain.data import Dataset, Preprocessing, Split, load_dataset
from entrain.errors import InputError
from entrain.learning import PROTOCOLS, Protocol, Recipe, TeacherSpec, Trained
from entrain.model import Model
from entrain.models import load
from entrain.network import KuramotoNetwork
from entrain.physics import Dynamics
from entrain.teacher import Teacher

__version__ = "0.1.0"

__all__ = [
    "PROTOCOLS",
    "Dataset",
    "Dynamics",
    "InputError",
    "KuramotoNetwork",
    "Model",
    "Preprocessing",
    "Protocol",
    "Recipe",
    "Split",
    "Teacher",
    "TeacherSpec",
    "Trained",
    "load",
    "load_dataset",
    "train",
]
