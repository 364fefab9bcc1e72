"""Training: recipes, stages, and the one loop that runs any rule."""

from entrain.training.checkpoint import pack_state, read_state, unpack_state
from entrain.training.collapse import collapse_advice, collapsed
from entrain.training.loop import TrainingState, best_run, train_task
from entrain.training.options import Options
from entrain.training.outcome import test_results
from entrain.training.pipeline import Progress, Store, Trained, run_pipeline, stages_of
from entrain.training.recipe import Recipe
from entrain.training.stages import (
    DivergedError,
    Stage,
    digest,
    teacher_stage,
    time_advice,
    train_stage,
)

__all__ = [
    "DivergedError",
    "Options",
    "Progress",
    "Recipe",
    "Stage",
    "Store",
    "Trained",
    "TrainingState",
    "best_run",
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
    "train_stage",
    "train_task",
    "unpack_state",
]
