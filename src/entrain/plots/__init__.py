"""Figures of a model, a chip, a circuit, a cost. matplotlib is imported when one is drawn."""

from entrain.plots.style import save
from entrain.plots.trajectories import trajectories

__all__ = ["save", "trajectories"]
