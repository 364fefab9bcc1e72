"""The paper's figures, drawn from results. matplotlib is imported when one is drawn."""

from entrain_paper.figures.growth import growth_figure
from entrain_paper.figures.paper import FIGURES, PaperFigure

__all__ = ["FIGURES", "PaperFigure", "growth_figure"]
