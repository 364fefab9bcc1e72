"""Training: the teacher, the protocols, and the one loop that runs them."""

from entrain.learning.likelihood import negative_log_likelihood
from entrain.learning.outcome import test_results
from entrain.learning.pipeline import Progress, Store, Trained, carry_out, teach
from entrain.learning.protocols import PROTOCOLS, Protocol, TeacherSpec, protocol_named
from entrain.learning.recipe import Recipe
from entrain.learning.student_task import StudentTask, TeacherData, endpoint_loss, network_of
from entrain.learning.teacher_task import TeacherTask, teacher_of
from entrain.learning.trainer import TrainingState, best_lane, train

__all__ = [
    "PROTOCOLS",
    "Progress",
    "Protocol",
    "Recipe",
    "Store",
    "StudentTask",
    "TeacherData",
    "TeacherSpec",
    "TeacherTask",
    "Trained",
    "TrainingState",
    "best_lane",
    "carry_out",
    "endpoint_loss",
    "negative_log_likelihood",
    "network_of",
    "protocol_named",
    "teach",
    "teacher_of",
    "test_results",
    "train",
]
