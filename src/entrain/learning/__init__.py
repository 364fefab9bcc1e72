"""Training: the teacher, the protocols, and the one loop that runs them."""

from entrain.learning.augmentation import Augmentation
from entrain.learning.checkpoint import pack_state, read_state, unpack_state
from entrain.learning.classroom import Classroom, chosen_teacher, perform, teach
from entrain.learning.direct import DIRECT_PROTOCOLS, DirectProtocol, small_batch, small_set, suited
from entrain.learning.direct_task import DirectTask, Examples
from entrain.learning.likelihood import negative_log_likelihood
from entrain.learning.outcome import test_results
from entrain.learning.pipeline import Progress, Store, Trained, carry_out, stages_of
from entrain.learning.protocols import PROTOCOLS, Protocol, TeacherSpec
from entrain.learning.recipe import Recipe, protocol_named
from entrain.learning.stages import LATER, DirectStage, Stage, StudentStage, TeacherStage, digest
from entrain.learning.student_task import StudentTask, TeacherData, endpoint_loss, network_of
from entrain.learning.teacher_task import TeacherTask, teacher_of
from entrain.learning.trainer import TrainingState, best_lane, train

__all__ = [
    "DIRECT_PROTOCOLS",
    "LATER",
    "PROTOCOLS",
    "Augmentation",
    "Classroom",
    "DirectProtocol",
    "DirectStage",
    "DirectTask",
    "Examples",
    "Progress",
    "Protocol",
    "Recipe",
    "Stage",
    "Store",
    "StudentStage",
    "StudentTask",
    "TeacherData",
    "TeacherSpec",
    "TeacherStage",
    "TeacherTask",
    "Trained",
    "TrainingState",
    "best_lane",
    "carry_out",
    "chosen_teacher",
    "digest",
    "endpoint_loss",
    "negative_log_likelihood",
    "network_of",
    "pack_state",
    "perform",
    "protocol_named",
    "read_state",
    "small_batch",
    "small_set",
    "stages_of",
    "suited",
    "teach",
    "teacher_of",
    "test_results",
    "train",
    "unpack_state",
]
