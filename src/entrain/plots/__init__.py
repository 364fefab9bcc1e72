"""Figures of models, chips, circuits and costs. matplotlib is imported by the first figure."""

from entrain.plots.confusion import confusion_matrix
from entrain.plots.style import save
from entrain.plots.trajectories import trajectories, trajectory

__all__ = ["confusion_matrix", "save", "trajectories", "trajectory"]
