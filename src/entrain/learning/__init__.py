"""Training: recipes, stages, and the one loop that runs any rule."""

from entrain.learning.checkpoint import pack_state, read_state, unpack_state
from entrain.learning.collapse import collapse_advice, collapsed
from entrain.learning.options import Options
from entrain.learning.outcome import test_results
from entrain.learning.pipeline import Progress, Store, Trained, run_pipeline, stages_of
from entrain.learning.recipe import Recipe
from entrain.learning.stages import (
    DivergedError,
    Stage,
    digest,
    teacher_stage,
    time_advice,
    train_stage,
)
from entrain.learning.trainer import TrainingState, best_lane, train

__all__ = [
    "DivergedError",
    "Options",
    "Progress",
    "Recipe",
    "Stage",
    "Store",
    "Trained",
    "TrainingState",
    "best_lane",
    "collapse_advice",
    "collapsed",
    "digest",
    "pack_state",
    "read_state",
    "run_pipeline",
    "stages_of",
    "teacher_stage",
    "test_results",
    "time_advice",
    "train",
    "train_stage",
    "unpack_state",
]
