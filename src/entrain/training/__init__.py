"""Training: recipes, stages, and the one loop that runs any rule."""

from entrain.training.checkpoint import pack_state, read_state, unpack_state
from entrain.training.convergence import collapse_hint, collapsed_runs, time_hint
from entrain.training.loop import TrainingState, best_run, run_training
from entrain.training.options import Options
from entrain.training.pipeline import Progress, Store, Trained, run_pipeline, stages_of
from entrain.training.recipe import Recipe
from entrain.training.stages import DivergedError, Stage, digest, teacher_stage, train_stage

__all__ = ["DivergedError", "Options", "Progress", "Recipe", "Stage", "Store", "Trained"]
__all__ += ["TrainingState", "best_run", "collapse_hint", "collapsed_runs", "digest"]
__all__ += ["pack_state", "read_state", "run_pipeline", "stages_of", "teacher_stage"]
__all__ += ["run_training", "time_hint", "train_stage", "unpack_state"]
