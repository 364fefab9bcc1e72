"""Figures from results. matplotlib is imported only when a figure is drawn."""

from entrain.figures.growth import growth_figure
from entrain.figures.paper import FIGURES, PaperFigure
from entrain.figures.style import save
from entrain.figures.trajectories import trajectories

__all__ = ["FIGURES", "PaperFigure", "growth_figure", "save", "trajectories"]
