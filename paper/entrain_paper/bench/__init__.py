"""Speed: the same training step and inference by Entrain, PyTorch, torchdiffeq and diffrax."""

from entrain_paper.bench.compare import compare
from entrain_paper.bench.growth import growth
from entrain_paper.bench.problem import Problem

__all__ = ["Problem", "compare", "growth"]
