"""One document that compares the results with the paper's numbers, with figures."""

from entrain_paper.report.document import document
from entrain_paper.report.figures import draw_figures
from entrain_paper.report.summary import SYMBOLS, headline, judge

__all__ = ["SYMBOLS", "document", "draw_figures", "headline", "judge"]
