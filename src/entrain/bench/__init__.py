"""Speed: the same work done by Entrain and by what people use today."""

from entrain.bench.compare import compare
from entrain.bench.growth import growth
from entrain.bench.problem import Problem

__all__ = ["Problem", "compare", "growth"]
