"""Metrics of networks, statistics over runs, and accuracies on chips."""

from entrain.evaluation.class_report import ClassReport
from entrain.evaluation.measure import (
    Refinement,
    check_finite,
    evaluate,
    noisy_scores,
    refine,
    scores_of,
    simulated,
    stochastic,
)
from entrain.evaluation.reject import RejectOption
from entrain.tasks.metrics import (
    Summary,
    agreement,
    correlation,
    margin,
    representative,
    rmse,
    summarise,
    top_k,
)

__all__ = ["ClassReport", "Refinement", "RejectOption", "Summary", "agreement", "check_finite"]
__all__ += ["correlation", "evaluate", "margin", "noisy_scores", "refine", "representative", "rmse"]
__all__ += ["scores_of", "simulated", "stochastic", "summarise", "top_k"]
