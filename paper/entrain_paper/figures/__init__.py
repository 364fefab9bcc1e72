"""The figures of the report, drawn from results; matplotlib is imported when a figure is drawn."""

from entrain_paper.figures.growth import growth_figure
from entrain_paper.figures.registry import FIGURES, PaperFigure

__all__ = ["FIGURES", "PaperFigure", "growth_figure"]
