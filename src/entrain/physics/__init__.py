"""The equations: parameters, the phase model and its energy, the teacher path, thermal noise.

Pure functions of tensors.
"""

from entrain.physics.guide import Guide, path_coefficients
from entrain.physics.network_spec import NetworkSpec
from entrain.physics.noise import Noise
from entrain.physics.parameters import Parameters, layered_graph, local_fields
from entrain.physics.phase_model import (
    INITIAL_PHASE,
    Dynamics,
    PhaseModel,
    drift,
    energy,
    torque,
    wrap,
)
from entrain.physics.readout import readout, readout_with_pullback

__all__ = [
    "INITIAL_PHASE",
    "Dynamics",
    "Guide",
    "NetworkSpec",
    "Noise",
    "Parameters",
    "PhaseModel",
    "drift",
    "energy",
    "layered_graph",
    "local_fields",
    "path_coefficients",
    "readout",
    "readout_with_pullback",
    "torque",
    "wrap",
]
