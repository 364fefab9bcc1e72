"""The equations as pure functions: parameters, phase model, energy, teacher path, noise."""

from entrain.physics.energy import energy, energy_gradient
from entrain.physics.guide import Guide, path_coefficients
from entrain.physics.network_spec import TERMS, TRAINED, NetworkSpec, trainable_terms
from entrain.physics.noise import Noise
from entrain.physics.parameters import (
    Parameters,
    graph_of,
    layered_graph,
    local_fields,
    small_random,
)
from entrain.physics.phase_model import INITIAL_PHASE, Dynamics, PhaseModel, wrap
from entrain.physics.readout import interpolate_path, readout, readout_with_pullback
from entrain.physics.torque import drift, torque

__all__ = ["INITIAL_PHASE", "TERMS", "TRAINED", "Dynamics", "Guide", "NetworkSpec", "Noise"]
__all__ += ["Parameters", "PhaseModel", "drift", "energy", "energy_gradient", "graph_of"]
__all__ += ["interpolate_path", "layered_graph", "local_fields", "path_coefficients", "readout"]
__all__ += ["readout_with_pullback", "small_random", "torque", "trainable_terms", "wrap"]
