"""Speed: the same work done by Entrain and by what people use today."""

from entrain_paper.bench.compare import compare
from entrain_paper.bench.growth import growth
from entrain_paper.bench.problem import Problem

__all__ = ["Problem", "compare", "growth"]
