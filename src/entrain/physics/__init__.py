"""The equations as pure functions: parameters, phase model, energy, teacher path, noise."""

from entrain.physics.couplings import Couplings, SparseCouplings, SparseGraph
from entrain.physics.energy import energy, energy_gradient
from entrain.physics.guide import Guide, path_coefficients
from entrain.physics.network_spec import TRAINED, NetworkSpec, trainable_terms
from entrain.physics.noise import Noise
from entrain.physics.parameters import (
    TERMS,
    Parameters,
    check_frames,
    graph_of,
    layered_graph,
    local_fields,
    small_random,
)
from entrain.physics.phase_model import INITIAL_PHASE, Dynamics, PhaseModel, wrap
from entrain.physics.readout import interpolate_path, readout, readout_with_pullback
from entrain.physics.schedule import Ramp, Schedule, ramp
from entrain.physics.stability import stable_step, warn_if_unstable
from entrain.physics.torque import drift

__all__ = ["INITIAL_PHASE", "TERMS", "TRAINED", "Couplings", "Dynamics", "Guide", "NetworkSpec"]
__all__ += ["Noise", "Parameters", "PhaseModel", "Ramp", "Schedule", "SparseCouplings"]
__all__ += [
    "SparseGraph",
    "check_frames",
    "drift",
    "energy",
    "energy_gradient",
    "graph_of",
    "interpolate_path",
]
__all__ += ["layered_graph", "local_fields", "path_coefficients", "ramp", "readout"]
__all__ += ["readout_with_pullback", "small_random", "stable_step", "trainable_terms"]
__all__ += ["warn_if_unstable", "wrap"]
