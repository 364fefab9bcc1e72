"""The report that compares the results with the paper's numbers: a page of its own for each
experiment, figures, and one page first."""

from entrain_paper.report.document import OVERVIEW, documents
from entrain_paper.report.figures import DEVIATIONS, draw_figures
from entrain_paper.report.judged import SYMBOLS, headline, judge

__all__ = ["DEVIATIONS", "OVERVIEW", "SYMBOLS", "documents", "draw_figures", "headline", "judge"]
