"""Figures of models, chips, circuits and costs. matplotlib is imported by the first figure."""

from entrain.plots.style import save
from entrain.plots.trajectories import trajectories

__all__ = ["save", "trajectories"]
