"""Equilibrium propagation as in the committed results: a short relaxation and a strong nudge."""

from __future__ import annotations

from dataclasses import replace

from entrain.physics import Dynamics
from entrain.rules import PROTOCOLS, EquilibriumPropagation, Rule

MEASURED_EP = EquilibriumPropagation(beta=0.3, nudged_steps=15)
MEASURED_DYNAMICS = Dynamics(1.0, 15.0, 60)
_COUPLED = PROTOCOLS["COUPLED"]
assert isinstance(_COUPLED, EquilibriumPropagation)
MEASURED_RULES: dict[str, Rule] = PROTOCOLS | {
    "EP": MEASURED_EP,
    "COUPLED": replace(_COUPLED, nudged_steps=15),
}
