"""One document that compares the results with the paper's numbers, with figures."""

from entrain.report.document import document
from entrain.report.figures import draw_figures
from entrain.report.summary import SYMBOLS, headline, judge

__all__ = ["SYMBOLS", "document", "draw_figures", "headline", "judge"]
