"""Results beside the paper's numbers, as one document with figures."""

from entrain.report.document import document
from entrain.report.figures import draw_figures

__all__ = ["document", "draw_figures"]
