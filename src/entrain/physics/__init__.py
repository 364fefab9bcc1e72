"""The equations: energy and drift, the teacher path, thermal noise. Pure functions of tensors."""

from entrain.physics.dynamics import (
    INITIAL_PHASE,
    Dynamics,
    coupling_mask,
    drift,
    energy,
    local_fields,
    wrap,
)
from entrain.physics.guide import Guide, path_coefficients
from entrain.physics.noise import Noise

__all__ = [
    "INITIAL_PHASE",
    "Dynamics",
    "Guide",
    "Noise",
    "coupling_mask",
    "drift",
    "energy",
    "local_fields",
    "path_coefficients",
    "wrap",
]
