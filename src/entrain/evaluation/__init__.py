"""How well a network does: metrics of one rollout, statistics over runs."""

from entrain.evaluation.measure import (
    Refinement,
    evaluate,
    refine,
    scores_of,
    stochastic,
    trajectory_errors,
    trajectory_rmse,
)
from entrain.evaluation.metrics import (
    agreement,
    correlation,
    margin,
    rmse,
    top_k,
)
from entrain.evaluation.selection import representative
from entrain.evaluation.statistics import PairedEffect, Summary, paired_effect, summarise

__all__ = [
    "PairedEffect",
    "Refinement",
    "Summary",
    "agreement",
    "correlation",
    "evaluate",
    "margin",
    "paired_effect",
    "refine",
    "representative",
    "rmse",
    "scores_of",
    "stochastic",
    "summarise",
    "top_k",
    "trajectory_errors",
    "trajectory_rmse",
]
