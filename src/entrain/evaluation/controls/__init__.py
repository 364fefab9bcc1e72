"""Controls: what the oscillators of a model contribute to its accuracy."""

from entrain.evaluation.controls.catalogue import CONTROLS, EXPLANATIONS
from entrain.evaluation.controls.measure import controls
from entrain.evaluation.controls.measurement import ControlResult
from entrain.evaluation.controls.result import Controls

__all__ = ["CONTROLS", "EXPLANATIONS", "ControlResult", "Controls", "controls"]
