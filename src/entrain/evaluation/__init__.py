"""How well a network does: metrics of one rollout, statistics over runs."""

from entrain.evaluation.measure import (
    Refinement,
    check_finite,
    evaluate,
    noisy_scores,
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
from entrain.evaluation.reject import RejectOption
from entrain.evaluation.selection import near_misses, representative
from entrain.evaluation.statistics import PairedEffect, Summary, paired_effect, summarise

__all__ = [
    "PairedEffect",
    "Refinement",
    "RejectOption",
    "Summary",
    "agreement",
    "check_finite",
    "correlation",
    "evaluate",
    "margin",
    "near_misses",
    "noisy_scores",
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
